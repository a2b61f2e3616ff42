"""Uncertainty that means what it says: residuals of the validation split set the spread.

The posterior of z(0) knows little of the errors that a learned right-hand side makes later on.
So a forecast's spread comes from what was found on systems that training did not see: for each
variable and frame, the quantiles of (truth - mean) / scale, where the scale is the model's own
spread for that object and frame plus its median there. Where the model's spread tells hard
objects from easy ones the intervals follow it; where it does not they are as wide for all. Atoms
of a molecule are the same in every system: they have residuals of their own (`together`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from pgode.batches.normaliser import Normaliser
from pgode.evaluation.predictions import Predictions
from pgode.evaluation.uncertainty.joint_residuals import LEVELS, Together

DRAWS = 8
"""Posterior draws from which the model's own spread is estimated."""


@dataclass(frozen=True)
class Calibration:
    """Quantiles of scaled residuals by frame and feature, and the median spread at each."""

    frames: Float[np.ndarray, " frame"]
    quantiles: Float[np.ndarray, "frame feature level"]
    spread: Float[np.ndarray, "frame feature"]
    together: Together | None = None

    @classmethod
    def fit(cls, validation: Predictions, normaliser: Normaliser) -> "Calibration":
        """Learn the quantiles from forecasts of the validation split, whose draws it needs."""
        frames, kept = _frames(validation)
        deviation = _deviation(validation.draws, validation.mean)
        median = np.empty((len(frames), deviation.shape[2]))
        quantiles = np.empty((*median.shape, len(LEVELS)))
        residuals = np.where(validation.known, validation.truth - validation.mean, np.nan)
        for index in normaliser.variable_features.values():
            for row, frame in enumerate(kept):
                typical = float(np.median(deviation[:, frame, index]))
                typical = typical if typical > 0 else 1.0
                scaled = residuals[:, frame, index] / (deviation[:, frame, index] + typical)
                found = scaled[np.isfinite(scaled)]
                median[row, index] = typical
                quantiles[row, index] = np.quantile(found, LEVELS) if len(found) else 0.0
        return cls(frames, quantiles, median, Together.fit(validation))

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "Calibration":
        """Read back what `to_json` wrote."""
        frames, quantiles, spread = (
            np.array(content[key]) for key in ("frames", "quantiles", "spread")
        )
        return cls(frames, quantiles, spread)

    def to_json(self) -> dict[str, Any]:
        """Plain lists, for a run folder; what is known of a molecule has a file of its own."""
        return {
            "levels": LEVELS.tolist(),
            "frames": self.frames.tolist(),
            "quantiles": np.round(self.quantiles, 6).tolist(),
            "spread": self.spread.tolist(),
        }

    def samples(
        self,
        mean: Float[np.ndarray, "object frame feature"],
        draws: Float[np.ndarray, "draw object frame feature"],
        times: Float[np.ndarray, "object frame"],
        count: int,
        seed: int,
        structure: Float[np.ndarray, "object axis"] | None = None,
    ) -> Float[np.ndarray, "sample object frame feature"]:
        """Calibrated sample paths around a mean forecast.

        Atoms of the molecule that this was fitted to (`structure` says so) move together.
        Otherwise:
        One rank per sample, object and feature holds along the whole path, so paths are smooth;
        ranks are stratified, so that a few samples already cover the distribution. Beyond the
        last calibrated frame its quantiles are kept.
        """
        if count == 0:
            return np.empty((0, *mean.shape))
        if self.together is not None:
            whole = self.together.samples(mean, times, structure, count, seed)
            if whole is not None:
                return whole
        random = np.random.default_rng(seed)
        objects, frames, features = mean.shape
        order = random.random((count, objects, features)).argsort(0)
        ranks = (order + random.random(order.shape)) / count
        scale = _deviation(draws, mean) + _along(times, self.frames, self.spread)
        noise = np.empty((count, objects, frames, features))
        for feature in range(features):
            table = _along(times, self.frames, self.quantiles[:, feature])
            noise[..., feature] = _quantile(table, ranks[..., feature])
        return np.asarray(mean + scale * noise)


def _frames(validation: Predictions) -> tuple[np.ndarray, np.ndarray]:
    """When there are residuals, and at which frames: each later than all before it.

    Systems may differ in length and in their clocks; where one has ended, its time stands still.
    """
    seen = np.asarray(validation.known.any(axis=2))
    kept = np.flatnonzero(seen.any(axis=0))
    times = np.array([np.median(validation.times[:, k][seen[:, k]]) for k in kept])
    later = np.diff(np.maximum.accumulate(times), prepend=-np.inf) > 0
    return times[later], kept[later]


def _deviation(draws: np.ndarray, mean: np.ndarray) -> np.ndarray:
    return draws.std(0, dtype=np.float64) if len(draws) > 1 else np.zeros_like(mean)


def _along(times: np.ndarray, frames: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Rows of `table` (one per calibrated frame) interpolated to any times."""
    right = np.clip(np.searchsorted(frames, times), 1, len(frames) - 1) if len(frames) > 1 else 0
    left = right - 1 if len(frames) > 1 else 0
    if len(frames) == 1:
        return np.broadcast_to(table[0], (*times.shape, *table.shape[1:]))
    share = np.clip((times - frames[left]) / (frames[right] - frames[left]), 0, 1)[..., None]
    return np.asarray(table[left] * (1 - share) + table[right] * share)


def _quantile(table: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """table (object, frame, level), ranks (sample, object) -> (sample, object, frame)."""
    right = np.clip(np.searchsorted(LEVELS, ranks), 1, len(LEVELS) - 1)
    share = np.clip((ranks - LEVELS[right - 1]) / (LEVELS[right] - LEVELS[right - 1]), 0, 1)
    owner = np.arange(table.shape[0])
    low, high = table[owner, :, right - 1], table[owner, :, right]
    return np.asarray(low * (1 - share[..., None]) + high * share[..., None])
