"""How time and memory of a training step and of a forecast grow with the number of edges.

Objects lie at random on a square, with ten neighbours each on average. Every size runs in a
separate process, whose peak memory is then that of this size.
"""

import argparse
import json
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int

from benchmarks import Figure, Measurements, measured_alone
from benchmarks.memory import peak_bytes
from benchmarks.training_step import CONDITION, Training, fresh_model
from pgode.data.neighbours import pairs_within
from pgode.data.trajectories import Edges, Trajectories
from pgode.runs.forecasts import forecast_future
from pgode.runtime.allocation import freed_memory_kept

NEIGHBOURS, FITTED = 10, 1000
"""Mean number of neighbours, and the least number of objects in the fit of the exponent: below it,
fixed costs dominate a step, and the exponent would be too low."""

SIZES: tuple[int, ...] = (10, 100, 1000, 10_000, 100_000)
LARGE, AHEAD = 100_000, 12
"""Objects and frames of the case whose memory is limited."""


def neighbours_within(
    places: Float[np.ndarray, "object 2"], radius: float
) -> tuple[Int[np.ndarray, " edge"], Int[np.ndarray, " edge"]]:
    """Receivers and senders of all pairs closer than `radius`, sorted by receiver.

    The square is periodic: with borders, a larger system would have more neighbours. Objects near
    a border therefore have images beyond the other one.
    """
    points, numbers = [places], [np.arange(len(places))]
    for shift in ((x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if (x, y) != (0, 0)):
        moved = places + np.array(shift)
        near = np.flatnonzero(((moved > -radius) & (moved < 1 + radius)).all(1))
        points.append(moved[near])
        numbers.append(near)
    receiver, sender, _ = pairs_within(np.concatenate(points), radius)
    own = receiver < len(places)
    return receiver[own], np.concatenate(numbers)[sender[own]].astype(np.int32)


def drifting(objects: int, frames: int) -> Trajectories:
    """One system of objects that drift on a square, joined to their neighbours at the start."""
    random = np.random.default_rng(objects)
    places, velocities = random.random((objects, 2)), 0.1 * random.standard_normal((objects, 2))
    times = 0.1 * np.arange(frames)
    moved = places[:, None] + velocities[:, None] * times[:, None]
    states = np.concatenate([moved, np.broadcast_to(velocities[:, None], moved.shape)], axis=-1)
    # On few objects the square is too small for ten neighbours without their own images.
    radius = min(0.49, (NEIGHBOURS / (np.pi * objects)) ** 0.5)
    receiver, sender = neighbours_within(places, radius)
    edges = Edges(
        graph_system=np.zeros(1, np.int32),
        graph_start=np.zeros(1),
        edge_graph=np.zeros_like(receiver),
        edge_receiver=receiver,
        edge_sender=sender,
        edge_attributes=np.ones((len(receiver), 1)),
    )
    return Trajectories.build(states[None], times, edges=edges, features=("qx", "qy", "vx", "vy"))


@freed_memory_kept()
def measure(
    objects: int, horizon: int, width: int, parts: list[str], repeats: int, threads: int
) -> Measurements:
    """Time `parts` ("step", "forecast") in this process: the best of all repeats, and the peak.

    A forecast is that of `run.forecast`, from data to labelled arrays. Steps recompute: without
    that, a step of 100,000 objects would keep 48 stages of half a gigabyte or more.
    """
    torch.set_num_threads(threads)
    config = {"width": width, "solver": {"recompute": True}}
    small = drifting(100, CONDITION + horizon)
    data = drifting(objects, CONDITION + horizon)

    def work(given: Trajectories) -> dict[str, Callable[[], Any]]:
        model = fresh_model(given, config)
        training, frames = Training(model, given), np.arange(1.0, horizon + 1)
        return {
            "step": lambda: training.step(1, horizon),
            "forecast": lambda: forecast_future(
                *(model, given, CONDITION, frames), calibration=None, samples=0, seed=0
            ),
        }

    measured: Measurements = {"objects": objects, "edges": len(data.edges.edge_sender)}
    first, jobs = work(small), work(data)
    for part in parts:
        first[part]()  # Compiles.
        wall, cpu = np.inf, np.inf
        for _ in range(repeats):
            clock, processor = perf_counter(), process_time()
            jobs[part]()
            wall, cpu = (
                min(wall, perf_counter() - clock),
                min(cpu, process_time() - processor),
            )
        measured[f"{part}_seconds"] = round(cpu, 4)
        measured[f"{part}_seconds_by_the_clock"] = round(wall, 4)
    return {**measured, "gigabytes": round(peak_bytes() / 1e9, 2)}


def run(
    sizes: tuple[int, ...] = SIZES,
    horizon: int = 4,
    width: int = 64,
    threads: int = 1,
    large: int = LARGE,
) -> Measurements:
    """Every size on one thread, and the memory of the large case at full width.

    A second thread is used only for enough work, which would bend the curve downwards.
    The exponents are those of processor time, the best of all repeats: on one thread it is the time
    of the work alone, while wall time includes interruptions by other processes, more often in long
    steps. Those `by_the_clock` are for comparison; on an idle machine both agree.
    """

    def alone(objects: int, parts: list[str], **changes: Any) -> Measurements:
        settings = {"objects": objects, "horizon": horizon, "width": width, "threads": threads}
        repeats = 7 if objects <= 1000 else 3
        given = {**settings, "parts": parts, "repeats": repeats, **changes}
        measured: Measurements = measured_alone("benchmarks.scaling", given)
        return measured

    cases = [alone(n, ["step", "forecast"]) for n in sizes]
    fitted = [case for case in cases if case["objects"] >= FITTED]
    fitted = fitted if len(fitted) > 1 else cases  # A line needs two points.
    exponents = {
        f"{part}_exponent{clock}": _exponent(fitted, f"{part}_seconds{clock}")
        for part in ("step", "forecast")
        for clock in ("", "_by_the_clock")
    }
    full = {"horizon": AHEAD, "width": 128, "repeats": 1}
    return {
        "benchmark": "scaling",
        "width": width,
        "horizon": horizon,
        **exponents,
        "sizes": cases,
        "large": {part: alone(large, [part], **full) for part in ("step", "forecast")},
    }


def _exponent(cases: list[Measurements], seconds: str) -> float:
    counts, times = np.array([(case["edges"], case[seconds]) for case in cases]).T
    return round(float(np.polyfit(np.log(counts), np.log(times), 1)[0]), 3)


def figures(measured: Measurements) -> list[Figure]:
    """The exponents over the larger sizes, and the memory of the large case."""
    large = measured["large"]
    count = f"{large['step']['objects']:,} objects, {AHEAD} frames"
    return [
        Figure("cost of a step grows with edges to the power", measured["step_exponent"], 1.1),
        Figure(
            "cost of a forecast grows with edges to the power", measured["forecast_exponent"], 1.1
        ),
        Figure(f"training step of {count}, memory", large["step"]["gigabytes"], 20.0, "GB"),
        Figure(f"forecast of {count}, memory", large["forecast"]["gigabytes"], 20.0, "GB"),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("settings", help="arguments of `measure` as JSON")
    print(json.dumps(measure(**json.loads(parser.parse_args().settings))))
