"""Weighted least squares of a closed form: amplitudes linearly, shapes by Levenberg-Marquardt."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pgode.evaluation.laws.forms import Form

STARTS = 4
"""Best starts that are followed to their minimum."""
STEPS = 60
"""Most steps of one search."""
LARGEST = 20.0
"""Largest exponent, and largest logarithm of a length in units of the largest distance."""
INDEPENDENT = 10
"""Stretches of a law that err independently. Neighbouring points share splines and err alike."""

Values = Float[np.ndarray, " points"]
Parameters = Float[np.ndarray, " parameters"]
Residual = Callable[[Parameters], Values]


@dataclass(frozen=True)
class Table:
    """A law at some distances, with its deviations and the weights' standard deviations."""

    distance: Values
    force: Values
    deviation: Values
    sigma: Values


def best_fit(form: Form, table: Table) -> Parameters:
    """The parameters with the least weighted squares."""
    reach = float(table.distance.max())
    logs = np.array([name in form.lengths for name in form.shape], dtype=bool)

    def natural(hidden: Parameters) -> Parameters:
        return np.where(logs, reach * np.exp(np.where(logs, hidden, 0.0)), hidden)

    def residual(hidden: Parameters) -> Values:
        return _projected(form, table, natural(hidden))[1]

    starts = [np.where(logs, np.log(np.where(logs, s, 1.0)), s) for s in map(np.array, form.starts)]
    starts.sort(key=lambda start: float((residual(start) ** 2).sum()))
    found = [_descend(residual, start) for start in starts[:STARTS]]
    shape = natural(min(found, key=lambda each: float((residual(each) ** 2).sum())))
    return np.concatenate([_projected(form, table, shape)[0], shape])


def errors(form: Form, table: Table, values: Parameters) -> Parameters:
    """Standard errors: what the law's own deviations and the misfit of the form allow.

    Points are no independent measurements, see `INDEPENDENT`.
    """
    slopes = _slopes(form, table, values) / table.sigma[:, None]
    gain = np.linalg.pinv(slopes, rcond=1e-12)
    misfit = (table.force - form.value(values, table.distance)) / table.sigma
    own = table.deviation / table.sigma
    freedom = max(INDEPENDENT - len(values), 1)
    spread = own**2 + (misfit**2).mean() * INDEPENDENT / freedom
    alike = len(table.distance) / INDEPENDENT
    return np.asarray(np.sqrt(alike * (gain**2 @ spread)))


def _projected(form: Form, table: Table, shape: Parameters) -> tuple[Parameters, Values]:
    """The best amplitudes for a shape, and the weighted residuals they leave."""
    with np.errstate(all="ignore"):
        basis = form.basis(table.distance, shape) / table.sigma[:, None]
    target = table.force / table.sigma
    size = np.sqrt((basis**2).sum(0))
    if not np.isfinite(size).all() or not (size > 0).all():
        return np.zeros(basis.shape[1]), target
    amplitudes, *_ = np.linalg.lstsq(basis / size, target, rcond=1e-12)
    return amplitudes / size, target - basis @ (amplitudes / size)


def _descend(residual: Residual, start: Parameters) -> Parameters:
    """Levenberg-Marquardt with differences for derivatives."""
    if not len(start):
        return start
    here, damping = start, 1e-2
    left = residual(here)
    for _ in range(STEPS):
        steps = 1e-6 * np.eye(len(here))
        jacobian = np.column_stack(
            [(residual(here + step) - residual(here - step)) / 2e-6 for step in steps]
        )
        square, slope = jacobian.T @ jacobian, jacobian.T @ left
        for _ in range(12):
            bend = np.diag(damping * (np.diag(square) + 1e-12))
            there = np.clip(here - np.linalg.solve(square + bend, slope), -LARGEST, LARGEST)
            after = residual(there)
            if (after**2).sum() < (left**2).sum():
                break
            damping *= 4
        else:
            return here
        gain = 1 - (after**2).sum() / (left**2).sum()
        here, left, damping = there, after, damping / 10
        if gain < 1e-12:
            break
    return here


def _slopes(form: Form, table: Table, values: Parameters) -> Float[np.ndarray, "points parameters"]:
    """Derivatives of the force by each parameter."""
    columns = []
    for index in range(len(values)):
        step = np.zeros(len(values))
        step[index] = 1e-6 * max(abs(values[index]), 1e-9)
        ahead, behind = (form.value(values + way * step, table.distance) for way in (1, -1))
        columns.append((ahead - behind) / (2 * step[index]))
    return np.column_stack(columns)
