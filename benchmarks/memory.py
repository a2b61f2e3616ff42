"""Peak memory of a training process at paper size, by default and with `solver.recompute`.

Each case runs in a fresh process and is read from the kernel's high-water mark, which includes
interpreter, libraries, data and optimiser.
"""

import argparse
import json
import resource
import sys
from pathlib import Path

import torch

from benchmarks import Figure, Measurements, measured_alone
from benchmarks.training_step import BATCH, EPOCH, HORIZON, Training, fresh_model, training_systems
from pgode.runtime.allocation import freed_memory_kept


def peak_bytes() -> int:
    """Peak memory of this process.

    Linux keeps `ru_maxrss` across exec, so a child of a large process starts with its parent's;
    VmHWM is the same mark without the inheritance.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


@freed_memory_kept()
def measure(recompute: bool, systems: int, horizon: int, threads: int, steps: int) -> Measurements:
    """Train for a few steps in this process: freed memory must be reused by the second."""
    torch.set_num_threads(threads)
    imported = peak_bytes()
    data = training_systems("springs", max(EPOCH, systems), horizon)
    model = fresh_model(data, {"solver": {"recompute": recompute}})
    training = Training(model, data)
    prepared = peak_bytes()
    for _ in range(steps):
        training.step(systems, horizon)
    return {"imported": imported, "prepared": prepared, "peak": peak_bytes()}


def run(
    systems: int = BATCH, horizon: int = HORIZON, threads: int = 2, steps: int = 2
) -> Measurements:
    """Both cases, in GB."""
    result: Measurements = {"benchmark": "memory", "systems": systems, "horizon": horizon}
    for name, recompute in (("default", False), ("recompute", True)):
        settings = {
            "recompute": recompute,
            "systems": systems,
            "horizon": horizon,
            "threads": threads,
            "steps": steps,
        }
        sizes = measured_alone("benchmarks.memory", settings)
        result[name] = {key: round(value / 1e9, 3) for key, value in sizes.items()}
    return result


def figures(measured: Measurements) -> list[Figure]:
    """Peaks of both cases."""
    return [
        Figure("peak memory of training", measured["default"]["peak"], 6.0, "GB"),
        Figure("peak memory of training, recomputing", measured["recompute"]["peak"], 1.5, "GB"),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("settings", help="arguments of `measure` as JSON")
    print(json.dumps(measure(**json.loads(parser.parse_args().settings))))
