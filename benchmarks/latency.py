"""Latency: one forecast of 36 frames of one system of ten objects, on one thread.

With ten objects, what surrounds the matrix products takes as long as they do. The products of one
forecast, run alone in the same process, are therefore listed beside it.
"""

from collections.abc import Callable
from time import perf_counter, thread_time
from typing import Any

import numpy as np
import torch

from benchmarks import Figure, Measurements
from benchmarks.products import Recorder, Replay
from benchmarks.training_step import CONDITION, HORIZON, fresh_model, training_systems
from pgode.batches.windows import Windows
from pgode.training.presets import PAPER

CASES: dict[str, dict[str, Any]] = {"messages": {}, "paper": dict(PAPER["model"])}
"""Presets of the message model."""


def run(horizon: int = HORIZON, repeats: int = 100) -> Measurements:
    """`model.forecast` of a batch that is ready, after a first one that compiles.

    The best of all repeats: a forecast takes a few time slices of the machine, and on a busy one
    most repeats are interrupted. Processor time is listed too.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return {
            "benchmark": "latency",
            "horizon": horizon,
            **{name: _measured(model, horizon, repeats) for name, model in CASES.items()},
        }
    finally:
        torch.set_num_threads(before)


def _measured(settings: dict[str, Any], horizon: int, repeats: int) -> Measurements:
    data = training_systems("springs", 4, horizon)
    model = fresh_model(data, settings).eval()
    windows = Windows(data, model.normaliser, CONDITION, horizon)
    batch = windows.batch(np.zeros(1, np.int64), np.zeros(1, np.int64))

    def forecast() -> None:
        model.forecast(batch, batch.target_times)

    with torch.no_grad():
        with Recorder() as recorder:
            forecast()
        replay = Replay(recorder.products)
        best: dict[str, list[float]] = {"forecast": [np.inf] * 2, "products": [np.inf] * 2}
        for _ in range(repeats):
            for name, work in (("forecast", forecast), ("products", replay.run)):
                best[name] = [min(pair) for pair in zip(best[name], _seconds(work), strict=True)]
    return {
        **{f"{name}_ms": round(1e3 * wall, 2) for name, (wall, _) in best.items()},
        **{f"{name}_cpu_ms": round(1e3 * cpu, 2) for name, (_, cpu) in best.items()},
        "forecast_over_products": round(best["forecast"][1] / best["products"][1], 2),
    }


def _seconds(work: Callable[[], None]) -> tuple[float, float]:
    wall, cpu = perf_counter(), thread_time()
    work()
    return perf_counter() - wall, thread_time() - cpu


def figures(measured: Measurements) -> list[Figure]:
    """The time of one forecast by each preset."""
    return [
        Figure(
            f"{name}: forecast of {measured['horizon']} frames of 10 objects, one thread",
            measured[name]["forecast_ms"],
            30.0,
            "ms",
        )
        for name in CASES
    ]
