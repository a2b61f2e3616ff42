"""Running time faster or slower: from one observed system, another of the same kind.

If q(t) solves an autonomous second-order law, then q(c t), with velocity c v(c t), solves the same
law with all forces c^2 times as strong. Training on such copies shows a model systems that are
stronger and weaker than any that were observed, which is what out-of-distribution forecasts need.
"""

import numpy as np
from jaxtyping import Bool, Float, Int


def stretched_motion(
    position: Float[np.ndarray, "system object frame axis"],
    rate: Float[np.ndarray, "system object frame axis"],
    left: Int[np.ndarray, "system frame"],
    share: Float[np.ndarray, "system frame"],
) -> tuple[np.ndarray, np.ndarray]:
    """Position and its rate of change per old frame at fractional frames left + share.

    Cubic Hermite interpolation: it uses the velocities that the data hold, and its error is of
    fourth order in the frame (third for the rate).
    """
    q0, q1 = taken(position, left), taken(position, left + 1)
    m0, m1 = taken(rate, left), taken(rate, left + 1)
    h = share[:, None, :, None]
    moved = (
        (1 + 2 * h) * (1 - h) ** 2 * q0
        + h * (1 - h) ** 2 * m0
        + h**2 * (3 - 2 * h) * q1
        + h**2 * (h - 1) * m1
    )
    slope = 6 * h * (h - 1) * (q0 - q1) + (1 - h) * (1 - 3 * h) * m0 + h * (3 * h - 2) * m1
    return moved, slope


def fractional_frames(
    factors: Float[np.ndarray, " system"], frames: Int[np.ndarray, " system"], longest: int
) -> tuple[
    Int[np.ndarray, "system frame"],
    Float[np.ndarray, "system frame"],
    Bool[np.ndarray, "system frame"],
]:
    """Where the new frames lie between the old ones, and which of them exist."""
    at = np.arange(longest) * factors[:, None]
    exists = at <= frames[:, None] - 1 + 1e-9
    left = np.clip(np.floor(at).astype(np.int64), 0, np.maximum(frames[:, None] - 2, 0))
    return left, np.clip(at - left, 0.0, 1.0), exists


def taken(
    values: np.ndarray, frames: Int[np.ndarray, "system frame"]
) -> np.ndarray:
    """values (system, object, frame, ...) at each system's own frames."""
    systems = np.arange(len(values))[:, None, None]
    objects = np.arange(values.shape[1])[None, :, None]
    return np.asarray(values[systems, objects, frames[:, None, :]])
