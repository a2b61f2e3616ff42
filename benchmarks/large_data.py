"""`python -m benchmarks.large_data`: train on a file that is larger than memory.

Writes a file of synthetic oscillators (20 GB unless told otherwise), trains an epoch on it with the
`pgode` command under a limit that the kernel enforces (`ulimit -d`: no allocation beyond it
succeeds), scores and forecasts, and reports peak memory and time per step. The same training on a
small file, held in memory and read window by window, says what reading costs. Deletes the files.
"""

import argparse
import json
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks import ROOT, Figure, Measurements
from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data import files
from pgode.data.files.parts import write_parts
from pgode.data.trajectories import Edges, Trajectories

OBJECTS, FRAMES, FEATURES = 10, 2000, 4
SYSTEM = OBJECTS * FRAMES * FEATURES * 8
TOGETHER = 100
"""Systems that are made and written at a time."""
BATCH = 256
HELD_OUT = 128
SMALL = 1e9
"""Bytes of the file that also fits into memory."""
COMMANDS = ("info", "evaluate", "forecast")
SETTINGS = (
    *("--preset", "messages", "--epochs", "1", "--threads", "1"),
    *("--set", "model.width=16", "--set", f"training.batch={BATCH}"),
    *("--set", "window.condition=12", "--set", "window.horizon=12"),
    *("--set", "window.starts=random"),
)


def oscillators(systems: int, seed: int = 0) -> Iterator[Trajectories]:
    """Objects on ellipses, each with its own frequency and phase; all pairs are joined."""
    receiver, sender = np.nonzero(~np.eye(OBJECTS, dtype=bool))
    times = np.arange(FRAMES) * 0.1
    for first in range(0, systems, TOGETHER):
        count = min(TOGETHER, systems - first)
        rng = np.random.default_rng((seed, first))
        rate = rng.uniform(0.2, 0.6, (count, OBJECTS, 1))
        angle = rate * times + rng.uniform(0, 2 * np.pi, (count, OBJECTS, 1))
        wide, high = rng.uniform(0.5, 2.0, (2, count, OBJECTS, 1))
        x, y = wide * np.cos(angle), high * np.sin(angle)
        speed = (-wide * rate * np.sin(angle), high * rate * np.cos(angle))
        number = np.arange(count)
        edges = Edges(
            number,
            np.zeros(count),
            np.repeat(number, len(receiver)),
            np.tile(receiver, count),
            np.tile(sender, count),
            np.ones((count * len(receiver), 1)),
        )
        place = first + number
        split = np.where(place < systems - HELD_OUT, "train", "test")
        split[(place >= systems - 2 * HELD_OUT) & (place < systems - HELD_OUT)] = "val"
        yield Trajectories.build(
            np.stack([x, y, *speed], axis=-1),
            times,
            edges=edges,
            features=("x", "y", "vx", "vy"),
            roles=("position", "position", "velocity", "velocity"),
            split=split,
        )


def limited(words: list[str], memory: float | None, share: str = "") -> Measurements:
    """Run a `pgode` command with at most so much memory; seconds, and its peak in GB."""
    environment = {**os.environ, **({"PGODE_MEMORY_SHARE": share} if share else {})}

    def limit() -> None:
        if memory is not None:
            size = int(memory)
            resource.setrlimit(resource.RLIMIT_DATA, (size, size))

    began = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(
            [sys.executable, "-m", "pgode.cli", *words],
            cwd=ROOT,
            env=environment,
            stdout=said,
            stderr=said,
            preexec_fn=limit,
        )
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            said.seek(0)
            raise RuntimeError(f"pgode {' '.join(words)} failed:\n{said.read().decode()}")
    seconds = time.perf_counter() - began
    return {"seconds": round(seconds, 1), "peak_gb": round(used.ru_maxrss * 1024 / 1e9, 3)}


def trained(file: Path, run: Path, systems: int, memory: float | None, share: str) -> Measurements:
    """An epoch, with the seconds of a step; validation of a few systems is included."""
    measured = limited(["train", str(file), "-o", str(run), *SETTINGS], memory, share)
    row = json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])
    steps = math.ceil((systems - 2 * HELD_OUT) / BATCH)
    per_step = row["seconds"] / steps
    return {**measured, "steps": steps, "seconds_per_step": round(per_step, 3)}


