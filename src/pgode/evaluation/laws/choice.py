"""The closed form of a law: the simplest that fits, or the closest with a word that it does not.

A form fits if it is nowhere farther from the law than `TOLERANCE` of the law's size plus `SIGMAS`
of the law's own standard deviations, these up to `MOST` of its size. A later form is taken only if
its largest misfit is `BETTER` times smaller, and `WORTH` times for each parameter it has more;
misfits below `EXACT` count as equal. Lengths that the distances cannot show (a screening far beyond
them, a softening far below) rule a form out.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pgode.evaluation.laws.forms import FORMS, Form
from pgode.evaluation.laws.least_squares import Table, best_fit, errors

TOLERANCE = 0.02
SIGMAS = 3.0
MOST = 0.1
BETTER = 2.0
WORTH = 5.0
EXACT = 0.05
"""In units of what is tolerated: a thousandth of the law's size."""
FLOOR = 0.01
"""Least standard deviation in the weights, as a share of the law's size: none may own the fit."""
HIDDEN = 4.0
"""Factor beyond the distances at which a length does not show any more."""
NEARBY = 1.25
"""The size of a law at r is its root mean square from r / NEARBY to r * NEARBY."""
SMALL = 1e-3
"""Least size of a law, as a share of its median: below, relative deviations mean nothing."""

Values = Float[np.ndarray, " points"]


@dataclass(frozen=True)
class Fit:
    """A closed form with its parameters, their standard errors, and how far it is from the law.

    `deviation` is the largest relative deviation over the distances fitted, `fits` whether the law
    allows it.
    """

    form: Form
    values: Values
    errors: Values
    deviation: float
    fits: bool

    def force(self, distance: Values) -> Values:
        """The closed form at some distances."""
        with np.errstate(all="ignore"):
            return self.form.value(self.values, distance)


def size(distance: Values, force: Values) -> Values:
    """The size of a law around each distance; the force itself may be zero."""
    x = np.log(distance)
    near = np.abs(x[:, None] - x[None]) <= np.log(NEARBY)
    return np.asarray(np.sqrt((near * force**2).sum(1) / near.sum(1)))


def choose(distance: Values, force: Values, deviation: Values) -> Fit:
    """The form of a law known at these distances, which are best spaced evenly in their log."""
    least = max(SMALL * float(np.median(np.abs(force))), 1e-300)
    scale = np.maximum(size(distance, force), least)
    sigma = np.sqrt(deviation**2 + (FLOOR * scale) ** 2)
    table = Table(distance, force, deviation, sigma)
    allowed = TOLERANCE * scale + np.minimum(SIGMAS * deviation, MOST * scale)
    best: tuple[float, Form, Values] | None = None
    for form in FORMS:
        values = best_fit(form, table)
        if not _visible(form, values, distance):
            continue
        off = np.abs(form.value(values, distance) - force)
        misfit = max(float((off / allowed).max()), EXACT)
        if best is None or misfit < best[0] / _worth(best[1], form):
            best = misfit, form, values
    assert best is not None  # A straight line has no length that could rule it out.
    misfit, form, values = best
    off = np.abs(form.value(values, distance) - force)
    return Fit(form, values, errors(form, table, values), float((off / scale).max()), misfit <= 1)


def _worth(best: Form, form: Form) -> float:
    """How many times smaller the misfit of another form has to be."""
    more = len(form.parameters) - len(best.parameters)
    return float(WORTH**more) if more > 0 else BETTER


def _visible(form: Form, values: Values, distance: Values) -> bool:
    """Whether every length is one that these distances can show."""
    named = dict(zip(form.parameters, values, strict=True))
    low, high = distance.min() / HIDDEN, distance.max() * HIDDEN
    return all(low <= named[name] <= high for name in form.lengths)
