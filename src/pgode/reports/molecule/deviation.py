"""How far forecasts of a molecule are from the truth, after superposition."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from pgode.data.superposition import superposed

Positions = Float[np.ndarray, "system atom frame 3"]


@dataclass(frozen=True)
class Deviation:
    """Deviation of the forecasts of one split from the truth that they are superposed on."""

    split: str
    times: Float[np.ndarray, " horizon"]
    """Since the last observed frame."""
    rmsd: Mapping[str, Float[np.ndarray, " horizon"]]
    """Mean over systems by model; the evaluated model comes first, naive ones follow."""
    residues: Float[np.ndarray, " residue"]
    """Root of the model's mean squared error over the atoms of a residue, frames and systems."""


def deviation(
    split: str,
    times: Float[np.ndarray, " horizon"],
    forecasts: Mapping[str, Positions],
    truth: Positions,
    group: Int[np.ndarray, " atom"],
) -> Deviation:
    """The deviation of the forecasts by model, the evaluated one first; NaN where unknown."""
    squared = {name: _squared_distances(each, truth) for name, each in forecasts.items()}
    by_frame = {name: _mean(np.sqrt(each.mean(1)), 0) for name, each in squared.items()}
    by_atom = _mean(next(iter(squared.values())), (0, 2))
    residues = np.array([_mean(by_atom[group == one], 0) for one in np.unique(group)])
    return Deviation(split, times, by_frame, np.sqrt(residues))


def rmsd(forecast: Positions, truth: Positions) -> Float[np.ndarray, "system frame"]:
    """Root-mean-square distance of the atoms at each frame, after superposition on the truth."""
    return np.asarray(np.sqrt(_squared_distances(forecast, truth).mean(1)))


def _squared_distances(
    forecast: Positions, truth: Positions
) -> Float[np.ndarray, "system atom frame"]:
    """Squared distances of superposed atoms; NaN in frames with an unknown atom."""
    ours, theirs = forecast.swapaxes(1, 2), truth.swapaxes(1, 2)
    known: Bool[np.ndarray, "system frame"] = (np.isfinite(ours) & np.isfinite(theirs)).all((2, 3))
    squared = np.full(ours.shape[:3], np.nan)
    # `superposed` aligns whole systems, so each frame is passed as a system with one frame.
    target = theirs[known][:, None]
    aligned = superposed(ours[known][:, None], target)
    squared[known] = ((aligned - target) ** 2).sum(-1)[:, 0]
    return squared.swapaxes(1, 2)


def _mean(values: Float[np.ndarray, "..."], axis: int | tuple[int, ...]) -> np.ndarray:
    """The mean of the known values; NaN, without a warning, where there are none."""
    known = np.isfinite(values)
    count = known.sum(axis)
    total = np.where(known, values, 0.0).sum(axis)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
