"""Positions in a periodic box: forecasts are wrapped into it as the training data are."""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from pgode.batches.normaliser import Normaliser
from pgode.models.pgode.laws.evidence.observation import Units


def low_end(
    normaliser: Normaliser, box: tuple[float, ...] | None
) -> Float[np.ndarray, " axes"] | None:
    """Where the box begins that all training positions are in; none if they were not wrapped.

    Boxes begin at zero or have zero as their middle. Data that leave both are continuous.
    """
    if box is None:
        return None
    sides = np.array(box)
    centre, scale = (
        np.array(values)[normaliser.positions] for values in (normaliser.centre, normaliser.scale)
    )
    reach = np.stack([centre - scale, centre + scale])
    for low in (np.zeros_like(sides), -sides / 2):
        if (reach[0] >= low.min()).all() and (reach[1] <= (low + sides).max()).all():
            return np.asarray(low)
    return None


def wrapped(
    states: Float[Tensor, "*rows features"],
    units: Units,
    low: Float[np.ndarray, " axes"] | None,
    periods: Float[np.ndarray, " axes"],
) -> Float[Tensor, "*rows features"]:
    """Scaled states with positions in the box that begins at `low`, in the units of the data."""
    if low is None:
        return states
    scale, centre, begin, period = (
        torch.from_numpy(each).to(states)
        for each in (units.scale[0], units.centre[0], low / units.length, periods)
    )
    place = states[..., units.positions] * scale + centre
    inside = begin + torch.remainder(place - begin, period)
    out = states.clone()
    out[..., units.positions] = (inside - centre) / scale
    return out
