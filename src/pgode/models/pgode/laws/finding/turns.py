"""One turn of a fit: laws from what objects are, then what they are from the laws."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float, Int

from pgode.models.pgode.laws.evidence.evidence_kernel import Splines
from pgode.models.pgode.laws.evidence.inference import Inferred, Knowledge, Scope, infer
from pgode.models.pgode.laws.evidence.observation import Observation
from pgode.models.pgode.laws.finding.regression import Fitted, regress
from pgode.models.pgode.laws.motion.table import Cells
from pgode.models.pgode.laws.radial import evaluate

UNUSED = 1e-9
"""Share of a prototype that no object uses."""
OUTSIDE = 0.2
"""Deviation of strengths beyond three of the training systems': others may lie outside of them."""


@dataclass(frozen=True)
class Found:
    """The result of a fit: the laws, the prototypes' shares, and what was inferred with them."""

    splines: Splines
    fitted: Fitted
    shares: Float[np.ndarray, " prototypes"]
    noise: float
    spread: float
    inferred: list[Inferred]
    equations: int
    """Number of observed changes, counted over axes."""
    usual: float = np.inf
    """Score per interval and object that nearly all systems stay below."""
    starts: tuple[Float[np.ndarray, "laws splines"], ...] = ()
    """Coefficients to refine: nearer than is certain the law's power, what close encounters show
    (see `regress`), or that only where nothing is certain."""

    @property
    def score(self) -> float:
        """Negative logarithm of the probability of everything observed, up to a constant."""
        noise = self.equations * np.log(self.noise) / 2
        return float(sum(each.score for each in self.inferred) + noise)


@dataclass(frozen=True)
class Fit:
    """What stays the same during a fit."""

    laws: Int[np.ndarray, "prototypes prototypes"]
    scope: Scope
    cells: Cells
    outer: bool = False
    """Whether there is an outer field."""


def take_turn(
    seen: Sequence[Observation],
    how: Fit,
    found: Found,
    states: Sequence[Inferred],
    heat: float = 1.0,
) -> Found:
    """Fit the laws to what objects are, then infer what they are from the laws."""
    fitted = regress(seen, states, how.laws, found.splines, found.noise, outer=how.outer)
    known = knowledge(how, replace(found, fitted=fitted))
    new = [
        infer(each.beside(fitted.outer), known, how.scope, state.weights, heat=heat)
        for each, state in zip(seen, states, strict=True)
    ]
    strengths = np.array([state.strength for state in new])
    mean = float(strengths.mean()) or 1.0
    new = [replace(s, strength=s.strength / mean, deviation=s.deviation / mean) for s in new]
    fitted = replace(fitted, coefficients=fitted.coefficients * mean)
    weights = np.concatenate([state.weights for state in new])
    shares = weights.mean(0) + UNUSED
    left = [
        (state.squares * state.weights[None]).sum(-1)[each.clear]
        for each, state in zip(seen, new, strict=True)
    ]
    noise = max(float(np.median(np.concatenate(left))) / (2 * seen[0].axes), 1e-18)
    deviations = np.array([state.deviation for state in new])
    spread = 3 * deviation_of(strengths / mean, deviations) + OUTSIDE
    equations = sum(2 * each.axes * int(each.clear.sum()) for each in seen)
    return Found(found.splines, fitted, shares / shares.sum(), noise, spread, new, equations)


def deviation_of(
    strengths: Float[np.ndarray, " systems"], deviations: Float[np.ndarray, " systems"]
) -> float:
    """How much strengths differ between systems, beyond what each of them is uncertain by."""
    apart = 1.4826 * float(np.median(np.abs(strengths - np.median(strengths))))
    unsure = float(np.median(deviations))
    return float(np.sqrt(max(apart**2 - unsure**2, 0.0)))


def knowledge(how: Fit, found: Found) -> Knowledge:
    """What inference needs of a fit."""
    splines, fitted = found.splines, found.fitted
    laws = evaluate(
        torch.from_numpy(splines.exponents),
        torch.from_numpy(fitted.coefficients),
        *(splines.low, splines.spacing, np.sqrt(how.cells.edges)),
    )
    return Knowledge(
        table=how.cells.table(*laws).numpy(),
        origin=how.cells.first,
        laws=how.laws,
        drag=fitted.drag,
        shares=found.shares,
        noise=found.noise,
        spread=found.spread,
    )
