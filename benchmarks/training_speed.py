"""One training step at paper size against its own matrix products and against a plain version.

Three times are taken in turn, in one run: a step of `PGODE`; the same step's matrix products alone;
a step of `Straightforward`. The two models live in processes of their own, because `PGODE` trains
with memory settings that a plain version would not have; one waits while the other works.
"""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import torch

from benchmarks import Figure, Found
from benchmarks.products import Recorder, Replay
from benchmarks.straightforward import Straightforward
from benchmarks.training_step import BATCH, CONDITION, EPOCH, HORIZON, Training
from benchmarks.training_step import fresh_model, training_systems
from pgode.training.memory import keep_freed_memory
from pgode.windows import Windows


class Contender:
    """One model in a process of its own; every method answers with seconds."""

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
    def step(cls, systems: int, horizon: int) -> float:
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
    def products(cls) -> float:
        """The recorded products, alone."""
        return _seconds(cls.replay.run)


def _seconds(work: Callable[[], Any]) -> float:
    begun = perf_counter()
    work()
    return perf_counter() - begun


def run(
    kind: str = "springs",
    systems: int = BATCH,
    horizon: int = HORIZON,
    threads: int = 2,
    repeats: int = 5,
    share: int = 64,
    whole: bool = True,
) -> Found:
    """Take turns `repeats` times, and compare.

    The plain version runs on `share` systems at two short horizons, from which its whole step
    follows: its time is proportional to the systems and linear in the horizon. With `whole` its
    whole step is also run once, is what counts, and tells how good that estimate was.
    """
    share = min(share, systems)
    short, longer = 2, 6
    times: dict[str, list[float]] = {name: [] for name in ("ours", "products", "short", "longer")}
    with ExitStack() as stack:
        ours, plain = (
            stack.enter_context(
                ProcessPoolExecutor(
                    1,
                    mp_context=get_context("spawn"),
                    initializer=Contender.prepare,
                    initargs=(plain, kind, systems, max(horizon, longer), threads),
                )
            )
            for plain in (False, True)
        )
        number, operations = ours.submit(Contender.record, systems, horizon).result()
        for _ in range(repeats):
            times["ours"].append(ours.submit(Contender.step, systems, horizon).result())
            times["products"].append(ours.submit(Contender.products).result())
            times["short"].append(plain.submit(Contender.step, share, short).result())
            times["longer"].append(plain.submit(Contender.step, share, longer).result())
        measured = plain.submit(Contender.step, systems, horizon).result() if whole else None

    seconds = {name: median(taken) for name, taken in times.items()}
    per_frame = (seconds["longer"] - seconds["short"]) / (longer - short)
    estimate = systems / share * (seconds["short"] + (horizon - short) * per_frame)
    straightforward = measured or estimate
    over_products = [a / b for a, b in zip(times["ours"], times["products"], strict=True)]
    return {
        "benchmark": "training_speed",
        "kind": kind,
        "systems": systems,
        "horizon": horizon,
        "threads": threads,
        "ours_over_products": round(median(over_products), 2),
        "straightforward_over_ours": round(straightforward / seconds["ours"], 2),
        "step_seconds": round(seconds["ours"], 2),
        "products_seconds": round(seconds["products"], 2),
        "products": number,
        "products_gflops": round(operations / seconds["products"] / 1e9, 1),
        "straightforward_seconds": round(straightforward, 1),
        "straightforward_estimate": round(estimate, 1),
        "straightforward_was_run_whole": measured is not None,
        "epoch_seconds": round(seconds["ours"] * EPOCH / systems, 1),
        "straightforward_epoch_seconds": round(straightforward * EPOCH / systems, 1),
        "loss_difference": loss_difference(kind),
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
