"""Closed forms of a radial force: sums of basis functions with a few shape parameters.

    force(r) = sum_j a_j basis_j(r; shape)

The amplitudes a_j follow from the shape by linear least squares, so only shapes are searched. A
softened form takes s = sqrt(r^2 + e^2) for r and has the direction factor r / s: a potential of s.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from jaxtyping import Float

Distances = Float[np.ndarray, " points"]
Shape = Float[np.ndarray, " shape"]
Basis = Callable[[Distances, Shape], Float[np.ndarray, "points amplitudes"]]

EXPONENTS = (-3.0, -2.0, -1.0, 0.0, 1.0, 2.0)
STEEP = (-13.0, -7.0, -5.0, -4.0, *EXPONENTS)
"""Exponents to start from, those of Lennard-Jones among them."""
LENGTHS = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Lengths to start from, as shares of the largest distance."""


@dataclass(frozen=True)
class Form:
    """One family of closed forms.

    `amplitudes` and `shape` name the parameters; those in `lengths` are above zero. `text` has a
    place for each parameter, by name.
    """

    name: str
    amplitudes: tuple[str, ...]
    shape: tuple[str, ...]
    lengths: tuple[str, ...]
    text: str
    basis: Basis
    starts: Sequence[tuple[float, ...]]

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of all parameters, amplitudes first."""
        return self.amplitudes + self.shape

    def value(
        self, values: Float[np.ndarray, " parameters"], distance: Distances
    ) -> Float[np.ndarray, " points"]:
        """The force at some distances."""
        count = len(self.amplitudes)
        return np.asarray(self.basis(distance, values[count:]) @ values[:count])


def _power(r: Distances, shape: Shape) -> Float[np.ndarray, "points 1"]:
    return np.asarray(r[:, None] ** shape[0])


def _linear(r: Distances, shape: Shape) -> Float[np.ndarray, "points 2"]:
    return np.column_stack([r, np.ones_like(r)])


def _yukawa(r: Distances, shape: Shape) -> Float[np.ndarray, "points 1"]:
    return np.asarray(((1 / r + 1 / shape[0]) / r * np.exp(-r / shape[0]))[:, None])


def _screened(r: Distances, shape: Shape) -> Float[np.ndarray, "points 1"]:
    return np.asarray((r ** shape[0] * np.exp(-r / shape[1]))[:, None])


def _two_powers(r: Distances, shape: Shape) -> Float[np.ndarray, "points 2"]:
    return np.asarray(r[:, None] ** shape)


POWER = Form("power", ("a",), ("b",), (), "{a} r^{b}", _power, [(b,) for b in EXPONENTS])
LINEAR = Form("linear", ("a", "c"), (), (), "{a} r + {c}", _linear, [()])
YUKAWA = Form(
    *("Yukawa", ("a",), ("l",), ("l",), "{a} (1/r^2 + 1/(l r)) exp(-r/l), l = {l}"),
    *(_yukawa, [(length,) for length in LENGTHS]),
)
SCREENED = Form(
    *("power times exponential", ("a",), ("b", "l"), ("l",), "{a} r^{b} exp(-r/l), l = {l}"),
    *(_screened, [(b, length) for b in EXPONENTS for length in LENGTHS]),
)
TWO_POWERS = Form(
    *("two powers", ("a", "c"), ("b", "d"), (), "{a} r^{b} + {c} r^{d}"),
    *(_two_powers, list(combinations(STEEP, 2))),
)


def softened(form: Form) -> Form:
    """The same force of s = sqrt(r^2 + e^2), with the direction factor r / s."""

    def basis(r: Distances, shape: Shape) -> Float[np.ndarray, "points amplitudes"]:
        s = np.sqrt(r**2 + shape[-1] ** 2)
        return np.asarray(form.basis(s, shape[:-1]) * (r / s)[:, None])

    head, *rest = form.text.replace("r", "s").split(", ")
    head = f"({head})" if len(form.amplitudes) > 1 else head
    return Form(
        name=f"softened {form.name}",
        amplitudes=form.amplitudes,
        shape=(*form.shape, "e"),
        lengths=(*form.lengths, "e"),
        text=", ".join([f"{head} r/s", *rest, "s^2 = r^2 + e^2", "e = {e}"]),
        basis=basis,
        starts=[(*start, length) for start in form.starts for length in LENGTHS[:3]],
    )


FORMS = (
    *(POWER, LINEAR, YUKAWA, SCREENED),
    *(softened(POWER), softened(LINEAR), softened(YUKAWA)),
    *(TWO_POWERS, softened(TWO_POWERS)),
)
"""All forms, simplest first, those of as many parameters in the order of preference."""
