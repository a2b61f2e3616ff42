"""Estimates of memory against what is taken: `python -m benchmarks.memory_needs`.

Commands refuse what clearly does not fit (`pgode.runtime.memory`). Each case here runs in a fresh
process; the growth of its peak, over that of a tiny case of the same kind, is compared with the
estimate that the command would have made. Steps of one system of 166 and 223 objects are those of
the proteins 5AWL and 2N5C, for the models that the paper could not train on them: its batches of 64
take 64 times as much.
"""

import json
import resource
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks import Measurements, measured_alone
from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.simulate import simulate, simulation
from pgode.models import build_model, model_config
from pgode.runs import forecasts
from pgode.runs.run import Run
from pgode.runs.training import train
from pgode.training.config import run_config
from pgode.training.needs.estimate import step_memory

CASES: list[dict[str, Any]] = [
    {"kind": "simulate", "name": "springs", "objects": 10, "frames": 96, "systems": 5000},
    {"kind": "simulate", "name": "springs", "objects": 150, "frames": 4, "systems": 300},
    {"kind": "simulate", "name": "gravity", "objects": 100, "frames": 4, "systems": 300},
    {"kind": "step", "name": "pgode", "preset": "messages", "objects": 10, "batch": 64},
    {"kind": "step", "name": "pgode", "preset": "paper", "objects": 10, "batch": 64},
    {"kind": "step", "name": "pgode", "preset": "messages", "objects": 30, "batch": 8},
    {"kind": "step", "name": "gru", "objects": 10, "batch": 64},
    {"kind": "step", "name": "nri", "objects": 10, "batch": 64, "horizon": 12},
    {"kind": "step", "name": "lg-ode", "objects": 10, "batch": 64},
    {"kind": "step", "name": "egnn", "objects": 10, "batch": 64},
    *(
        {"kind": "step", "name": name, "objects": atoms, "batch": 1}
        for atoms in (166, 223)
        for name in ("nri", "agentformer", "i-gpode")
    ),
    {"kind": "forecast", "systems": 400, "samples": 100, "until": 100},
    {"kind": "forecast", "systems": 4, "samples": 20, "until": 10000},
]


def resident() -> float:
    """Bytes of memory that this process has now."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024.0 * int(next(line.split()[1] for line in lines if line.startswith("VmRSS:")))


def peak() -> float:
    """Most bytes that it ever had."""
    return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measure_simulate(name: str, objects: int, frames: int, systems: int) -> tuple[float, float]:
    """(estimate, measured) of a simulation."""
    kind = simulation.SYSTEMS[name]
    simulate(name, objects=2, frames=2, train=1, val=0, test=0, ood=0)
    before = resident()
    simulate(name, objects=objects, frames=frames, train=systems, val=0, test=0, ood=0)
    values = simulation.PER_VALUE * frames * 2 * len(kind.axes)
    return 8.0 * systems * objects * (values + simulation.PER_PAIR * objects), peak() - before


def measure_step(
    name: str, objects: int, batch: int, horizon: int = 24, preset: str = "default"
) -> tuple[float, float]:
    """(estimate, measured) of a training step."""
    data = simulate(
        "springs", objects=objects, frames=12 + horizon, train=batch, val=0, test=0, ood=0
    )
    changes = {"training.batch": batch, "window.horizon": horizon}
    config, scales = run_config(name, preset, changes=changes), Normaliser.fit(data)
    model = build_model(name, model_config(name, config.model), scales)
    windows = Windows(data, scales, 12, horizon)
    estimate = step_memory(model, windows, config)
    optimiser = torch.optim.AdamW(model.parameters(), 1e-4)
    before = resident()
    chosen = windows.batch(np.arange(batch), np.zeros(batch, np.int64))
    torch.autograd.backward(model.loss(chosen).total)
    optimiser.step()
    return estimate, peak() - before


def measure_forecast(systems: int, samples: int, until: int) -> tuple[float, float]:
    """(estimate, measured) of a forecast."""
    data = simulate("springs", objects=5, frames=12, train=8, val=2, test=systems, ood=0)
    small = {"model.width": 16, "training.epochs": 1, "window.condition": 6, "window.horizon": 4}
    with tempfile.TemporaryDirectory() as folder:
        run = train(data, Path(folder) / "run", run_config(preset="messages", changes=small))
        run.forecast(data.split_of("val"), until=3, samples=2)
        before = resident()
        Run.open(run.folder).forecast(data.split_of("test"), until=until, samples=samples)
    return forecasts.HELD * (samples + 6) * systems * 5 * until * 4, peak() - before


def measure(kind: str, **case: Any) -> Measurements:
    """One case, in this process."""
    torch.set_num_threads(1)
    works: dict[str, Callable[..., tuple[float, float]]] = {
        "simulate": measure_simulate,
        "step": measure_step,
        "forecast": measure_forecast,
    }
    estimate, measured = works[kind](**case)
    return {"estimate": estimate, "measured": measured}


def main() -> None:
    """Measure all cases and print a row for each."""
    if len(sys.argv) > 1:
        print(json.dumps(measure(**json.loads(sys.argv[1]))))
        return
    print("| case | estimate, MB | measured, MB | ratio |\n|---|---|---|---|")
    for case in CASES:
        found = measured_alone("benchmarks.memory_needs", case)
        words = ", ".join(f"{key} {value}" for key, value in case.items() if key != "kind")
        estimate, measured = found["estimate"] / 1e6, found["measured"] / 1e6
        print(
            f"| {case['kind']}: {words} | {estimate:.0f} | {measured:.0f} | "
            f"{estimate / measured:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
