"""How trials on a kind of data are trained, scored and printed: particles, and molecules."""

from dataclasses import dataclass
from typing import Any

from pgode.models.registry import model_class
from pgode.reproduce.plan.molecular_data import PROTEINS

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
    batch: int = 16
    fewer: int = 1
    """So many times fewer systems than a budget says choose the learning rate."""
    digits: int = 2
    """Errors are printed in units of 1e-digits, as the paper prints them."""
    settings: tuple[tuple[str, Any], ...] = ()
    """Of every model that has them."""

    def settings_of(self, model: str) -> dict[str, Any]:
        """Those of the settings that a model has."""
        there = model_class(model).config_type.model_fields
        return {name: value for name, value in self.settings if name.split(".")[1] in there}


PARTICLES = Regime(36, (12, 24, 36), ((0.4, 12), (0.6, 24)))
MOLECULES = Regime(
    24,
    (12, 24),
    ((0.4, 12),),
    batch=4,
    fewer=5,
    digits=3,
    settings=(("model.width", 64), ("model.solver.method", "euler")),
)
"""As the preset `molecules` of PGODE. A system has some two hundred atoms instead of ten particles,
and thermal noise sets the error: half the width and one Euler step per frame come to the same one
in a seventh of the time."""


def regime_of(dataset: str) -> Regime:
    """The regime of a data set, by its name."""
    return MOLECULES if dataset in PROTEINS else PARTICLES
