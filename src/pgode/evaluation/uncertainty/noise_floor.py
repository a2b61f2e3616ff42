"""The error that no forecast can avoid: how far futures part that begin in one and the same state.

Replicas share a condition and go on with other random forces. The best forecast of any of them is
their mean, and its squared error is their variance. Replicas begin with the same velocities and
the same solvent too, which no forecast is told, so the floor is a lower bound.
"""

import json
from typing import Any

import numpy as np
from jaxtyping import Float

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.superposition import superposed
from pgode.data.trajectories import Trajectories
from pgode.evaluation.predictions import predict
from pgode.evaluation.scores.errors import columns, known_mean, system_means
from pgode.models import Forecaster, build_model, model_config
from pgode.runtime.errors import InputError

RESAMPLED = 2000
RANGE = (0.05, 0.95)
"""Quantiles of what is gained, over draws of the conditions."""

SAME = (
    *("structure", "structure_hash", "seed", "implicit", "open_ring", "frame_time", "step"),
    "preparation",
)
"""What replicas and data have to agree on."""


def noise_floor(
    replicas: Trajectories,
    normaliser: Normaliser,
    condition: int,
    horizons: list[int],
    source: str = "the replicas",
) -> dict[str, Any]:
    """Floor by split, horizon and variable, in scaled units; and of the RMSD, in data units.

    `rmsd` is by split and forecast frame, after superposition.
    """
    groups = _groups(replicas, condition, source)
    variance = _variance(replicas, normaliser, condition, groups)
    split = np.array([replicas.split[rows[0]] for rows in groups.values()])
    found: dict[str, Any] = {
        word: {
            str(h): {
                name: known_mean(variance[split == word][:, :, :h, index])
                for name, index in columns(normaliser).items()
            }
            for h in horizons
        }
        for word in dict.fromkeys(split.tolist())
    }
    positions = replicas.states[:, :, condition:][..., normaliser.positions]
    deviations = {}
    if len(normaliser.positions) == 3:
        roots = np.stack([_deviation(positions[rows]) for rows in groups.values()])
        deviations = {word: roots[split == word].mean(0).tolist() for word in found}
    return {
        "mse": found,
        "rmsd": deviations,
        "conditions": len(groups),
        "replicas": min(len(rows) for rows in groups.values()),
    }


def way_to_floor(
    model: Forecaster,
    replicas: Trajectories,
    condition: int,
    horizons: list[int],
    source: str = "the replicas",
) -> dict[str, Any]:
    """The floor, and how much of the way from "last value" to it a model has gained.

    (last value - ours) / (last value - floor) is 0 if no better and 1 if as good as can be. All
    three are of the systems with replicas alone. Those are few and differ, so the share has a
    range: what resampled conditions give.
    """
    normaliser = model.normaliser
    found = noise_floor(replicas, normaliser, condition, horizons, source)
    groups = _groups(replicas, condition, source)
    variance = _variance(replicas, normaliser, condition, groups)
    owner = np.array([replicas.split[rows[0]] for rows in groups.values()])
    last = build_model("last-value", model_config("last-value", {}), normaliser)
    kinds = ("model", "last-value", "gained", "gained_low", "gained_high")
    found |= {kind: {} for kind in kinds}
    for split in found["mse"]:
        windows = Windows(replicas.split_of(split), normaliser, condition, max(horizons))
        forecasts = [predict(each, windows) for each in (model, last)]
        errors = [(each.squared_errors(), each.system) for each in forecasts]
        here = np.flatnonzero(replicas.split == split)
        members = [np.searchsorted(here, rows) for rows in groups.values() if rows[0] in here]
        for kind in kinds:
            found[kind][split] = {str(h): {} for h in horizons}
        for name, index in columns(normaliser).items():
            tables = [system_means(each[:, :, index], system) for each, system in errors]
            for h in horizons:
                ours, worst = (
                    np.array([np.nanmean(table[rows, :h]) for rows in members]) for table in tables
                )
                best = np.nanmean(variance[owner == split][:, :, :h, index], axis=(1, 2, 3))
                row = (float(ours.mean()), float(worst.mean()), *share(ours, worst, best))
                for kind, value in zip(kinds, row, strict=True):
                    found[kind][split][str(h)][name] = value
    return found


