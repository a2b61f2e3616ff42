"""A law as people read it: a table of forces, the range seen, its sign, and a closed form."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from jaxtyping import Bool, Float

from pgode.evaluation.laws.choice import Fit, choose, size
from pgode.evaluation.laws.encounters import Ranges
from pgode.models.pgode.laws.model import ForceLaws

POINTS = 200
"""Distances of a table, from a tenth of the nearest seen to twice the farthest."""
FITTED = 100
"""Distances that a closed form is fitted to, within the range seen."""
FEWEST = 20
"""Fewest of these that a law has to be known at."""
KNOWN = 0.05
"""A law is known where its standard deviation is at most this share of its size."""
GAP = 2.0
"""Factor between two distances that a law may be less known in between: it may change its sign."""
TRIMS = sorted(
    ((low, high) for low in (0, 10, 20, 30, 40) for high in (0, 10, 20, 30) if low + high <= 50),
    key=sum,
)
"""Percent of the range (in log r) left out at either end until a form fits."""
NEGLIGIBLE = 1e-5
"""Drag per frame below which it is not mentioned: a thousandth of the velocity in 100 frames."""

Values = Float[np.ndarray, " points"]


class RadialLaw(Protocol):
    """What is read of a law: the force between two prototypes, in the units of the data."""

    @property
    def receiver(self) -> int:
        """Prototype that feels the force."""

    @property
    def sender(self) -> int:
        """Prototype that exerts it."""

    @property
    def nearest(self) -> float:
        """Smallest distance that training showed."""

    @property
    def farthest(self) -> float:
        """Largest distance that training showed."""

    def force(self, distance: Values) -> Values:
        """The force at some distances."""

    def deviation(self, distance: Values) -> Values:
        """Its standard deviation."""


@dataclass(frozen=True)
class LawReading:
    """The law between two prototypes; positive forces are repulsion.

    `mutual` laws act both ways. `nearest` to `farthest` are the distances seen in training;
    `fitted` is the part of them that the closed form describes, None where the law is too uncertain
    to be read. `crossings` are the distances in it where the force changes its sign, `outer_sign`
    is its sign at the far end. `distance`, `force` and `deviation` are a table of the law, also
    beyond the distances seen.
    """

    receiver: int
    sender: int
    mutual: bool
    nearest: float
    farthest: float
    distance: Values
    force: Values
    deviation: Values
    fitted: tuple[float, float] | None = None
    fit: Fit | None = None
    crossings: tuple[float, ...] = ()
    outer_sign: int = 0

    @property
    def form(self) -> Values:
        """The closed form at the distances of the table; NaN without one."""
        if self.fit is None or not self.fit.fits:
            return np.full(len(self.distance), np.nan)
        return self.fit.force(self.distance)

    @property
    def seen(self) -> Bool[np.ndarray, " points"]:
        """Which distances of the table training showed."""
        return np.asarray((self.distance >= self.nearest) & (self.distance <= self.farthest))


@dataclass(frozen=True)
class LawsReading:
    """All laws of a model with what else it found, in the units of the data.

    `drag` has the rates that are not negligible, by prototype. `agreement` is the adjusted Rand
    index of the gate with the true kinds of the test split, where the data store them.
    """

    laws: Sequence[LawReading]
    drag: dict[int, float]
    shares: tuple[float, ...]
    findings: tuple[str, ...]
    length_units: str
    time_units: str
    agreement: float | None = None

    @property
    def force_units(self) -> str:
        """Unit of the forces, which are accelerations; empty where the data name none."""
        if not self.length_units or not self.time_units:
            return ""
        return f"{self.length_units}/{self.time_units}^2"


def read_laws(
    model: ForceLaws, ranges: Ranges | None = None, agreement: float | None = None
) -> LawsReading:
    """Read the laws of a model; `ranges` are the distances seen of two prototypes, if known."""
    drag = model.get_buffer("drag").detach().numpy()[: model.used]
    units = {model.normaliser.units[k] for k in model.normaliser.positions}
    return LawsReading(
        laws=[read_law(law, model.settings.third_law, ranges) for law in model.laws()],
        drag={
            k: float(rate) / model.units.frame
            for k, rate in enumerate(drag)
            if abs(rate) > NEGLIGIBLE
        },
        shares=tuple(model.get_buffer("shares")[: model.used].tolist()),
        findings=model.findings(),
        length_units=units.pop() if len(units) == 1 else "",
        time_units=model.normaliser.time_units,
        agreement=agreement,
    )


def read_law(law: RadialLaw, mutual: bool, ranges: Ranges | None = None) -> LawReading:
    """One law: where it is known, its signs there, and the closed form."""
    own = (law.nearest, law.farthest)
    nearest, farthest = (ranges or {}).get((law.receiver, law.sender), own)
    table = np.geomspace(nearest / 10, farthest * 2, POINTS)
    distance = np.geomspace(nearest, farthest, FITTED)
    force, deviation = law.force(distance), law.deviation(distance)
    reading = LawReading(
        *(law.receiver, law.sender, mutual, nearest, farthest),
        *(table, law.force(table), law.deviation(table)),
    )
    inside = _longest(deviation <= KNOWN * size(distance, force), distance)
    r, f, s = distance[inside], force[inside], deviation[inside]
    if len(r) < FEWEST or not (np.abs(f) > 2 * s).any():
        return reading
    part, fit = _widest(r, f, s)
    r, f = r[part], f[part]
    flips = np.flatnonzero(np.signbit(f[1:]) != np.signbit(f[:-1]))
    return replace(
        reading,
        fitted=(float(r[0]), float(r[-1])),
        fit=fit,
        crossings=tuple(_zero(r[k : k + 2], f[k : k + 2]) for k in flips),
        outer_sign=int(np.sign(f[-1])),
    )


def _widest(r: Values, f: Values, s: Values) -> tuple[slice, Fit]:
    """The widest part that has a closed form, and this form; all of it if none has.

    Laws are least certain at both ends, where few pairs were seen.
    """
    for low, high in TRIMS:
        part = slice(low * len(r) // 100, len(r) - high * len(r) // 100)
        fit = choose(r[part], f[part], s[part])
        if fit.fits:
            return part, fit
    return slice(None), choose(r, f, s)


def _longest(known: Bool[np.ndarray, " points"], distance: Values) -> slice:
    """The longest stretch of known points, across gaps as narrow as a change of sign makes."""
    places = np.flatnonzero(known)
    if not len(places):
        return slice(0, 0)
    gaps = distance[places[1:]] > distance[places[:-1]] * GAP
    stretches = np.split(places, np.flatnonzero(gaps) + 1)
    best = max(stretches, key=lambda each: int(each[-1] - each[0]))
    return slice(int(best[0]), int(best[-1]) + 1)


def _zero(r: Values, f: Values) -> float:
    """Where a straight line through two points is zero."""
    return float(r[0] - f[0] * (r[1] - r[0]) / (f[1] - f[0]))
