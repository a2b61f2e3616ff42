"""Epochs at paper size by one process, by two threads and by two processes, idle and busy.

Real trainings (`pgode train`) of the same run, in turn; the time of an epoch is that of the log.
The busy machine has another process that never rests, on one of the two cores. Beside them are the
matrix products of an epoch alone, as two processes of one thread compute them at the same time.

The figures are of the default, which is two processes here.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

from benchmarks import ROOT, Figure, Measurements
from benchmarks.training_speed import Contender
from benchmarks.training_step import BATCH, CONDITION, EPOCH, HORIZON
from pgode.data import files
from pgode.data.simulate import simulate
from pgode.training.metrics import read_metrics

EPOCHS = 2
"""The first compiles kernels, the second counts."""

ARMS: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "one thread": (("--processes", "1", "--threads", "1"), {}),
    "two threads": (("--processes", "1", "--threads", "2"), {}),
    "two threads that spin": (
        ("--processes", "1", "--threads", "2"),
        {"OMP_WAIT_POLICY": "ACTIVE"},
    ),
    "two processes": (("--processes", "2"), {}),
}
"""Options and environment of each way to train."""


def run(systems: int = EPOCH, horizon: int = HORIZON, repeats: int = 2) -> Measurements:
    """Train in every way in turn, `repeats` times; the fastest epoch of each counts."""
    times: dict[str, dict[str, list[float]]] = {"idle": {}, "busy": {}}
    with tempfile.TemporaryDirectory() as name:
        data = Path(name) / "data.nc"
        counts = {"train": systems, "val": 8, "test": 0, "ood": 0}
        files.write(simulate("springs", frames=CONDITION + horizon, **counts), data)
        for turn in range(repeats):
            for state, spinning in (("idle", False), ("busy", True)):
                for arm in ARMS:
                    if arm == "two threads that spin" and (turn or spinning):
                        continue  # On a busy machine they take half an hour.
                    with spinner() if spinning else idle():
                        seconds = epoch(data, Path(name) / f"{arm}-{state}-{turn}", arm, horizon)
                    times[state].setdefault(arm, []).append(seconds)
        products = [_products(systems, horizon) for _ in range(repeats)]
    best = {state: {arm: min(each) for arm, each in arms.items()} for state, arms in times.items()}
    return {
        "benchmark": "processes",
        "systems": systems,
        "horizon": horizon,
        "seconds": {
            state: {arm: round(each, 2) for arm, each in arms.items()}
            for state, arms in best.items()
        },
        "products_seconds": round(min(products), 2),
        "speedup": round(best["idle"]["two threads"] / best["idle"]["two processes"], 2),
        "of_products": round(best["idle"]["two processes"] / min(products), 2),
        "busy": round(best["busy"]["two processes"] / best["idle"]["two processes"], 2),
        "busy_threads": round(best["busy"]["two threads"] / best["idle"]["two threads"], 2),
    }


def figures(measured: Measurements) -> list[Figure]:
    """What the default has to keep to."""
    return [
        Figure("two threads / two processes", measured["speedup"], 1.25, "x", at_least=True),
        Figure("two processes / products alone", measured["of_products"], 1.5, "x"),
        Figure("two processes, busy / idle", measured["busy"], 2.5, "x"),
    ]


def epoch(data: Path, folder: Path, arm: str, horizon: int) -> float:
    """Seconds of an epoch after the first, validation of a few systems included."""
    options, environment = ARMS[arm]
    settings = {
        "window.horizon": horizon,
        "training.epochs": EPOCHS,
        "training.batch": BATCH,
        "training.curriculum": "[]",
        "model.width": 128,
        "model.dynamics.prototypes": 5,
    }
    changes = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    command = ["train", str(data), "-o", str(folder), "--preset", "messages", *options, *changes]
    clean = {k: v for k, v in os.environ.items() if k not in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
    subprocess.run(
        [sys.executable, "-m", "pgode", *command],
        cwd=ROOT,
        env={**clean, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    first, *_, last = (row["seconds"] for row in read_metrics(folder))
    return (last - first) / (EPOCHS - 1)


@contextmanager
def idle() -> Iterator[None]:
    """Nothing else that we start."""
    yield


@contextmanager
def spinner() -> Iterator[None]:
    """A process that never rests, on the first core that we may use."""
    core = min(os.sched_getaffinity(0))
    code = f"import os; os.sched_setaffinity(0, [{core}])\nwhile True: pass"
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def _products(systems: int, horizon: int) -> float:
    """Seconds of the matrix products of an epoch on two cores: half of each batch on each."""
    half = min(BATCH, systems) // 2
    initial = (False, "springs", half, horizon, 1)
    pools = [
        ProcessPoolExecutor(
            1, mp_context=get_context("spawn"), initializer=Contender.prepare, initargs=initial
        )
        for _ in range(2)
    ]
    try:
        for pool in pools:
            pool.submit(Contender.record, half, horizon).result()
        best = float("inf")
        for _ in range(3):
            began = perf_counter()
            for future in [pool.submit(Contender.products) for pool in pools]:
                future.result()
            best = min(best, perf_counter() - began)
    finally:
        for pool in pools:
            pool.shutdown()
    return best * systems / (2 * half)


if __name__ == "__main__":
    print(run(int(sys.argv[1]) if len(sys.argv) > 1 else EPOCH, repeats=1))
