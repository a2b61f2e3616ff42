"""Score a model and the naive models on the splits of one data set."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from pgode.batches.normaliser import Normaliser
from pgode.batches.origins import parsed
from pgode.batches.windows import Windows
from pgode.data.trajectories import Trajectories
from pgode.evaluation.baselines import Baselines, distinct
from pgode.evaluation.evaluation import Curves, Evaluation, ScoreTable
from pgode.evaluation.horizons import check_horizons
from pgode.evaluation.known_law import predict_by_law
from pgode.evaluation.predictions import Predictions, predict
from pgode.evaluation.scores.errors import SystemErrors, best_naive, error_by_frame, skill
from pgode.evaluation.scores.metrics import METRICS, Rows
from pgode.evaluation.scores.physics import energy_drift
from pgode.evaluation.scores.selection import chosen_metrics, column_units, in_own_units
from pgode.evaluation.uncertainty.calibration import Calibration, draws_for
from pgode.evaluation.worst import Worst, worst
from pgode.models import Forecaster
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
    origins: str = "first",
    metrics: Sequence[str] | None = None,
) -> Evaluation:
    """Score a model and the naive models on each split, on windows at some origins.

    `origins` is "first" (each system's first frames), "last", "rolling", "all" or "every:N", see
    `pgode.batches.origins`. Probabilistic metrics score calibrated samples, or the draws of the
    model's posterior where there is no calibration. `name` is the label of the model in the
    result. Energies and the known law start from first frames, so they are omitted elsewhere.
    """
    normaliser = model.normaliser
    check_horizons(data, splits, condition, horizons)
    wanted = chosen_metrics(metrics, normaliser, samples)
    baselines = Baselines.of(normaliser, data, condition, max(horizons))
    ours = _Scored()
    naive = {each: _Scored() for each in baselines.models}
    drift: dict[str, dict[str, float]] = {}
    law: dict[str, Rows] = {}
    gates: dict[str, GateUse] = {}
    found_worst: dict[str, Worst] = {}
    windows_of: dict[str, int] = {}
    seconds, evaluations = 0.0, 0
    for split in splits:
        windows = Windows(data.split_of(split), normaliser, condition, max(horizons))
        places = parsed(origins, windows.frames, condition, max(horizons))
        predictions = predict(model, windows, draws_for(samples, calibration), seed, places)
        sampled = _sampled(predictions, calibration, samples, seed) if samples else None
        ours.add(split, predictions, sampled, normaliser, horizons, wanted)
        others = {}
        for each, baseline in baselines.models.items():
            others[each] = predict(baseline, windows, origins=places)
            naive[each].add(split, others[each], None, normaliser, horizons, wanted)
        found_worst[split] = worst(windows.data, predictions, others)
        windows_of[split] = len(places)
        if "gate" in predictions.contexts and (use := GateUse.of(predictions.contexts["gate"])):
            gates[split] = use
        seconds += predictions.seconds
        evaluations = predictions.evaluations
        if origins != "first":
            continue
        if (split_drift := energy_drift(windows, predictions)) is not None:
            drift[split] = split_drift
        if (by_law := predict_by_law(windows, predictions)) is not None:
            law[split] = METRICS["mse"].rows(by_law, normaliser, horizons)
    kept = distinct({each: parts.tables["mse"] for each, parts in naive.items()})
    errors = {each: naive[each].tables["mse"] for each in kept}
    reference = best_naive(errors)
    return Evaluation(
        model=name,
        horizons=tuple(horizons),
        variables=tuple(normaliser.variable_features),
        scores=ours.tables,
        naive={each: naive[each].tables for each in kept},
        reference=reference,
        skill=skill(ours.tables["mse"], errors, reference),
        curves={name: ours.curves(np.mean), **{k: naive[k].curves(np.mean) for k in kept}},
        curve_low=ours.curves(partial(np.quantile, q=0.1)),
        curve_high=ours.curves(partial(np.quantile, q=0.9)),
        samples=samples,
        seed=seed,
        data_hash=data.hash,
        seconds=seconds,
        evaluations=evaluations,
        energy_drift=drift or None,
        known_law=ScoreTable(law) if law else None,
        gate_use=gates or None,
        raw={name: ours.raw_tables, **{k: naive[k].raw_tables for k in kept}},
        units=column_units(normaliser),
        worst=found_worst,
        origins=origins,
        windows=windows_of,
        omitted=baselines.omitted,
    )


@dataclass
class _Scored:
    """One model on all splits: rows of each metric, and errors of single windows and frames."""

    scores: dict[str, dict[str, Rows]] = field(default_factory=dict)
    raw: dict[str, dict[str, Rows]] = field(default_factory=dict)
    errors: dict[str, SystemErrors] = field(default_factory=dict)

    def add(
        self,
        split: str,
        predictions: Predictions,
        sampled: Predictions | None,
        normaliser: Normaliser,
        horizons: Sequence[int],
        metrics: Sequence[str],
    ) -> None:
        """Score one split; metrics that need samples only if `sampled` is given."""
        self.errors[split] = error_by_frame(predictions, normaliser)
        for needs_samples, scored in ((False, predictions), (True, sampled)):
            names = [name for name in metrics if METRICS[name].needs_samples == needs_samples]
            if scored is None or not names:
                continue
            for name in names:
                rows = METRICS[name].rows(scored, normaliser, horizons)
                self.scores.setdefault(name, {})[split] = rows
            own = scored.mapped(normaliser.raw)
            for name in names:
                if METRICS[name].power is not None:
                    found = in_own_units(METRICS[name], own, normaliser, horizons)
                    self.raw.setdefault(name, {})[split] = found

    @property
    def tables(self) -> dict[str, ScoreTable]:
        """The scores of all splits, by metric, in the order of the table of metrics."""
        return {name: ScoreTable(self.scores[name]) for name in METRICS if name in self.scores}

    @property
    def raw_tables(self) -> dict[str, ScoreTable]:
        """The scores in the data's own units."""
        return {name: ScoreTable(self.raw[name]) for name in METRICS if name in self.raw}

    def curves(self, statistic: Callable[[np.ndarray], Any]) -> Curves:
        """A statistic over windows at each frame; six digits are more than a picture shows."""

        def at(values: np.ndarray) -> float | None:
            known = values[np.isfinite(values)]
            return float(f"{statistic(known):.6g}") if known.size else None

        return {
            split: {name: [at(column) for column in values.T] for name, values in errors.items()}
            for split, errors in self.errors.items()
        }


def _sampled(
    predictions: Predictions, calibration: Calibration | None, samples: int, seed: int
) -> Predictions:
    """Predictions with calibrated samples as draws; without calibration, with the posterior's."""
    if calibration is not None:
        return calibration.resampled(predictions, samples, seed)
    return predictions.with_draws(predictions.draws.astype(np.float64))
