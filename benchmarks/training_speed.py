"""One training step at paper size against its own matrix products and against a plain version.

Three times are taken in turn, in one run: a step of `PGODE`; the same step's matrix products alone;
a step of `Straightforward`. The two models run in separate processes, because `PGODE` trains with
memory settings that a plain version would not have; one waits while the other works.

The figures are of wall times. Processor times are listed too: on a shared machine they are
steadier, but with several threads they include waiting.
"""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
import torch

from benchmarks import Figure, Measurements
from benchmarks.products import Recorder, Replay
from benchmarks.straightforward import Straightforward
from benchmarks.training_step import (
    BATCH,
    CONDITION,
    EPOCH,
    HORIZON,
    Training,
    fresh_model,
    training_systems,
)
from pgode.batches.windows import Windows
from pgode.runtime.allocation import freed_memory_kept

SHORT, LONGER = 2, 6
"""Horizons from which the plain version's full step is extrapolated."""


class Seconds(NamedTuple):
    """Wall time and processor time."""

    wall: float
    cpu: float


class Contender:
    """One model in a separate process."""

    training: Training
    replay: Replay
    memory = ExitStack()
    """Open until the process ends, as in a training."""

    @classmethod
    def prepare(cls, plain: bool, kind: str, systems: int, horizon: int, threads: int) -> None:
        """Build the model in this process, and run a small step to compile kernels."""
        torch.set_num_threads(threads)
        data = training_systems(kind, systems, horizon)
        model = fresh_model(data)
        if not plain:
            cls.memory.enter_context(freed_memory_kept())
        cls.training = Training(Straightforward.like(model) if plain else model, data)
        cls.training.step(min(systems, 4), 1)

    @classmethod
    def step(cls, systems: int, horizon: int) -> Seconds:
        """One training step."""
        return _seconds(lambda: cls.training.step(systems, horizon))

    @classmethod
    def record(cls, systems: int, horizon: int) -> tuple[int, int]:
        """Record the products of one step; returns their number and their operations."""
        with Recorder() as recorder:
            cls.training.step(systems, horizon)
        cls.replay = Replay(recorder.products)
        cls.replay.run()
        return len(recorder.products), cls.replay.operations

    @classmethod
    def products(cls) -> Seconds:
        """The recorded products, alone."""
        return _seconds(cls.replay.run)


def _seconds(work: Callable[[], Any]) -> Seconds:
    wall, cpu = perf_counter(), process_time()
    work()
    return Seconds(perf_counter() - wall, process_time() - cpu)


def run(
    kind: str = "springs",
    systems: int = BATCH,
    horizon: int = HORIZON,
    threads: int = 2,
    repeats: int = 3,
    whole: bool = True,
) -> Measurements:
    """Take turns `repeats` times, and compare.

    The plain version runs the same batch at two short horizons, from which its full step is
    extrapolated, since every frame costs the same. (Fewer systems would be misleading: they fit in
    the caches, and from 64 of them the cost of 256 came out a quarter too low.) With `whole` its
    full step is also run once, replaces the estimate, and shows how good it was.
    """
    times: dict[str, list[Seconds]] = {name: [] for name in ("ours", "products", "short", "longer")}
    with ExitStack() as stack:
        ours, plain = (
            stack.enter_context(
                ProcessPoolExecutor(
                    1,
                    mp_context=get_context("spawn"),
                    initializer=Contender.prepare,
                    initargs=(plain, kind, systems, max(horizon, LONGER), threads),
                )
            )
            for plain in (False, True)
        )
        number, operations = ours.submit(Contender.record, systems, horizon).result()
        for _ in range(repeats):
            times["ours"].append(ours.submit(Contender.step, systems, horizon).result())
            times["products"].append(ours.submit(Contender.products).result())
            times["short"].append(plain.submit(Contender.step, systems, SHORT).result())
            times["longer"].append(plain.submit(Contender.step, systems, LONGER).result())
        times["whole"] = [plain.submit(Contender.step, systems, horizon).result()] if whole else []

    wall, cpu = (
        _compared(
            {name: [each[clock] for each in measured] for name, measured in times.items()},
            horizon,
        )
        for clock in (0, 1)
    )
    return {
        "benchmark": "training_speed",
        "kind": kind,
        "systems": systems,
        "horizon": horizon,
        "threads": threads,
        "products": number,
        "products_gflops": round(operations / wall["products_seconds"] / 1e9, 1),
        "epoch_seconds": round(wall["step_seconds"] * EPOCH / systems, 1),
        "straightforward_epoch_seconds": round(
            wall["straightforward_seconds"] * EPOCH / systems, 1
        ),
        "straightforward_was_run_whole": whole,
        "loss_difference": loss_difference(kind),
        **wall,
        "cpu": cpu,
    }


def _compared(times: dict[str, list[float]], horizon: int) -> Measurements:
    """Ratios and medians by one clock."""
    seconds = {name: median(runs) for name, runs in times.items() if runs}
    per_frame = (seconds["longer"] - seconds["short"]) / (LONGER - SHORT)
    estimate = seconds["short"] + (horizon - SHORT) * per_frame
    straightforward = seconds.get("whole", estimate)
    over_products = [a / b for a, b in zip(times["ours"], times["products"], strict=True)]
    return {
        "ours_over_products": round(median(over_products), 2),
        "straightforward_over_ours": round(straightforward / seconds["ours"], 2),
        "step_seconds": round(seconds["ours"], 3),
        "products_seconds": round(seconds["products"], 3),
        "straightforward_seconds": round(straightforward, 2),
        "straightforward_estimate": round(estimate, 2),
        "all_seconds": {name: [round(t, 3) for t in runs] for name, runs in times.items()},
    }


def loss_difference(kind: str, systems: int = 8, horizon: int = 4) -> float:
    """Relative difference of the two models' losses, with the same weights and draws."""
    data = training_systems(kind, systems, horizon)
    model = fresh_model(data)
    windows = Windows(data, model.normaliser, CONDITION, horizon)
    batch = windows.batch(np.arange(systems), np.zeros(systems, np.int64))
    losses = []
    for contender in (model, Straightforward.like(model)):
        torch.manual_seed(1)
        losses.append(contender.loss(batch).total.item())
    return abs(losses[1] / losses[0] - 1)


def figures(measured: Measurements) -> list[Figure]:
    """A step relative to its own products, and the plain version relative to it."""
    kind = measured["kind"].capitalize()
    return [
        Figure(
            f"{kind}: training, ours / its matrix products",
            measured["ours_over_products"],
            2.0,
            "x",
        ),
        Figure(
            f"{kind}: training, straightforward version / ours",
            measured["straightforward_over_ours"],
            10.0,
            "x",
            at_least=True,
        ),
        Figure(f"{kind}: both versions' losses differ by", measured["loss_difference"], 1e-3),
    ]
