"""Radial laws: a power of the distance times a smooth correction, learned from data."""

import math
from operator import is_not
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from pgode.models.pgode.laws.motion.table import Cells

VANISHING = 1e-3
"""Share of a correction's largest value below which it is taken to be about to vanish."""
POWERS = (-13.0, 3.0)
"""Least and largest power that a law may go on with beyond the distances seen in training."""
SPLINES = 48
"""Cubic splines of a law's correction, uniform in the logarithm of the distance."""


def basis(
    x: Float[np.ndarray, " points"], low: float, spacing: float, splines: int
) -> tuple[Float[np.ndarray, "points splines"], Float[np.ndarray, "points splines"]]:
    """Cubic splines at `x`, and their derivatives; outside of the range as at its ends."""
    place = (x - low) / spacing
    inside = (place >= 0) & (place <= splines - 3)
    place = place.clip(0, splines - 3)
    cell = np.minimum(place.astype(int), splines - 4)
    s = place - cell
    values = [(1 - s) ** 3, 3 * s**3 - 6 * s**2 + 4, -3 * s**3 + 3 * s**2 + 3 * s + 1, s**3]
    slopes = [-3 * (1 - s) ** 2, 9 * s**2 - 12 * s, -9 * s**2 + 6 * s + 3, 3 * s**2]
    full, derivative = np.zeros((2, len(x), splines))
    rows = np.arange(len(x))
    for k in range(4):
        full[rows, cell + k] = values[k] / 6
        derivative[rows, cell + k] = np.where(inside, slopes[k] / (6 * spacing), 0.0)
    return full, derivative


def evaluate(
    exponents: Float[Tensor, " laws"],
    coefficients: Float[Tensor, "laws splines"],
    low: float,
    spacing: float,
    distance: Float[np.ndarray, " points"],
    inner: Float[Tensor, " laws"] | None = None,
) -> tuple[Float[Tensor, "laws points"], Float[Tensor, "laws points"]]:
    """Force over distance of every law, and its derivative by the squared distance.

    Nearer than the splines' range a law goes on with the power `inner`, or its own where that is
    infinite; farther, with the power that it ends in.
    """
    x, splines = np.log(distance), coefficients.shape[1]
    high = low + spacing * (splines - 3)
    inside = x.clip(low, high)
    values, slopes = (torch.from_numpy(b) for b in basis(inside, low, spacing, splines))
    correction, change = coefficients @ values.T, coefficients @ slopes.T
    beyond = torch.from_numpy(x - inside)
    own = torch.full_like(exponents, torch.inf) if inner is None else inner
    nearer = torch.where(own.isfinite(), own - exponents, 0.0)
    growth = torch.where(beyond < 0, nearer[:, None], _growth(exponents, correction, change))
    correction = correction * torch.exp(growth * beyond)
    change = torch.where(beyond == 0, change, growth * correction)
    power = torch.exp((exponents[:, None] - 1) * torch.from_numpy(x))
    slope = power * ((exponents[:, None] - 1) * correction + change)
    return power * correction, slope / (2 * torch.from_numpy(distance) ** 2)


def _growth(
    exponents: Float[Tensor, " laws"],
    correction: Float[Tensor, "laws points"],
    change: Float[Tensor, "laws points"],
) -> Float[Tensor, "laws points"]:
    """Change of the correction's logarithm, so that a law goes on as the power it ends in."""
    largest = correction.abs().amax(1, keepdim=True).clamp(min=1e-300)
    vanishing = correction.abs() < VANISHING * largest
    rate = change / torch.where(vanishing, 1.0, correction)
    steepest, flattest = (limit - exponents[:, None] for limit in POWERS)
    rate = torch.minimum(torch.maximum(rate, steepest), flattest)
    return torch.where(vanishing, 0.0, rate)