def share(
    ours: Float[np.ndarray, " condition"],
    worst: Float[np.ndarray, " condition"],
    best: Float[np.ndarray, " condition"],
) -> tuple[float | None, float | None, float | None]:
    """The share of the way from worst to best, and its range; None where there is no such way."""

    def one(rows: np.ndarray) -> np.ndarray:
        o, w, b = (each[rows].mean(-1) for each in (ours, worst, best))
        return np.asarray(np.divide(w - o, w - b, out=np.full_like(w, np.nan), where=w > b))

    whole = float(one(np.arange(len(ours))[None])[0])
    draws = np.random.default_rng(0).integers(0, len(ours), (RESAMPLED, len(ours)))
    several = one(draws)
    if np.isnan(whole):
        return None, None, None
    if len(ours) < 2 or np.isnan(several).any():
        return whole, None, None
    low, high = np.quantile(several, RANGE)
    return whole, float(low), float(high)


def check_replicas(
    replicas: Trajectories, data: Trajectories, condition: int, horizon: int
) -> None:
    """Refuse replicas of another molecule, prepared in another way than the data, or too short."""
    if replicas.frames < condition + horizon:
        raise InputError(
            f"the replicas have {replicas.frames} frames, of which {condition} are the condition. "
            f"Expected {condition + horizon}, for the horizon {horizon}. Ask for shorter horizons "
            f"with --horizons, or simulate longer replicas."
        )
    theirs, ours = (
        json.loads(each.dataset.attrs["generator_settings"]) for each in (replicas, data)
    )
    for what in SAME:
        if what in theirs and what in ours and theirs[what] != ours[what]:
            raise InputError(
                f"the replicas have the {what} {theirs[what]}, the data {ours[what]}. Expected "
                f"futures of the same simulation, prepared in the same way. Give the file that was "
                f"written beside the data."
            )
    if replicas.topology != data.topology:
        raise InputError(
            "the replicas are of another molecule than the data. Expected the same atoms. Give "
            "the file that was written beside the data."
        )


def _variance(
    replicas: Trajectories, normaliser: Normaliser, condition: int, groups: dict[str, list[int]]
) -> Float[np.ndarray, "condition object time feature"]:
    scaled = normaliser.states(replicas.states)[:, :, condition:]
    return np.stack([scaled[rows].var(0, ddof=1) for rows in groups.values()])


def _deviation(positions: Float[np.ndarray, "replica object time 3"]) -> Float[np.ndarray, " time"]:
    """How far replicas of one condition are from the mean of the others, the best forecast.

    The mean of R - 1 others has a variance of its own, a (R - 1)-th of that of one; the factor
    takes it out. The root is taken for each, as it is for the forecasts that this stands under.
    """
    frames, count = positions.swapaxes(1, 2), len(positions)
    roots = []
    for k in range(count):
        others = np.delete(frames, k, axis=0).mean(0)
        onto = frames[k][:, None]
        gap = superposed(others[:, None], onto) - onto
        roots.append(np.sqrt((gap**2).sum(-1).mean((1, 2)) * (count - 1) / count))
    return np.asarray(np.mean(roots, axis=0))


def _groups(replicas: Trajectories, condition: int, source: str) -> dict[str, list[int]]:
    """Systems that share a condition."""
    settings = json.loads(replicas.dataset.attrs["generator_settings"])
    parted = settings.get("condition", condition) if isinstance(settings, dict) else condition
    if parted != condition:
        raise InputError(
            f"the replicas of {source} part after {parted} frames, but the model sees {condition}. "
            f"Expected the same number. Simulate replicas with --condition {condition}, or train "
            f"with window.condition={parted}."
        )
    owner = settings.get("replica_of") if isinstance(settings, dict) else None
    if not isinstance(owner, list) or len(owner) != replicas.systems:
        raise InputError(
            f"which systems share a condition is not said in {source}. Expected a file of "
            f"replicas. Make one with pgode simulate protein --replicas 4."
        )
    groups: dict[str, list[int]] = {}
    for system, name in enumerate(owner):
        groups.setdefault(str(name), []).append(system)
    if min(len(rows) for rows in groups.values()) < 2:
        raise InputError(
            f"there are conditions with one future only in {source}. Expected at least two of "
            f"each. Simulate more with --replicas."
        )
    return groups
