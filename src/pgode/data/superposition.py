"""Superposition: rigid motions that put frames onto others by least squares."""

from typing import Any

import numpy as np
from jaxtyping import Float


def optimal_rotation(covariance: Any, namespace: Any = np) -> Any:
    """The rotation R that minimises |X R - Y|^2, given X^T Y (..., axes, axes) of centred points.

    Kabsch: R comes from the singular vectors of the covariance, and the sign of the last one is
    flipped where the result would be a reflection. `namespace` is `numpy` or `torch`, whichever the
    covariance belongs to, so that data (which needs no torch) and models share this function.
    """
    left, _, right = namespace.linalg.svd(covariance)
    sign = namespace.sign(namespace.linalg.det(left @ right))[..., None, None]
    right = namespace.concatenate([right[..., :-1, :], right[..., -1:, :] * sign], -2)
    return left @ right


def rotations(
    positions: Float[np.ndarray, "system time object axes"],
    onto: Float[np.ndarray, "system 1 object axes"],
) -> Float[np.ndarray, "system time axes axes"]:
    """The rotation of each frame, applied from the right, that puts it on `onto`.

    Both are taken relative to their centres.
    """
    moved, target = (each - each.mean(2, keepdims=True) for each in (positions, onto))
    return np.asarray(optimal_rotation(np.einsum("stax,suay->stxy", moved, target)))


def superposed(
    positions: Float[np.ndarray, "system time object axes"],
    onto: Float[np.ndarray, "system 1 object axes"] | None = None,
) -> Float[np.ndarray, "system time object axes"]:
    """Each frame rotated and shifted so that its mean squared distance to the first is least.

    All objects have the same weight. `onto` replaces the first frame as the target.
    """
    target = positions[:, :1] if onto is None else onto
    moved = positions - positions.mean(2, keepdims=True)
    return np.asarray(moved @ rotations(positions, target) + target.mean(2, keepdims=True))


def mean_structure(
    frames: Float[np.ndarray, "frame object axes"], rounds: int = 3
) -> Float[np.ndarray, "object axes"]:
    """The mean of frames of the same objects, after superposition.

    Frames are superposed on the first one, then on the mean of the result, and so on.
    """
    structure = frames[0]
    for _ in range(rounds):
        structure = superposed(frames[None], structure[None, None])[0].mean(0)
    return np.asarray(structure)
