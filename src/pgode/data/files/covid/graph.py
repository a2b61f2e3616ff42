"""Graphs of the states: who shares a border, or a gravity model of travel."""

import numpy as np
from jaxtyping import Float

from pgode.data.files.covid.states import STATES

STRONGEST = 8
"""Links of each state that the gravity graph keeps."""
RADIUS = 6371.0
"""Of the earth, in km."""

Matrix = Float[np.ndarray, "state state"]


def neighbours() -> Matrix:
    """1 where two states share a border."""
    place = {state.code: number for number, state in enumerate(STATES)}
    edges = np.zeros((len(STATES), len(STATES)))
    for number, state in enumerate(STATES):
        edges[number, [place[code] for code in state.neighbours]] = 1.0
    return edges


def gravity(
    population: Float[np.ndarray, " state"],
    lat: Float[np.ndarray, " state"],
    lon: Float[np.ndarray, " state"],
    strongest: int = STRONGEST,
) -> Matrix:
    """Population of the sender over its squared distance, the strongest links of each receiver.

    The weights of a receiver have the sum 1: how much travel there is in all is not known, only
    where it comes from. The population of the receiver cancels.
    """
    y, x = np.radians(lat), np.radians(lon)
    half = (
        np.sin((y[:, None] - y) / 2) ** 2
        + np.cos(y[:, None]) * np.cos(y) * np.sin((x[:, None] - x) / 2) ** 2
    )
    distance = 2 * RADIUS * np.arcsin(np.sqrt(half))
    np.fill_diagonal(distance, np.inf)
    pull = population / distance**2
    weakest = np.sort(pull, axis=1)[:, -strongest][:, None]
    kept = np.where(pull >= weakest, pull, 0.0)
    return np.asarray(kept / kept.sum(1, keepdims=True))
