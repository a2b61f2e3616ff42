"""Importing a table of ten million rows: seconds and peak memory of `pgode import table`.

`python -m benchmarks.tables` makes the table in a temporary folder and prints both.
"""

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks import ROOT, Figure, Measurements

SYSTEMS, OBJECTS, FRAMES = 200, 50, 1000
COMMAND = "--system match --object player --time t --features x,y --edges knn:8 --edges-every 100"
VELOCITIES = "--velocities"


def write_table(path: Path, systems: int, objects: int, frames: int) -> int:
    """Random walkers, one row per walker and time, a system at a time; the number of rows."""
    random = np.random.default_rng(0)
    clock = np.char.mod("%.2f", 0.04 * np.arange(frames))
    with path.open("w", encoding="utf-8") as file:
        file.write("match,player,t,x,y\n")
        for system in range(systems):
            walk = np.cumsum(random.normal(0, 0.05, (frames, objects, 2)), axis=0)
            walk += random.uniform(0, 50, (1, objects, 2))
            for frame in range(frames):
                x, y = walk[frame].T
                rows = zip(x.tolist(), y.tolist(), strict=True)
                file.writelines(
                    f"match {system},player {k},{clock[frame]},{a:.3f},{b:.3f}\n"
                    for k, (a, b) in enumerate(rows)
                )
    return systems * objects * frames


def run(systems: int = SYSTEMS, objects: int = OBJECTS, frames: int = FRAMES) -> Measurements:
    """Import the table in a process of its own, with and without derived velocities."""
    measured: Measurements = {"benchmark": "tables"}
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "walkers.csv"
        measured["rows"] = write_table(table, systems, objects, frames)
        measured["megabytes"] = round(table.stat().st_size / 2**20)
        for name, more in (("plain", ""), ("velocities", VELOCITIES)):
            words = f"{COMMAND} {more}".split()
            command = [sys.executable, "-m", "pgode.cli", "import", "table", str(table)]
            begun, before = perf_counter(), _processor_seconds()
            subprocess.run(
                [*command, "-o", f"{folder}/{name}.nc", *words],
                cwd=ROOT,
                check=True,
                capture_output=True,
            )
            measured[f"{name}_seconds"] = round(perf_counter() - begun, 1)
            measured[f"{name}_processor_seconds"] = round(_processor_seconds() - before, 1)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    return {**measured, "peak_gigabytes": round(peak, 2)}


def _processor_seconds() -> float:
    """Of finished children: wall time says little while others use the machine."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def figures(measured: Measurements) -> list[Figure]:
    """Time and memory of ten million rows."""
    return [
        Figure("import of 10 million rows", measured["plain_seconds"], 60, "s"),
        Figure("the same with velocities", measured["velocities_seconds"], 60, "s"),
        Figure("peak memory", measured["peak_gigabytes"], 4, "GB"),
    ]


if __name__ == "__main__":
    print(json.dumps(run()))
