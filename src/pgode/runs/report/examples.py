"""The systems that a report shows: windows of a split, forecast and named."""

import numpy as np
from jaxtyping import Int

from pgode.batches.origins import Origins, every
from pgode.batches.windows import Windows
from pgode.data.trajectories import Trajectories
from pgode.evaluation import Predictions, predict
from pgode.evaluation.predictions import Interval
from pgode.evaluation.scores.probabilistic import interval
from pgode.evaluation.uncertainty.calibration import Calibration, draws_for
from pgode.reports import Example
from pgode.reports.base.example import Encounters, Trust
from pgode.runs.run import Run


def examples_of(
    run: Run, data: Trajectories, split: str, horizon: int, count: int, samples: int, seed: int
) -> list[Example]:
    """Windows of the first systems of a split.

    Each system's first window comes first. Where there are fewer systems than `count`, and the
    run is about a few long series, later windows of them follow, one horizon after the other.
    """
    condition = run.config.window.condition
    shown = shown_origins(data, condition, horizon, count, rolling=run.config.window.rolling)
    if not len(shown):
        return []
    kept = np.unique(shown.systems)
    chosen = data.select(kept)
    origins = Origins(np.searchsorted(kept, shown.systems), shown.starts)
    windows = Windows(chosen, run.normaliser, condition, horizon)
    forecast = predict(run.model, windows, draws_for(samples, run.calibration), seed, origins)
    low, high = _interval(forecast, run.calibration, samples, seed)
    batch = windows.batch(origins.systems, origins.starts)
    raw = run.normaliser.raw
    receivers, senders = batch.graph.receivers.numpy(), batch.graph.senders.numpy()
    weights = batch.graph.weights.numpy()
    examples = []
    for k, (system, start) in enumerate(zip(origins.systems, origins.starts, strict=True)):
        rows = np.flatnonzero(forecast.system == k)
        inside = np.isin(receivers, rows)
        pairs = receivers[inside] - rows[0], senders[inside] - rows[0]
        edges = zip(*pairs, weights[inside], strict=True)
        stop = start + condition
        ahead = min(horizon, int(chosen.n_frames[system]) - stop)
        elapsed = forecast.times[rows[0], :ahead] * run.normaliser.frame_duration
        times = chosen.times[system]
        later = elapsed + times[stop - 1]
        known = forecast.known[rows, :ahead]
        clock = np.concatenate([times[start:stop], later])
        examples.append(
            Example(
                split=split,
                number=int(shown.systems[k]),
                condition_times=times[start:stop],
                forecast_times=later,
                observed=chosen.frames_of(np.array([system]), slice(start, stop))[0, : len(rows)],
                forecast=raw(forecast.mean[rows, :ahead]),
                lower=raw(low[rows, :ahead]),
                upper=raw(high[rows, :ahead]),
                truth=np.where(known, raw(forecast.truth[rows, :ahead]), np.nan),
                edges=[(int(i), int(j), float(w)) for i, j, w in edges],
                gate=forecast.contexts["gate"][rows] if "gate" in forecast.contexts else None,
                parameters=_parameters(chosen, int(system)),
                labels=_labels(chosen, int(system), len(rows)),
                encounters=_encounters(forecast, k),
                system=chosen.system_label(int(system)) if "system_name" in chosen.dataset else "",
                dates=[chosen.when(float(t)) for t in clock] if chosen.time_origin else (),
                period=_period(chosen, clock, condition, bool(start)),
            )
        )
    return examples


def shown_origins(
    data: Trajectories, condition: int, horizon: int, count: int, *, rolling: bool
) -> Origins:
    """The windows to show: those of the first systems that have a frame to forecast."""
    enough: Int[np.ndarray, " system"] = np.flatnonzero(data.n_frames > condition)
    firsts = Origins(enough[:count], np.zeros(len(enough[:count]), np.int64))
    if len(firsts) == count or not rolling or not len(enough):
        return firsts
    found = every(data.n_frames[enough], condition + horizon, horizon)
    # By their place along a system first, so that every system is seen before one is seen twice.
    order = np.lexsort((found.systems, found.starts))[:count]
    return Origins(enough[found.systems[order]], found.starts[order])


def _period(data: Trajectories, clock: np.ndarray, condition: int, moved: bool) -> str:
    """What is observed and what is forecast; empty where a window is a system's first frames.

    Data with dates always say it.
    """
    if not data.time_origin and not moved:
        return ""
    seen, first, last = clock[0], clock[condition], clock[-1]
    until = f" to {data.when(float(last))}" if last > first else ""
    return f"observed from {data.when(float(seen))}, forecast {data.when(float(first))}{until}"


def _labels(data: Trajectories, system: int, objects: int) -> list[str]:
    """The names of the objects of a system; none where the data name none."""
    if "object_name" not in data.dataset:
        return []
    return [data.object_label(system, item) for item in range(objects)]


def _interval(
    forecast: Predictions, calibration: Calibration | None, samples: int, seed: int
) -> Interval:
    """The 90 % interval; the mean forecast alone if there are no samples."""
    if not samples:
        return forecast.mean, forecast.mean
    if calibration is not None:
        forecast = calibration.resampled(forecast, samples, seed)
    return forecast.intervals.get(90) or interval(forecast.draws.astype(np.float64), 90)


def _encounters(forecast: Predictions, system: int) -> Encounters | None:
    """Strength, closest distance and sub-steps of one system, where the model has force laws."""
    contexts = forecast.contexts
    names = ("system_strength", "system_nearest", "system_substeps")
    if not set(names) <= set(contexts):
        return None
    strength, nearest, substeps = (float(contexts[name][system, 0]) for name in names)
    if "system_trusted" not in contexts:
        return Encounters(strength, nearest, round(substeps))
    pair = np.flatnonzero(contexts["untrusted_pair"][forecast.system == system, 0])
    until = float(contexts["system_trusted"][system, 0])
    return Encounters(strength, nearest, round(substeps), Trust(until, tuple(pair.tolist())))


def _parameters(data: Trajectories, system: int) -> dict[str, float]:
    names = [str(name) for name in data.dataset["parameter"].values]
    values = zip(names, data.parameters[system], strict=True)
    return {name: float(value) for name, value in values if np.isfinite(value)}
