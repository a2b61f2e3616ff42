"""The error that no forecast can avoid: how far futures part that begin in one and the same state.

Replicas share a condition and go on with other random forces. The best forecast of any of them is
their mean, and its squared error is their variance. Replicas begin with the same velocities and
the same solvent too, which no forecast is told, so the floor is a lower bound.
"""

import json
from typing import Any

import numpy as np
from jaxtyping import Float

from pgode.errors import InputError
from pgode.evaluation.errors import Table, columns, known_mean
from pgode.molecules import superposed
from pgode.normaliser import Normaliser
from pgode.trajectories import Trajectories


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
    frames = replicas.frames - condition
    if frames < max(horizons):
        raise InputError(
            f"{source} has {replicas.frames} frames, of which {condition} are the condition. "
            f"Expected {condition + max(horizons)}, for the horizon {max(horizons)}. Ask for "
            f"shorter horizons, or simulate longer replicas."
        )
    scaled = normaliser.states(replicas.states)[:, :, condition:]
    variance = np.stack([scaled[rows].var(0, ddof=1) for rows in groups.values()])
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


def gained(ours: Table, last: Table, floor: Table) -> Table:
    """(last value - ours) / (last value - floor): 0 is no better, 1 as good as can be."""

    def share(h: str, name: str) -> float | None:
        value, worst, best = ours[h][name], last[h][name], floor[h][name]
        if value is None or worst is None or best is None or worst <= best:
            return None
        return (worst - value) / (worst - best)

    return {h: {name: share(h, name) for name in row} for h, row in ours.items()}


def check_replicas(replicas: Trajectories, data: Trajectories) -> None:
    """Refuse replicas of another molecule, or prepared in another way than the data."""
    theirs, ours = (
        json.loads(each.dataset.attrs["generator_settings"]) for each in (replicas, data)
    )
    for what in ("structure", "structure_hash", "seed", "preparation"):
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
            f"{source} does not say which of its systems share a condition. Expected a file of "
            f"replicas. Make one with pgode simulate protein --replicas 4."
        )
    groups: dict[str, list[int]] = {}
    for system, name in enumerate(owner):
        groups.setdefault(str(name), []).append(system)
    if min(len(rows) for rows in groups.values()) < 2:
        raise InputError(
            f"{source} has conditions with one future only. Expected at least two of each. "
            f"Simulate more with --replicas."
        )
    return groups
