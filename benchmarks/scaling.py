"""How a training step's time grows with the number of edges, at a fixed number of neighbours."""

from time import perf_counter, process_time

import numpy as np
import torch
from jaxtyping import Float, Int

from benchmarks import Figure, Measurements
from benchmarks.training_step import CONDITION, Training, fresh_model
from pgode.data.trajectories import Edges, Trajectories
from pgode.training.memory import keep_freed_memory

NEIGHBOURS, FITTED = 10, 1000
"""Mean number of neighbours, and the least number of objects in the fit of the exponent: below it,
fixed costs dominate a step, and the exponent would be too low."""


def neighbours_within(
    places: Float[np.ndarray, "object 2"], radius: float
) -> tuple[Int[np.ndarray, " edge"], Int[np.ndarray, " edge"]]:
    """Receivers and senders of all pairs closer than `radius`, sorted.

    The square is periodic: with borders, a larger system would have more neighbours.
    """
    receivers, senders = [], []
    for first in range(0, len(places), 500):
        apart = np.abs(places[first : first + 500, None] - places[None])
        squared = np.square(np.minimum(apart, 1 - apart)).sum(-1)
        receiver, sender = np.nonzero(squared < radius**2)
        receivers.append(receiver + first)
        senders.append(sender)
    receiver, sender = np.concatenate(receivers), np.concatenate(senders)
    other = receiver != sender
    return receiver[other].astype(np.int32), sender[other].astype(np.int32)


def drifting(objects: int, frames: int) -> Trajectories:
    """One system of objects that drift on a square, joined to their neighbours at the start."""
    random = np.random.default_rng(objects)
    places, velocities = random.random((objects, 2)), 0.1 * random.standard_normal((objects, 2))
    times = 0.1 * np.arange(frames)
    moved = places[:, None] + velocities[:, None] * times[:, None]
    states = np.concatenate([moved, np.broadcast_to(velocities[:, None], moved.shape)], axis=-1)
    receiver, sender = neighbours_within(places, (NEIGHBOURS / (np.pi * objects)) ** 0.5)
    edges = Edges(
        graph_system=np.zeros(1, np.int32),
        graph_start=np.zeros(1),
        edge_graph=np.zeros_like(receiver),
        edge_receiver=receiver,
        edge_sender=sender,
        edge_attributes=np.ones((len(receiver), 1)),
    )
    return Trajectories.build(states[None], times, edges=edges, features=("qx", "qy", "vx", "vy"))


def run(
    sizes: tuple[int, ...] = (10, 100, 1000, 2000, 5000),
    horizon: int = 4,
    width: int = 64,
    threads: int = 1,
    repeats: int = 7,
) -> Measurements:
    """Time one step at each size, in turn, on one thread.

    A second thread is used only for enough work, which would bend the curve downwards.
    The exponent is that of processor time, the best of all repeats: on one thread it is the time
    of the step alone, while wall time includes interruptions by other processes, more often in long
    steps. `exponent_by_the_clock` is for comparison; on an idle machine both agree.
    """
    torch.set_num_threads(threads)
    keep_freed_memory()
    config = {"width": width}
    cases = {n: drifting(n, CONDITION + horizon) for n in sizes}
    steps = {n: Training(fresh_model(data, config), data) for n, data in cases.items()}
    wall: dict[int, float] = dict.fromkeys(sizes, np.inf)
    cpu: dict[int, float] = dict.fromkeys(sizes, np.inf)
    for repeat in range(repeats + 1):
        for n, training in steps.items():
            clock, processor = perf_counter(), process_time()
            training.step(1, horizon)
            if repeat:
                wall[n] = min(wall[n], perf_counter() - clock)
                cpu[n] = min(cpu[n], process_time() - processor)

    edges = {n: len(data.edges.edge_sender) for n, data in cases.items()}
    large = [n for n in sizes if n >= FITTED] or list(sizes)
    return {
        "benchmark": "scaling",
        "width": width,
        "horizon": horizon,
        "exponent": _exponent(edges, cpu, large),
        "exponent_by_the_clock": _exponent(edges, wall, large),
        "exponent_of_all_sizes": _exponent(edges, cpu, list(sizes)),
        "sizes": [
            {
                "objects": n,
                "edges": edges[n],
                "ms_per_step": round(1e3 * cpu[n], 2),
                "us_per_edge": round(1e6 * cpu[n] / edges[n], 2),
            }
            for n in sizes
        ],
    }


def _exponent(edges: dict[int, int], seconds: dict[int, float], sizes: list[int]) -> float:
    counts, times = np.array([(edges[n], seconds[n]) for n in sizes]).T
    return round(float(np.polyfit(np.log(counts), np.log(times), 1)[0]), 3)


def figures(measured: Measurements) -> list[Figure]:
    """The exponent over the larger sizes."""
    return [Figure("cost of a step grows with edges to the power", measured["exponent"], 1.1)]
