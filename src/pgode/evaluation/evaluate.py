"""Everything that is reported about a model on one data set, as plain JSON."""

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.trajectories import Trajectories
from pgode.evaluation.predictions import Predictions, predict
from pgode.evaluation.scores.errors import error_by_frame, error_by_horizon, known_mean, skill
from pgode.evaluation.scores.physics import energy_drift
from pgode.evaluation.scores.probabilistic import LEVELS, covered, crps
from pgode.evaluation.uncertainty.calibration import DRAWS, Calibration
from pgode.models import Forecaster, build_model, model_config
from pgode.runtime.errors import InputError

NAIVE = ("last-value", "constant-velocity")
WITHOUT_VELOCITIES = ("mean-value",)
"""Naive models of data whose velocities are not known, where objects may only jitter."""


def evaluate(
    model: Forecaster,
    data: Trajectories,
    *,
    splits: list[str],
    condition: int,
    horizons: list[int],
    samples: int = 20,
    calibration: Calibration | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Score a model and the naive ones on each split, conditioned on each system's first frames."""
    normaliser = model.normaliser
    check_horizons(data, splits, condition, horizons)
    result: dict[str, Any] = {
        "horizons": horizons,
        "samples": samples,
        "seed": seed,
        "data_hash": data.hash,
        "mse": {},
        "naive": {name: {} for name in naive_models(normaliser)},
        "skill": {},
        "skill_reference": reference_model(normaliser),
        "crps": {},
        "coverage": {str(level): {} for level in LEVELS},
        "energy_drift": {},
        "curve": {name: {} for name in ("model", *naive_models(normaliser))},
        "curve_low": {},
        "curve_high": {},
        "seconds": 0.0,
    }
    for split in splits:
        windows = Windows(data.split_of(split), normaliser, condition, max(horizons))
        ours = predict(model, windows, DRAWS if samples else 0, seed)
        _add_errors(result, split, ours, windows, horizons)
        if samples:
            _add_scores(result, split, ours, normaliser, calibration, samples, seed)
        drift = energy_drift(windows, ours)
        if drift is not None:
            result["energy_drift"][split] = drift
        result["seconds"] += ours.seconds
        result["evaluations"] = ours.evaluations
    result["energy_drift"] = result["energy_drift"] or None
    return result


def naive_models(normaliser: Normaliser) -> tuple[str, ...]:
    """The models that learn nothing and stand beside every other one on this data."""
    return NAIVE if normaliser.velocities else (*NAIVE, *WITHOUT_VELOCITIES)


def reference_model(normaliser: Normaliser) -> str:
    """The naive model that skill is measured against: no straw man where nothing moves straight."""
    return "constant-velocity" if normaliser.velocities else "last-value"


def check_horizons(
    data: Trajectories, splits: list[str], condition: int, horizons: list[int]
) -> None:
    """Refuse horizons that no system of a split reaches."""
    for split in splits:
        frames = int(data.split_of(split).n_frames.max())
        if frames <= condition:
            raise InputError(
                f"the systems of the split {split} have at most {frames} frames, and the model "
                f"sees {condition} before it forecasts. Expected at least {condition + 1} frames. "
                f"Give longer data, or a model trained with a shorter condition."
            )
        if min(horizons) < 1 or condition + max(horizons) > frames:
            raise InputError(
                f"cannot score horizons {horizons} on the split {split}: its systems have at most "
                f"{frames} frames, of which {condition} are the condition. Expected horizons from "
                f"1 to {frames - condition}. Choose others with --horizons, or give longer data."
            )


def _add_errors(
    result: dict[str, Any], split: str, ours: Predictions, windows: Windows, horizons: list[int]
) -> None:
    normaliser = windows.normaliser
    result["mse"][split] = error_by_horizon(ours, normaliser, horizons)
    frames = error_by_frame(ours, normaliser)
    result["curve"]["model"][split] = _curves(frames, np.mean)
    result["curve_low"][split] = _curves(frames, lambda values: np.quantile(values, 0.1))
    result["curve_high"][split] = _curves(frames, lambda values: np.quantile(values, 0.9))
    for name in naive_models(normaliser):
        naive = predict(build_model(name, model_config(name, {}), normaliser), windows)
        result["naive"][name][split] = error_by_horizon(naive, normaliser, horizons)
        result["curve"][name][split] = _curves(error_by_frame(naive, normaliser), np.mean)
    reference = result["naive"][result["skill_reference"]][split]
    result["skill"][split] = skill(result["mse"][split], reference)


def _add_scores(
    result: dict[str, Any],
    split: str,
    ours: Predictions,
    normaliser: Normaliser,
    calibration: Calibration | None,
    samples: int,
    seed: int,
) -> None:
    """CRPS and coverage of calibrated samples; of the posterior's own draws without calibration."""
    drawn = ours.draws.astype(np.float64)
    if calibration is not None:
        drawn = calibration.samples(
            ours.mean, ours.draws, ours.times, samples, seed, ours.reference
        )
    scores = np.where(ours.known, crps(drawn, ours.truth), np.nan)
    result["crps"][split] = _by_variable(scores, normaliser, result["horizons"])
    for level in LEVELS:
        inside = np.where(ours.known, covered(drawn, ours.truth, level), np.nan)
        found = _by_variable(inside, normaliser, result["horizons"])
        result["coverage"][str(level)][split] = found


def _by_variable(values: np.ndarray, normaliser: Normaliser, horizons: list[int]) -> dict[str, Any]:
    return {
        str(h): {
            name: known_mean(values[:, :h, index])
            for name, index in normaliser.variable_features.items()
        }
        for h in horizons
    }


def _curves(
    frames: dict[str, Float[np.ndarray, "system frame"]], statistic: Callable[[np.ndarray], Any]
) -> dict[str, list[float | None]]:
    """A statistic over systems at each frame; six digits are more than a picture shows."""

    def at(values: np.ndarray) -> float | None:
        known = values[np.isfinite(values)]
        return float(f"{statistic(known):.6g}") if known.size else None

    return {name: [at(column) for column in values.T] for name, values in frames.items()}
