"""How trials on a kind of data are trained, scored and printed: particles, and molecules."""

from dataclasses import dataclass

from pgode.experiments.molecular_data import PROTEINS

CONDITION = 12
"""Observed frames, unless a figure varies them."""


@dataclass(frozen=True)
class Regime:
    """The same for every model on the data."""

    horizon: int
    """Forecast frames of the one model that serves all scored horizons."""
    scored: tuple[int, ...]
    curriculum: tuple[tuple[float, int], ...]
    """(share, horizon) pairs: until that share of the epochs, forecast that far."""
    fewer: int = 1
    """So many times fewer systems than a budget says, hence so many times its epochs."""
    digits: int = 2
    """Errors are printed in units of 1e-digits, as the paper prints them."""


PARTICLES = Regime(36, (12, 24, 36), ((0.4, 12), (0.6, 24)))
MOLECULES = Regime(24, (12, 24), ((0.4, 12),), fewer=5, digits=3)


def regime_of(dataset: str) -> Regime:
    """The regime of a data set, by its name."""
    return MOLECULES if dataset in PROTEINS else PARTICLES
