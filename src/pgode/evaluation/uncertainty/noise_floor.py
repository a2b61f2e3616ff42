"""Irreducible error, estimated from replicas of one state.

Replicas share a condition and continue with other random forces. The best forecast of any of them
is their mean, and its squared error is their variance. Replicas also share velocities and solvent,
which a forecast does not see, so this floor is a lower bound.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.replicas import check_same_simulation, systems_by_condition
from pgode.data.superposition import superposed
from pgode.data.trajectories import Trajectories
from pgode.evaluation.evaluation import NoiseFloor, ScoreTable
from pgode.evaluation.predictions import predict
from pgode.evaluation.scores.errors import system_means
from pgode.evaluation.scores.metrics import columns, known_mean
from pgode.models import Forecaster, build_model, model_config
from pgode.runtime.errors import InputError

RESAMPLED = 2000
"""Bootstrap samples of the conditions."""
RANGE = (0.05, 0.95)
"""Quantiles of the share of the achievable improvement over resampled conditions."""

COMPARED = ("model", "last_value", "share", "share_low", "share_high")
"""Fields of `NoiseFloor` that compare a model with the floor, in the order of a row."""


@dataclass(frozen=True)
class _Replicas:
    """Systems that share a condition, and the variance of their scaled futures."""

    normaliser: Normaliser
    systems: list[list[int]]
    split: np.ndarray
    futures: Float[np.ndarray, "system object time feature"]
    variance: Float[np.ndarray, "condition object time feature"]

    @classmethod
    def of(cls, data: Trajectories, normaliser: Normaliser, condition: int) -> "_Replicas":
        systems = systems_by_condition(data, condition)
        scaled = normaliser.states(data.states)[:, :, condition:]
        return cls(
            normaliser,
            systems,
            split=np.array([data.split[rows[0]] for rows in systems]),
            futures=data.states[:, :, condition:],
            variance=np.stack([scaled[rows].var(0, ddof=1) for rows in systems]),
        )

    def floor(self, horizons: Sequence[int]) -> NoiseFloor:
        splits = [str(split) for split in dict.fromkeys(self.split.tolist())]
        mse = {
            split: {
                h: {
                    name: known_mean(self.variance[self.split == split][:, :, :h, index])
                    for name, index in columns(self.normaliser).items()
                }
                for h in horizons
            }
            for split in splits
        }
        rmsd = {}
        if len(self.normaliser.positions) == 3:
            positions = self.futures[..., self.normaliser.positions]
            roots = np.stack([_deviation(positions[rows]) for rows in self.systems])
            rmsd = {split: roots[self.split == split].mean(0).tolist() for split in splits}
        fewest = min(len(rows) for rows in self.systems)
        return NoiseFloor(ScoreTable(mse), rmsd, len(self.systems), fewest)


def noise_floor(
    replicas: Trajectories, normaliser: Normaliser, condition: int, horizons: Sequence[int]
) -> NoiseFloor:
    """The floor of the squared error by split, horizon and variable, and that of the RMSD."""
    return _Replicas.of(replicas, normaliser, condition).floor(horizons)


def compare_with_floor(
    model: Forecaster, replicas: Trajectories, condition: int, horizons: Sequence[int]
) -> NoiseFloor:
    """The floor, and a model's share of the achievable improvement on "last value".

    The floor and the errors of the model and of "last value" are those of the systems with
    replicas only. These are few and differ, so the share has a range, from resampled conditions.
    """
    normaliser = model.normaliser
    grouped = _Replicas.of(replicas, normaliser, condition)
    floor = grouped.floor(horizons)
    last = build_model("last-value", model_config("last-value", {}), normaliser)
    tables: dict[str, dict[str, dict[int, dict[str, float | None]]]] = {
        field: {split: {h: {} for h in horizons} for split in floor.mse.splits}
        for field in COMPARED
    }
    for split in floor.mse.splits:
        windows = Windows(replicas.split_of(split), normaliser, condition, max(horizons))
        forecasts = [predict(each, windows) for each in (model, last)]
        errors = [(each.squared_errors(), each.system) for each in forecasts]
        in_split = np.flatnonzero(replicas.split == split)
        members = [
            np.searchsorted(in_split, rows) for rows in grouped.systems if rows[0] in in_split
        ]
        variance = grouped.variance[grouped.split == split]
        for name, index in columns(normaliser).items():
            by_frame = [system_means(each[:, :, index], system) for each, system in errors]
            for h in horizons:
                error, last_error = (_by_condition(each, members, h) for each in by_frame)
                best = np.nanmean(variance[:, :, :h, index], axis=(1, 2, 3))
                shares = share_of_achievable(error, last_error, best)
                row = (float(error.mean()), float(last_error.mean()), *shares)
                for field, value in zip(COMPARED, row, strict=True):
                    tables[field][split][h][name] = value
    model_errors, last_value, share, share_low, share_high = map(ScoreTable, tables.values())
    return replace(
        floor,
        model=model_errors,
        last_value=last_value,
        share=share,
        share_low=share_low,
        share_high=share_high,
    )


def share_of_achievable(
    model: Float[np.ndarray, " condition"],
    last_value: Float[np.ndarray, " condition"],
    floor: Float[np.ndarray, " condition"],
) -> tuple[float | None, float | None, float | None]:
    """(last value - model) / (last value - floor), and its range over resampled conditions.

    0 is no better than "last value", 1 as good as possible. None where "last value" is at the
    floor; the range is None for a single condition.
    """

    def share(rows: Int[np.ndarray, "draw condition"]) -> np.ndarray:
        error, last, best = (each[rows].mean(-1) for each in (model, last_value, floor))
        unknown = np.full_like(last, np.nan)
        return np.asarray(np.divide(last - error, last - best, out=unknown, where=last > best))

    conditions = len(model)
    overall = float(share(np.arange(conditions)[None])[0])
    draws = np.random.default_rng(0).integers(0, conditions, (RESAMPLED, conditions))
    resampled = share(draws)
    if np.isnan(overall):
        return None, None, None
    if conditions < 2 or np.isnan(resampled).any():
        return overall, None, None
    low, high = np.quantile(resampled, RANGE)
    return overall, float(low), float(high)


def check_replicas(
    replicas: Trajectories, data: Trajectories, condition: int, horizon: int
) -> None:
    """Refuse replicas of another molecule, prepared differently from the data, or too short."""
    if replicas.frames < condition + horizon:
        raise InputError(
            f"the replicas have {replicas.frames} frames, of which {condition} are the condition. "
            f"Expected {condition + horizon}, for the horizon {horizon}. Ask for shorter horizons "
            f"with --horizons, or simulate longer replicas."
        )
    check_same_simulation(replicas, data)


def _by_condition(
    errors: Float[np.ndarray, "system frame"], members: list[np.ndarray], horizon: int
) -> Float[np.ndarray, " condition"]:
    """Mean error of the replicas of each condition, over the first frames."""
    return np.array([np.nanmean(errors[rows, :horizon]) for rows in members])


def _deviation(positions: Float[np.ndarray, "replica object time 3"]) -> Float[np.ndarray, " time"]:
    """RMSD between each replica of a condition and the mean of the others, the best forecast.

    The mean of R - 1 others varies too, by 1 / (R - 1) of the variance of one; the factor removes
    this. The root is taken for each replica, as it is for the forecasts it is compared with.
    """
    frames, count = positions.swapaxes(1, 2), len(positions)
    roots = []
    for k in range(count):
        others = np.delete(frames, k, axis=0).mean(0)
        onto = frames[k][:, None]
        difference = superposed(others[:, None], onto) - onto
        roots.append(np.sqrt((difference**2).sum(-1).mean((1, 2)) * (count - 1) / count))
    return np.asarray(np.mean(roots, axis=0))
