"""Latency of one forecast: ten objects, 36 frames, from numpy arrays to numpy arrays, one thread.

`python -m benchmarks.serving` prints milliseconds of `run.forecast`, of a forecaster that is warm,
and of the model alone. Two ways are timed by turns, so that a busy machine slows both. CPU time is
that of the thread; it hardly depends on what else runs.
"""

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import torch

from benchmarks import Figure, Measurements
from pgode.batches.windows import Windows
from pgode.data.simulate import simulate
from pgode.runs import api
from pgode.runs.run import Run

FRAMES, ROUNDS = 36, 40


def run(rounds: int = ROUNDS) -> Measurements:
    """Milliseconds for the message model (fresh weights cost as much as trained) and for laws."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with tempfile.TemporaryDirectory() as folder:
            data = simulate("springs", frames=60, train=4, val=2, test=1, ood=0)
            settings = {"training.epochs": 1, "window.horizon": FRAMES, "training.curriculum": []}
            messages = api.train(data, Path(folder) / "run", preset="messages", settings=settings)
            return {
                "messages": measured(messages, rounds),
                "laws": measured(Run.open("springs-10"), rounds),
            }
    finally:
        torch.set_num_threads(threads)


def measured(run: Run, rounds: int) -> Measurements:
    """Medians over many forecasts of one system, the ways by turns."""
    data = simulate("springs", frames=12, train=0, val=0, test=1, ood=0)
    edges = np.zeros((data.objects, data.objects))
    edges[data.edges.edge_receiver, data.edges.edge_sender] = 1.0
    states, ready = data.states[0], run.forecaster()
    given = {"states": states, "edges": edges}
    frames = np.arange(1.0, FRAMES + 1)
    batch = next(Windows(run.conform(data), run.normaliser, 12, 1).last(1, frames))
    ahead = torch.tensor(frames, dtype=torch.float32)[None]
    ways: dict[str, Callable[[], object]] = {
        "run.forecast": lambda: run.forecast(given, until=FRAMES, samples=0),
        "forecaster": lambda: ready(states, edges=edges, until=FRAMES),
        "model alone": lambda: run.model.mean_forecast(batch, ahead),
        "forecaster, 20 samples": lambda: ready.sampled(states, edges=edges, until=FRAMES),
    }
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            wall, cpu = time.perf_counter(), time.thread_time()
            with torch.inference_mode():
                way()
            taken[name].append((time.perf_counter() - wall, time.thread_time() - cpu))
    return {
        name: {
            "ms": round(1e3 * median(wall for wall, _ in times), 2),
            "CPU ms": round(1e3 * median(cpu for _, cpu in times), 2),
        }
        for name, times in taken.items()
    }


def figures(measured: Measurements) -> list[Figure]:
    """What one forecast of the message model may take, and what is gained over `run.forecast`."""
    messages, laws = (measured[name] for name in ("messages", "laws"))

    def gained(times: Measurements) -> float:
        return float(times["run.forecast"]["CPU ms"] / times["forecaster"]["CPU ms"])

    own = messages["forecaster"]["CPU ms"] - messages["model alone"]["CPU ms"]
    return [
        Figure("message model, one forecast", messages["forecaster"]["ms"], 30.0, "ms"),
        Figure("beside the message model itself, CPU", own, 2.0, "ms"),
        Figure("laws, run.forecast / forecaster", gained(laws), 1.2, "x", at_least=True),
    ]


if __name__ == "__main__":
    found = run()
    print(json.dumps(found, indent=1))
    for figure in figures(found):
        print(f"{figure.what}: {figure.measured:.3g} {figure.unit} ({figure.bound})")
