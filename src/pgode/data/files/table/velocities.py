"""Velocities from past positions only.

The velocity at a frame is the slope of the straight line, fitted by least squares, through the
object's last few observed positions, the present one included. No later frame has any influence, so
that a forecast which starts at this frame knows the velocity too. With 2 frames it is the backward
difference. The first frame of an object has no velocity.
"""

import numpy as np
from jaxtyping import Float, Int

DEFAULT = 3
"""Frames of the filter; docs/tables.md has the measurement it was chosen by."""
REACH = 2
"""Positions older than this many times the length of the filter, in frames, do not count."""


def past_slopes(
    values: Float[np.ndarray, "row axis"],
    times: Float[np.ndarray, " row"],
    owner: Int[np.ndarray, " row"],
    frame: Int[np.ndarray, " row"],
    length: int,
) -> Float[np.ndarray, "row axis"]:
    """The slope through each row and up to `length` - 1 earlier rows of the same owner.

    Rows are sorted by owner, then by frame. NaN where fewer than two positions are known.
    """
    known = np.isfinite(values)
    count = known.astype(np.float64)
    # Sums over differences from the present row: its own are 0, and nothing large cancels.
    t_sum, x_sum, tt_sum, tx_sum = (np.zeros(values.shape) for _ in range(4))
    for lag in range(1, min(length, len(values))):
        near = (owner[lag:] == owner[:-lag]) & (frame[lag:] - frame[:-lag] <= REACH * length)
        usable = near[:, None] & known[lag:] & known[:-lag]
        dt = np.where(usable, (times[:-lag] - times[lag:])[:, None], 0.0)
        dx = np.where(usable, values[:-lag] - values[lag:], 0.0)
        count[lag:] += usable
        t_sum[lag:] += dt
        x_sum[lag:] += dx
        tt_sum[lag:] += dt * dt
        tx_sum[lag:] += dt * dx
    spread = count * tt_sum - t_sum * t_sum
    with np.errstate(invalid="ignore", divide="ignore"):
        slope: Float[np.ndarray, "row axis"] = (count * tx_sum - t_sum * x_sum) / spread
    slope[~known | (count < 2)] = np.nan
    return slope


def velocity_name(position: str) -> str:
    """vx for x, v_pos_x for pos_x."""
    return f"v{position}" if len(position) == 1 else f"v_{position}"


def velocity_units(position: str, time: str) -> str:
    """The unit of a velocity; empty unless those of position and time are known."""
    return f"{position}/{time}" if position and time else ""
