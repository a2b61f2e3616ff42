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
from pgode.evaluation.errors import columns, known_mean
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

    `rmsd` is by forecast frame, after superposition, over all splits together.
    """
    groups = _groups(replicas, source)
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
    return {
        "mse": found,
        "rmsd": _deviation(positions, groups).tolist() if len(normaliser.positions) == 3 else [],
        "conditions": len(groups),
        "replicas": min(len(rows) for rows in groups.values()),
    }


def _deviation(
    positions: Float[np.ndarray, "system object time 3"], groups: dict[str, list[int]]
) -> Float[np.ndarray, " time"]:
    """Root of the mean squared distance to the mean of the others, which is the best forecast.

    The mean of R - 1 others has a variance of its own, a (R - 1)-th of that of one; the factor
    takes it out.
    """
    total: list[Float[np.ndarray, " time"]] = []
    for rows in groups.values():
        frames = positions[rows].swapaxes(1, 2)
        for k in range(len(rows)):
            others = np.delete(frames, k, axis=0).mean(0)
            onto = frames[k][:, None]
            gap = superposed(others[:, None], onto) - onto
            square = (gap**2).sum(-1).mean((1, 2))
            total.append(square * (len(rows) - 1) / len(rows))
    return np.asarray(np.sqrt(np.mean(total, axis=0)))


def _groups(replicas: Trajectories, source: str) -> dict[str, list[int]]:
    """Systems that share a condition."""
    settings = json.loads(replicas.dataset.attrs["generator_settings"])
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
