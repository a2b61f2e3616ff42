"""The naive models that suit some data, ready to forecast."""

from collections.abc import Mapping
from dataclasses import dataclass

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.trajectories import Trajectories
from pgode.evaluation.evaluation import ScoreTable
from pgode.models import Forecaster, build_model, model_config
from pgode.models.naive import Naive
from pgode.models.registry import NAIVE, model_class

SAME = 1e-9
"""Relative difference of errors below which two naive models are the same on some data."""


@dataclass(frozen=True)
class Baselines:
    """Naive models by name, and why others were left out."""

    models: dict[str, Forecaster]
    omitted: dict[str, str]

    @classmethod
    def of(
        cls, normaliser: Normaliser, data: Trajectories, condition: int, horizon: int
    ) -> "Baselines":
        """Those that suit the data; what has to be fitted is fitted on its training split."""
        models: dict[str, Forecaster] = {}
        omitted: dict[str, str] = {}
        training = _training(normaliser, data, condition, horizon)
        for name in NAIVE:
            kind = model_class(name)
            if not issubclass(kind, Naive) or not kind.suits(normaliser, condition):
                continue
            config = model_config(name, {})
            if not kind.trainable:
                models[name] = build_model(name, config, normaliser)
            elif isinstance(training, str):
                omitted[name] = training
            else:
                settled, _ = config.settled(training, 0)
                models[name] = build_model(name, settled, normaliser)
                models[name].prepare(training, 0, lambda *_: None)
        return cls(models, omitted)


def _training(
    normaliser: Normaliser, data: Trajectories, condition: int, horizon: int
) -> Windows | str:
    """Windows of the training split, or why there are none."""
    if not (data.split == "train").any():
        return "the evaluated data has no training split to fit it on"
    training = data.split_of("train")
    if training.n_frames.max() <= condition or training.n_frames.min() < condition:
        return "the systems of the training split are shorter than the window"
    return Windows(training, normaliser, condition, horizon)


def distinct(tables: Mapping[str, ScoreTable]) -> list[str]:
    """Naive models without those whose errors are all equal to those of an earlier one."""
    kept: list[str] = []
    for name, table in tables.items():
        if not any(_same(table, tables[other]) for other in kept):
            kept.append(name)
    return kept


def _same(one: ScoreTable, other: ScoreTable) -> bool:
    pairs = [
        (error, other.at(split, h, name))
        for split, rows in one.cells.items()
        for h, row in rows.items()
        for name, error in row.items()
    ]
    return all(
        a == b or (a is not None and b is not None and abs(a - b) <= SAME * max(abs(a), abs(b)))
        for a, b in pairs
    )
