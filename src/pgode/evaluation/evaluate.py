"""Score a model and the naive models on the splits of one data set."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.trajectories import Trajectories
from pgode.evaluation.evaluation import Curves, Evaluation, ScoreTable
from pgode.evaluation.horizons import check_horizons
from pgode.evaluation.known_law import predict_by_law
from pgode.evaluation.predictions import Predictions, predict
from pgode.evaluation.scores.errors import SystemErrors, error_by_frame, skill
from pgode.evaluation.scores.metrics import METRICS, Rows
from pgode.evaluation.scores.physics import energy_drift
from pgode.evaluation.uncertainty.calibration import Calibration, draws_for
from pgode.models import Forecaster, build_model, model_config
from pgode.models.registry import NAIVE
from pgode.training.gate_use import GateUse


def evaluate(
    model: Forecaster,
    data: Trajectories,
    *,
    splits: Sequence[str],
    condition: int,
    horizons: Sequence[int],
    samples: int = 20,
    calibration: Calibration | None = None,
    seed: int = 0,
    name: str = "model",
) -> Evaluation:
    """Score a model and the naive models on each split, conditioned on each system's first frames.

    Probabilistic metrics score calibrated samples, or the draws of the model's posterior where
    there is no calibration. `name` is the label of the model in the result.
    """
    normaliser = model.normaliser
    check_horizons(data, splits, condition, horizons)
    baselines = {
        each: build_model(each, model_config(each, {}), normaliser)
        for each in naive_models(normaliser)
    }
    ours: dict[str, _SplitScores] = {}
    naive: dict[str, dict[str, _SplitScores]] = {each: {} for each in baselines}
    drift: dict[str, dict[str, float]] = {}
    law: dict[str, Rows] = {}
    gates: dict[str, GateUse] = {}
    seconds, evaluations = 0.0, 0
    for split in splits:
        windows = Windows(data.split_of(split), normaliser, condition, max(horizons))
        predictions = predict(model, windows, draws_for(samples, calibration), seed)
        sampled = _sampled(predictions, calibration, samples, seed) if samples else None
        ours[split] = _scored(predictions, sampled, normaliser, horizons)
        for each, baseline in baselines.items():
            naive[each][split] = _scored(predict(baseline, windows), None, normaliser, horizons)
        if (split_drift := energy_drift(windows, predictions)) is not None:
            drift[split] = split_drift
        if (by_law := predict_by_law(windows, predictions)) is not None:
            law[split] = METRICS["mse"].rows(by_law, normaliser, horizons)
        if "gate" in predictions.contexts and (use := GateUse.of(predictions.contexts["gate"])):
            gates[split] = use
        seconds += predictions.seconds
        evaluations = predictions.evaluations
    scores, naive_scores = _tables(ours), {each: _tables(parts) for each, parts in naive.items()}
    reference = reference_model(normaliser)
    naive_curves = {each: _curves(parts, np.mean) for each, parts in naive.items()}
    return Evaluation(
        model=name,
        horizons=tuple(horizons),
        variables=tuple(normaliser.variable_features),
        scores=scores,
        naive=naive_scores,
        reference=reference,
        skill=skill(scores["mse"], naive_scores[reference]["mse"]),
        curves={name: _curves(ours, np.mean), **naive_curves},
        curve_low=_curves(ours, partial(np.quantile, q=0.1)),
        curve_high=_curves(ours, partial(np.quantile, q=0.9)),
        samples=samples,
        seed=seed,
        data_hash=data.hash,
        seconds=seconds,
        evaluations=evaluations,
        energy_drift=drift or None,
        known_law=ScoreTable(law) if law else None,
        gate_use=gates or None,
    )


def naive_models(normaliser: Normaliser) -> tuple[str, ...]:
    """The naive models, which learn nothing and are scored beside every model on such data."""
    return tuple(
        name
        for name, entry in NAIVE.items()
        if entry.naive == "all data" or not normaliser.velocities
    )


def reference_model(normaliser: Normaliser) -> str:
    """The baseline for skill: constant velocity where the data have velocities, else last value."""
    return "constant-velocity" if normaliser.velocities else "last-value"


@dataclass(frozen=True)
class _SplitScores:
    """One model on one split: rows of each metric, and errors of single systems and frames."""

    scores: dict[str, Rows]
    errors: SystemErrors


def _scored(
    predictions: Predictions,
    sampled: Predictions | None,
    normaliser: Normaliser,
    horizons: Sequence[int],
) -> _SplitScores:
    """All metrics; those that need samples only if `sampled` is given."""
    scores = {}
    for name, metric in METRICS.items():
        scored = sampled if metric.needs_samples else predictions
        if scored is not None:
            scores[name] = metric.rows(scored, normaliser, horizons)
    return _SplitScores(scores, error_by_frame(predictions, normaliser))


def _sampled(
    predictions: Predictions, calibration: Calibration | None, samples: int, seed: int
) -> Predictions:
    """Predictions with calibrated samples as draws; without calibration, with the posterior's."""
    if calibration is not None:
        return calibration.resampled(predictions, samples, seed)
    return predictions.with_draws(predictions.draws.astype(np.float64))


def _tables(parts: Mapping[str, _SplitScores]) -> dict[str, ScoreTable]:
    """The scores of all splits, by metric."""
    names = dict.fromkeys(name for part in parts.values() for name in part.scores)
    return {
        name: ScoreTable({split: part.scores[name] for split, part in parts.items()})
        for name in names
    }


def _curves(parts: Mapping[str, _SplitScores], statistic: Callable[[np.ndarray], Any]) -> Curves:
    """A statistic over systems at each frame; six digits are more than a picture shows."""

    def at(values: np.ndarray) -> float | None:
        known = values[np.isfinite(values)]
        return float(f"{statistic(known):.6g}") if known.size else None

    return {
        split: {name: [at(column) for column in values.T] for name, values in part.errors.items()}
        for split, part in parts.items()
    }