def law_numbers(prototypes: int, third_law: bool) -> Int[np.ndarray, "prototypes prototypes"]:
    """The number of the law by which each prototype (row) feels each other one (column).

    The laws among the first few prototypes come first. With Newton's third law, two prototypes
    feel each other by the same law.
    """
    numbers = np.zeros((prototypes, prototypes), np.int64)
    count = 0
    for k in range(prototypes):
        for m in range(k + 1):
            numbers[k, m] = count
            count += not third_law and m < k
            numbers[m, k] = count
            count += 1
    return numbers


class _Kept(NamedTuple):
    """A table, and the tensors that it was made of, as they were then."""

    laws: tuple[Tensor, ...]
    versions: list[int]
    table: Float[Tensor, "cells laws 4"]


class RadialLaws(nn.Module):
    """phi(r) = r^b S(log r), with S a spline over the distances seen in training.

    Nearer and farther the law goes on as the power law that it ends in.

    They are found, not trained, and kept in double precision: a law may be known to many digits.
    """

    span: Float[Tensor, "2"]
    exponents: Float[Tensor, " laws"]
    coefficients: Float[Tensor, "laws splines"]
    inner: Float[Tensor, " laws"]
    """Powers that laws go on with nearer than the splines' range; infinite for their own."""
    covariance: Float[Tensor, "laws splines+1 splines+1"]
    """Of each law's coefficients, then its exponent."""

    def __init__(self, laws: int, cells: Cells) -> None:
        super().__init__()
        self.cells = cells
        self.register_buffer("span", torch.tensor([-3.0, 0.0], dtype=torch.float64))
        self.register_buffer("exponents", torch.zeros(laws, dtype=torch.float64))
        self.register_buffer("coefficients", torch.zeros(laws, SPLINES, dtype=torch.float64))
        self.register_buffer("inner", torch.full((laws,), torch.inf, dtype=torch.float64))
        size = (laws, SPLINES + 1, SPLINES + 1)
        self.register_buffer("covariance", torch.zeros(size, dtype=torch.float64))
        self._table: _Kept | None = None

    @property
    def low(self) -> float:
        """Logarithm of the nearest distance of the splines."""
        return float(self.span[0])

    @property
    def spacing(self) -> float:
        """Distance of neighbouring splines."""
        return spacing_of(*self.span.tolist())

    def keep(self, exponents: np.ndarray, coefficients: np.ndarray, laws: int) -> None:
        """Remember the first few laws."""
        self.exponents[:laws] = torch.from_numpy(exponents)
        self.coefficients[:laws] = torch.from_numpy(coefficients)
        self.inner[:laws] = torch.inf

    def scale(self, factor: float) -> None:
        """Make all laws stronger."""
        self.coefficients.mul_(factor)
        self.covariance.mul_(factor**2)

    def table(self) -> Float[Tensor, "cells laws 4"]:
        """What the compiled core reads; made anew only after the laws have changed.

        Each change of a tensor raises its version, so that none goes unnoticed.
        """
        laws = (self.span, self.exponents, self.coefficients, self.inner)
        versions = [-1 if each.is_inference() else each._version for each in laws]
        kept = self._table
        if kept is None or kept.versions != versions or any(map(is_not, kept.laws, laws)):
            distance = np.sqrt(self.cells.edges)
            given = (self.exponents, self.coefficients, self.low, self.spacing, distance)
            with torch.inference_mode(False):  # It may later be part of a training step.
                table = self.cells.table(*evaluate(*given, self.inner))
            kept = self._table = _Kept(laws, versions, table)
        return kept.table


def spacing_of(low: float, high: float) -> float:
    """Distance of neighbouring splines over a range of logarithms."""
    return (high - low) / (SPLINES - 3)


def range_of(distances: Float[np.ndarray, " pairs"]) -> tuple[float, float]:
    """Logarithms of the nearest and farthest distances that a spline is fitted between."""
    low, high = np.quantile(distances, [2e-3, 1.0])
    return math.log(low), math.log(high)
