"""Laws and drags that best explain the observed changes, given what each object is."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from pgode.models.pgode.laws.evidence import evidence_kernel
from pgode.models.pgode.laws.evidence.evidence_kernel import Splines
from pgode.models.pgode.laws.evidence.inference import Inferred, trust
from pgode.models.pgode.laws.evidence.observation import Observation

NEGLIGIBLE = 1e-3
"""Weights below this are left out of the regression."""
SMOOTHNESS = 1e-4
"""Penalty on the bends of a law's correction, against the evidence of an average spline."""
FLATNESS = 1e-3
"""Penalty on its slope, as a share of that on bends: where no data are, a correction levels out."""


@dataclass(frozen=True)
class Fitted:
    """Coefficients of every law's splines, drag of every prototype, and how sure they are."""

    coefficients: Float[np.ndarray, "laws splines"]
    drag: Float[np.ndarray, " prototypes"]
    precision: Float[np.ndarray, "unknowns unknowns"]
    """Inverse covariance of all coefficients, then all drags, then the outer field."""
    outer: Float[np.ndarray, " axes+1"]
    """Push along each axis, then pull, which all objects feel; zero where it is not looked for."""

    @property
    def evidence(self) -> Float[np.ndarray, "laws splines"]:
        """How well the data decide each coefficient, all others being known."""
        diagonal = np.diag(self.precision)[: self.coefficients.size]
        return np.asarray(diagonal.reshape(self.coefficients.shape))


def regress(
    seen: Sequence[Observation],
    inferred: Sequence[Inferred],
    laws: Int[np.ndarray, "prototypes prototypes"],
    splines: Splines,
    noise: float,
    blur: float | None = None,
    *,
    outer: bool = False,
) -> Fitted:
    """Weighted least squares over all intervals of all systems, for an outer field too if asked.

    Intervals of close encounters count only if their squared error, `blur`, is given. It is large,
    so they say little about distances that others show, and all that is known of nearer ones.
    """
    kinds, count = len(laws), int(laws.max()) + 1
    size = splines.number
    field = seen[0].axes + 1 if outer else 0
    unknowns = count * size + kinds + field
    matrix, target = np.zeros((unknowns, unknowns)), np.zeros(unknowns)
    for each, state in zip(seen, inferred, strict=True):
        weights = np.where(state.weights < NEGLIGIBLE, 0.0, state.weights)
        columns = _design(each, weights, laws, splines)
        columns[..., :-1] *= state.strength
        trusted = trust(state.squares, noise, each.axes) * each.clear[:, :, None]
        if blur is not None:
            blurred = each.usable[:, None] & ~each.clear
            trusted += trust(state.squares, blur, each.axes) * blurred[:, :, None]
        trusted *= weights
        changes = each.changes
        felt = each.field if outer else None
        for k in range(kinds):
            own = np.flatnonzero(weights[:, k])
            if not len(own):
                continue
            rows = columns[:, own, k].reshape(-1, columns.shape[-1])
            weight = np.repeat(trusted[:, own, k].reshape(-1), 2 * each.axes)
            place = _unknowns_of(k, laws, size)
            if felt is not None:
                rows = np.concatenate([rows, felt[:, own].reshape(-1, field)], axis=1)
                place = np.concatenate([place, np.arange(unknowns - field, unknowns)])
            weighted = rows * weight[:, None]
            matrix[np.ix_(place, place)] += weighted.T @ rows
            target[place] += weighted.T @ changes[:, own].reshape(-1)
    precision = matrix + _penalty(matrix, count, size)
    solution = np.linalg.solve(precision, target)
    coefficients = solution[: count * size].reshape(count, size)
    drag = solution[count * size : count * size + kinds]
    found = solution[unknowns - field :] if outer else np.zeros(seen[0].axes + 1)
    return Fitted(coefficients, drag, precision, found)


def _design(
    seen: Observation,
    weights: Float[np.ndarray, "objects prototypes"],
    laws: Int[np.ndarray, "prototypes prototypes"],
    splines: Splines,
) -> np.ndarray:
    kinds = len(laws)
    columns = kinds * splines.number + 1
    out = np.empty((len(seen.durations), seen.objects, kinds, 2, seen.axes, columns))
    evidence_kernel.design(seen.paths, splines, laws, weights, out)
    return out


def _unknowns_of(
    prototype: int, laws: Int[np.ndarray, "prototypes prototypes"], size: int
) -> Int[np.ndarray, " columns"]:
    """The unknowns behind the columns of one prototype."""
    own = [law * size + np.arange(size) for law in laws[prototype]]
    count = int(laws.max()) + 1
    return np.concatenate([*own, [count * size + prototype]])


def _penalty(matrix: np.ndarray, count: int, size: int) -> np.ndarray:
    """Smoothness of every law, and enough to solve for what no data decide."""
    penalty = np.zeros_like(matrix)
    bends, slopes = (np.diff(np.eye(size), order, axis=0) for order in (2, 1))
    shape = bends.T @ bends + FLATNESS * slopes.T @ slopes
    average = np.trace(matrix[: count * size, : count * size]) / (count * size)
    for law in range(count):
        own = slice(law * size, (law + 1) * size)
        scale = np.trace(matrix[own, own]) / size
        penalty[own, own] = SMOOTHNESS * scale * shape
        penalty[own, own] += (1e-9 * scale + 1e-12 * average + 1e-300) * np.eye(size)
    for k in range(count * size, len(matrix)):
        penalty[k, k] = 1e-9 * matrix[k, k] + 1e-300
    return penalty