def reading(folder: Path, systems: int = 200, batches: int = 4) -> Measurements:
    """CPU seconds of a batch of random windows: in memory, and from files of each kind."""
    result: Measurements = {}
    for name, compress in (("plain.nc", False), ("compressed.nc", True), ("compressed.zarr", True)):
        write_parts(oscillators(systems), folder / name, compress=compress)
        for how, share in (("in memory", "1"), (name, "0")):
            os.environ["PGODE_MEMORY_SHARE"] = share
            data = files.read(folder / name)
            windows = Windows(data, Normaliser.fit(data), 12, 12)
            rng, seconds = np.random.default_rng(0), []
            for _ in range(batches + 1):
                rows, starts = rng.integers(0, systems, BATCH), rng.integers(0, FRAMES - 24, BATCH)
                began = time.process_time()
                windows.batch(rows, starts)
                seconds.append(time.process_time() - began)
            result[how] = round(float(np.median(seconds[1:])), 4)
    del os.environ["PGODE_MEMORY_SHARE"]
    return result


def run(
    gigabytes: float = 20.0,
    memory: float = 4.0,
    folder: Path | None = None,
    commands: Sequence[str] = COMMANDS,
) -> Measurements:
    """Training and the other commands, in a temporary folder that is removed."""
    systems = int(gigabytes * 1e9 / SYSTEM)
    free = shutil.disk_usage(folder or tempfile.gettempdir()).free
    if free < 1.3 * (gigabytes * 1e9 + SMALL):
        raise SystemExit(f"{gigabytes:g} GB do not fit on the disk, which has {free / 1e9:.0f} GB")
    result: Measurements = {"benchmark": "large_data", "systems": systems, "limit_gb": memory}
    with tempfile.TemporaryDirectory(dir=folder) as name:
        place = Path(name)
        large, run_folder, limit = place / "large.nc", place / "run", memory * 1e9
        words = {
            "info": ["info", str(large)],
            "evaluate": ["evaluate", str(run_folder)],
            "forecast": ["forecast", str(run_folder), str(large), "--split", "test"],
        }
        words["forecast"] += ["-o", str(place / "forecast.nc")]
        began = time.perf_counter()
        write_parts(oscillators(systems), large, compress=False)
        result["written_seconds"] = round(time.perf_counter() - began, 1)
        result["file_gb"] = round(large.stat().st_size / 1e9, 2)
        print(json.dumps(result), file=sys.stderr)
        result["train"] = trained(large, run_folder, systems, limit, "")
        for name in commands:
            print(json.dumps(result), file=sys.stderr)
            result[name] = limited(words[name], limit)
        large.unlink()
        few, small = int(SMALL / SYSTEM), place / "small.nc"
        write_parts(oscillators(few), small, compress=False)
        result["batch_cpu_seconds"] = reading(place)
        result["in memory, small"] = trained(small, place / "held", few, None, "1")
        result["window by window, small"] = trained(small, place / "stored", few, None, "0")
    return result


def figures(measured: Measurements) -> list[Figure]:
    """Peaks of every command, and what reading window by window costs."""
    held, stored = (
        measured[f"{how}, small"]["seconds_per_step"] for how in ("in memory", "window by window")
    )
    peak = max(measured[name]["peak_gb"] for name in ("train", *COMMANDS) if name in measured)
    size = f"{measured['file_gb']:g} GB"
    return [
        Figure(f"peak memory of all commands on {size}", peak, measured["limit_gb"], "GB"),
        Figure("step, window by window / in memory", stored / held, 1.5, "x"),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=20.0, help="size of the file")
    parser.add_argument("--memory", type=float, default=4.0, help="limit in GB")
    parser.add_argument("--folder", type=Path, default=None, help="where files are written")
    parser.add_argument("--commands", default=",".join(COMMANDS), help="what follows training")
    given = parser.parse_args()
    chosen = [name for name in given.commands.split(",") if name]
    found = run(given.gigabytes, given.memory, given.folder, chosen)
    print(json.dumps(found, indent=2))
    for figure in figures(found):
        print(f"{figure.what}: {figure.measured:.3g} {figure.unit} ({figure.bound})")
