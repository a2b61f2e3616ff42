"""One training step at paper size against its own matrix products and against a plain version.

Three times are taken in turn, in one run: a step of `PGODE`; the same step's matrix products alone;
a step of `Straightforward`. The two models live in processes of their own, because `PGODE` trains
with memory settings that a plain version would not have; one waits while the other works.

Wall times count. Processor times are given beside them: on a machine that others use they are
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

from benchmarks import Figure, Found
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
from pgode.training.memory import keep_freed_memory

SHORT, LONGER = 2, 6
"""Horizons from which the plain version's whole step follows."""


class Seconds(NamedTuple):
    """How long something took, on the clock and on the processor."""

    wall: float
    cpu: float


class Contender:
    """One model in a process of its own."""

    training: Training
    replay: Replay

    @classmethod
    def prepare(cls, plain: bool, kind: str, systems: int, horizon: int, threads: int) -> None:
        """Build the model there, and compile what is compiled at first use."""
        torch.set_num_threads(threads)
        data = training_systems(kind, systems, horizon)
        model = fresh_model(data)
        if not plain:
            keep_freed_memory()
        cls.training = Training(Straightforward.like(model) if plain else model, data)
        cls.training.step(min(systems, 4), 1)

    @classmethod
    def step(cls, systems: int, horizon: int) -> Seconds:
        """One training step."""
        return _seconds(lambda: cls.training.step(systems, horizon))

    @classmethod
    def record(cls, systems: int, horizon: int) -> tuple[int, int]:
        """Take down the products of one step; returns their number and their operations."""
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
) -> Found:
    """Take turns `repeats` times, and compare.

    The plain version takes its turns on the same batch at two short horizons, from which its whole
    step follows, since every frame costs the same. (Fewer systems would not do: they fit in the
    caches, and 64 of them made 256 look a quarter cheaper than they are.) With `whole` its whole
    step is also run once, is what counts, and tells how good that estimate was.
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
            {name: [taken[clock] for taken in all_taken] for name, all_taken in times.items()},
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


def _compared(times: dict[str, list[float]], horizon: int) -> Found:
    """Ratios and medians by one clock."""
    seconds = {name: median(taken) for name, taken in times.items() if taken}
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
        "all_seconds": {name: [round(t, 3) for t in taken] for name, taken in times.items()},
    }


def loss_difference(kind: str, systems: int = 8, horizon: int = 4) -> float:
    """How far the two models' losses lie apart (relative), with the same weights and draws."""
    data = training_systems(kind, systems, horizon)
    model = fresh_model(data)
    windows = Windows(data, model.normaliser, CONDITION, horizon)
    batch = windows.batch(np.arange(systems), np.zeros(systems, np.int64))
    losses = []
    for contender in (model, Straightforward.like(model)):
        torch.manual_seed(1)
        losses.append(contender.loss(batch).total.item())
    return abs(losses[1] / losses[0] - 1)


def figures(found: Found) -> list[Figure]:
    """An epoch against its own products and against the plain version."""
    kind = found["kind"].capitalize()
    return [
        Figure(
            f"{kind}: training, ours / its matrix products", found["ours_over_products"], 2.0, "x"
        ),
        Figure(
            f"{kind}: training, straightforward version / ours",
            found["straightforward_over_ours"],
            10.0,
            "x",
            at_least=True,
        ),
        Figure(f"{kind}: both versions' losses differ by", found["loss_difference"], 1e-3),
    ]
