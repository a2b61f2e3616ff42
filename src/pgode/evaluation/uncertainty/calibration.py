"""Calibrated uncertainty: residuals of the validation split set the spread of samples.

The posterior of z(0) does not cover the errors that a learned right-hand side makes later on. So
the spread of a forecast comes from systems that training did not see: for each variable and frame,
the quantiles of (truth - mean) / scale, where the scale is the spread of the model's draws for
that object and frame plus its median there. Where the model's spread separates hard objects from
easy ones the intervals follow it; elsewhere they are equally wide. Where systems share a reference
their objects have correlated errors, and samples come from joint residuals instead.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from pgode.batches.normaliser import Normaliser
from pgode.evaluation.predictions import Interval, Predictions
from pgode.evaluation.uncertainty.joint_residuals import JointResiduals
from pgode.evaluation.uncertainty.levels import LEVELS
from pgode.evaluation.uncertainty.stored import checked_calibration
from pgode.runtime.memory import refuse_beyond_memory

SCORED = (50, 80, 90, 95)
"""Levels of the intervals that are scored."""
DRAWS = 8
"""Posterior draws from which the spread of the model is estimated."""


def draws_for(samples: int, calibration: "Calibration | None") -> int:
    """Posterior draws that `samples` sampled forecasts need.

    A calibration needs a few to estimate the model's spread; without one the draws are the samples.
    """
    if calibration is None or samples == 0:
        return samples
    return DRAWS


HELD = 16.0
"""Bytes at the peak for each value of a sample: as drawn, and as sorted or scored."""


@dataclass(frozen=True)
class Calibration:
    """Quantiles of scaled residuals by frame and feature, and the median spread at each."""

    frames: Float[np.ndarray, " frame"]
    quantiles: Float[np.ndarray, "frame feature level"]
    spread: Float[np.ndarray, "frame feature"]
    joint: JointResiduals | None = None

    @classmethod
    def fit(cls, validation: Predictions, normaliser: Normaliser) -> "Calibration":
        """Quantiles from forecasts of the validation split, with draws of the posterior."""
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
                known = scaled[np.isfinite(scaled)]
                median[row, index] = typical
                quantiles[row, index] = np.quantile(known, LEVELS) if len(known) else 0.0
        return cls(frames, quantiles, median, JointResiduals.fit(validation))

    @classmethod
    def from_json(
        cls, content: dict[str, Any], where: str = "the calibration", features: int | None = None
    ) -> "Calibration":
        """Read back what `to_json` wrote, without joint residuals.

        `where` names it in errors, and `features` is the number that it must be of, if known.
        """
        entries = checked_calibration(content, where, features)
        frames, quantiles, spread = (
            np.array(entries[key], dtype=np.float64) for key in ("frames", "quantiles", "spread")
        )
        return cls(frames, quantiles, spread)

    def to_json(self) -> dict[str, Any]:
        """Plain lists, for a run folder. Joint residuals have a binary file instead."""
        return {
            "levels": LEVELS.tolist(),
            "frames": self.frames.tolist(),
            "quantiles": np.vectorize(_short, otypes=[float])(self.quantiles).tolist(),
            "spread": self.spread.tolist(),
        }

    def samples(
        self,
        mean: Float[np.ndarray, "object frame feature"],
        draws: Float[np.ndarray, "draw object frame feature"],
        times: Float[np.ndarray, "object frame"],
        count: int,
        seed: int,
        reference: Float[np.ndarray, "object axis"] | None = None,
    ) -> Float[np.ndarray, "sample object frame feature"]:
        """Calibrated sample paths around a mean forecast.

        Systems with the `reference` of the validation systems are sampled from joint residuals.
        For others one rank per sample, object and feature holds along the whole path, so paths are
        smooth; ranks are stratified, so that a few samples already cover the distribution. Beyond
        the last calibrated frame its quantiles are used.
        """
        if count == 0:
            return np.empty((0, *mean.shape))
        if self.joint is not None:
            joint_samples = self.joint.samples(mean, times, reference, count, seed)
            if joint_samples is not None:
                return joint_samples
        random = np.random.default_rng(seed)
        objects, frames, features = mean.shape
        order = random.random((count, objects, features)).argsort(0)
        ranks = (order + random.random(order.shape)) / count
        scale = _deviation(draws, mean) + _interpolated(times, self.frames, self.spread)
        noise = np.empty((count, objects, frames, features))
        for feature in range(features):
            table = _interpolated(times, self.frames, self.quantiles[:, feature])
            noise[..., feature] = _quantile(table, ranks[..., feature])
        return np.asarray(mean + scale * noise)

    def interval(
        self,
        mean: Float[np.ndarray, "object frame feature"],
        draws: Float[np.ndarray, "draw object frame feature"],
        times: Float[np.ndarray, "object frame"],
        level: int,
        reference: Float[np.ndarray, "object axis"] | None = None,
    ) -> Interval | None:
        """The central interval of `level` per cent; None where samples are joint.

        It comes from the quantiles themselves: where errors have heavy tails, as those of chaotic
        motion, the interval of a few samples is too wide.
        """
        ends = [
            self.quantile(mean, draws, times, rank, reference)
            for rank in ((100 - level) / 200, (100 + level) / 200)
        ]
        return None if ends[0] is None or ends[1] is None else (ends[0], ends[1])

    def quantile(
        self,
        mean: Float[np.ndarray, "object frame feature"],
        draws: Float[np.ndarray, "draw object frame feature"],
        times: Float[np.ndarray, "object frame"],
        rank: float,
        reference: Float[np.ndarray, "object axis"] | None = None,
    ) -> Float[np.ndarray, "object frame feature"] | None:
        """The value that the truth is below with probability `rank`, from 0.005 to 0.995.

        None where samples are joint, so that these decide.
        """
        if self.joint is not None and self.joint.suits(mean, reference):
            return None
        scale = _deviation(draws, mean) + _interpolated(times, self.frames, self.spread)
        table = _at_rank(self.quantiles, rank)
        return np.asarray(mean + scale * _interpolated(times, self.frames, table))

    def resampled(self, predictions: Predictions, count: int, seed: int) -> Predictions:
        """Predictions with `count` calibrated samples in place of draws of the posterior."""
        refuse_beyond_memory(
            HELD * count * predictions.mean.size,
            f"drawing {count} samples of {predictions.windows} windows of {predictions.frames} "
            f"frames",
            "Draw fewer --samples, or score fewer windows or frames.",
        )
        given = (predictions.mean, predictions.draws, predictions.times)
        intervals = {
            level: found
            for level in SCORED
            if (found := self.interval(*given, level, predictions.reference)) is not None
        }
        samples = self.samples(*given, count, seed, predictions.reference)

        def quantile(rank: float) -> Float[np.ndarray, "object frame feature"]:
            found = self.quantile(*given, rank, predictions.reference)
            assert found is not None
            return found

        return replace(
            predictions,
            draws=samples,
            intervals=intervals,
            quantile=quantile if intervals else None,
        )


def _short(value: float) -> float:
    """Nine digits: quantiles may be as small as the rounding of single precision."""
    return float(f"{value:.9g}")


def _frames(validation: Predictions) -> tuple[np.ndarray, np.ndarray]:
    """Times and indices of the frames with residuals, each later than all before it.

    Systems may differ in length and time step; the times of one that has ended do not increase.
    """
    seen = np.asarray(validation.known.any(axis=2))
    kept = np.flatnonzero(seen.any(axis=0))
    times = np.array([np.median(validation.times[:, k][seen[:, k]]) for k in kept])
    later = np.diff(np.maximum.accumulate(times), prepend=-np.inf) > 0
    return times[later], kept[later]


def _deviation(draws: np.ndarray, mean: np.ndarray) -> np.ndarray:
    return draws.std(0, dtype=np.float64) if len(draws) > 1 else np.zeros_like(mean)


def _interpolated(times: np.ndarray, frames: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Rows of `table` (one per calibrated frame) interpolated to any times."""
    right = np.clip(np.searchsorted(frames, times), 1, len(frames) - 1) if len(frames) > 1 else 0
    left = right - 1 if len(frames) > 1 else 0
    if len(frames) == 1:
        return np.broadcast_to(table[0], (*times.shape, *table.shape[1:]))
    share = np.clip((times - frames[left]) / (frames[right] - frames[left]), 0, 1)[..., None]
    return np.asarray(table[left] * (1 - share) + table[right] * share)


def _at_rank(
    quantiles: Float[np.ndarray, "frame feature level"], rank: float
) -> Float[np.ndarray, "frame feature"]:
    """Quantiles at a rank between the first and the last of the levels."""
    right = int(np.clip(np.searchsorted(LEVELS, rank), 1, len(LEVELS) - 1))
    share = np.clip((rank - LEVELS[right - 1]) / (LEVELS[right] - LEVELS[right - 1]), 0, 1)
    return np.asarray(quantiles[..., right - 1] * (1 - share) + quantiles[..., right] * share)


def _quantile(table: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """table (object, frame, level), ranks (sample, object) -> (sample, object, frame)."""
    right = np.clip(np.searchsorted(LEVELS, ranks), 1, len(LEVELS) - 1)
    share = np.clip((ranks - LEVELS[right - 1]) / (LEVELS[right] - LEVELS[right - 1]), 0, 1)
    owner = np.arange(table.shape[0])
    low, high = table[owner, :, right - 1], table[owner, :, right]
    return np.asarray(low * (1 - share[..., None]) + high * share[..., None])
