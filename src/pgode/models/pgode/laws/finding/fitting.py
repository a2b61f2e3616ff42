"""Find laws and prototypes in training data, by turns: what objects are, and what laws act."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float, Int

from pgode.models.forecaster import Progress
from pgode.models.pgode.laws.evidence.evidence_kernel import Splines
from pgode.models.pgode.laws.evidence.inference import (
    Inferred,
    Knowledge,
    Scope,
    infer,
    unlikeliness,
)
from pgode.models.pgode.laws.evidence.observation import Observation
from pgode.models.pgode.laws.finding.regression import Fitted, regress
from pgode.models.pgode.laws.motion.table import Cells
from pgode.models.pgode.laws.radial import basis, evaluate

SEARCH_SYSTEMS, SEARCH_FRAMES = 40, 48
"""Systems and frames that prototypes are searched in: enough to tell kinds apart."""
FIT_SYSTEMS = 150
"""Systems that the laws are fitted to in the end."""
SEARCHES = 2
"""Random starts of the search; the most probable result counts."""
SEARCH_TURNS, FINAL_TURNS = 24, 4
HOTTEST = 20.0
"""How much the search softens evidence at first: objects must not settle before laws have form."""
START_EXPONENT = -1.0
UNUSED = 1e-9
"""Share of a prototype that no object uses."""
RARE = 0.01
"""Share below which a prototype is dropped: its objects are outliers, not a kind."""
OUTSIDE = 0.2
"""Deviation of strengths beyond three of the training systems': others may lie outside of them."""
NEARLY_ALL = 0.95
"""Share of the training systems whose score is taken for usual."""
CERTAIN = 0.003
"""Deviation of a correction, against the law's largest, up to which the data decide it."""
PLAIN = 1e-3
"""Share of the squared changes that a single law may leave unexplained."""
WORTH = 4.0
"""Factor by which the squared error must grow when two prototypes are united that are different."""


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


def fit(
    seen: Sequence[Observation], how: Fit, splines: Splines, seed: int, progress: Progress
) -> Found:
    """Search prototypes in a few systems, unite what is the same, then fit laws to many."""
    random = np.random.default_rng(seed)
    order = random.permutation(len(seen))
    few = [_beginning(seen[k]) for k in order[:SEARCH_SYSTEMS]]
    many = [seen[k] for k in order[:FIT_SYSTEMS]]
    splines = splines._replace(exponents=np.full(int(how.laws.max()) + 1, START_EXPONENT))
    how, found = _prototypes(few, how, splines, random, progress)
    for turn in range(FINAL_TURNS):
        progress("fit of the laws", 0.7 + 0.3 * turn / FINAL_TURNS)
        if turn == 1:
            found = replace(found, splines=_with_exponents(found))
        if turn == 0:
            known = _knowledge(how, found)
            found = replace(found, inferred=[infer(each, known, how.scope) for each in many])
        found = _turn(many, how, found, found.inferred)
    blur = _blur(many, found)
    states, noise = found.inferred, found.noise
    near = regress(many, states, how.laws, found.splines, noise, blur)
    level, certain = _levelled(found.fitted)
    blended = np.where(certain, level, near.coefficients)
    starts = (level, near.coefficients, blended)
    scores = [s.score / max(e.clear.sum(), 1) for e, s in zip(many, found.inferred, strict=True)]
    return replace(
        found,
        fitted=replace(found.fitted, coefficients=level),
        starts=starts,
        usual=float(np.quantile(scores, NEARLY_ALL)),
    )


def _levelled(fitted: Fitted) -> tuple[np.ndarray, np.ndarray]:
    """Corrections that keep their last certain value where the data say too little, and where."""
    deviation = np.sqrt(np.diag(np.linalg.inv(fitted.precision)))[: fitted.coefficients.size]
    deviation = deviation.reshape(fitted.coefficients.shape)
    levelled = fitted.coefficients.copy()
    inside = np.zeros(levelled.shape, bool)
    for row, error, known in zip(levelled, deviation, inside, strict=True):
        certain = np.flatnonzero(error < CERTAIN * np.abs(row).max())
        if len(certain):
            row[: certain[0]] = row[certain[0]]
            row[certain[-1] :] = row[certain[-1]]
            known[certain[0] :] = True
    return levelled, inside


def _prototypes(
    seen: Sequence[Observation],
    how: Fit,
    splines: Splines,
    random: np.random.Generator,
    progress: Progress,
) -> tuple[Fit, Found]:
    """The prototypes in use: one if a single law leaves nearly nothing, else those of a search."""
    one = replace(how, laws=np.zeros((1, 1), np.int64))
    single = _search(seen, one, _cut(splines, 1), random, lambda share: None)
    if len(how.laws) == 1 or single.noise < PLAIN * _typical(seen) / (2 * seen[0].axes):
        return one, single
    results = []
    for number in range(SEARCHES):

        def tell(share: float, number: int = number) -> None:
            progress("search of prototypes", 0.6 * (number + share) / SEARCHES)

        results.append(_search(seen, how, splines, random, tell))
    progress("uniting prototypes that are the same", 0.65)
    return _in_use(how, _united(seen, how, min(results, key=lambda each: each.score)))


def _cut(splines: Splines, laws: int) -> Splines:
    """The splines of the first few laws."""
    return splines._replace(exponents=splines.exponents[:laws])


def _typical(seen: Sequence[Observation]) -> float:
    """The median square of a change."""
    squares = [(each.changes**2).sum((2, 3))[each.clear] for each in seen]
    return max(float(np.median(np.concatenate(squares))), 1e-300)


def _blur(seen: Sequence[Observation], found: Found) -> float | None:
    """Typical squared error of close encounters, which paths between frames do not show."""
    left = [
        (state.squares * state.weights[None]).sum(-1)[each.usable[:, None] & ~each.clear]
        for each, state in zip(seen, found.inferred, strict=True)
    ]
    values = np.concatenate(left)
    return float(np.median(values)) / (2 * seen[0].axes) if len(values) else None


def _beginning(seen: Observation) -> Observation:
    """The first frames of a system."""
    last = min(SEARCH_FRAMES, len(seen.positions))
    return replace(
        seen,
        positions=seen.positions[:last],
        velocities=seen.velocities[:last],
        durations=seen.durations[: last - 1],
        usable=seen.usable[: last - 1],
    )


def _search(
    seen: Sequence[Observation],
    how: Fit,
    splines: Splines,
    random: np.random.Generator,
    tell: Callable[[float], None],
) -> Found:
    """From random weights, while the evidence is softened less and less."""
    kinds = len(how.laws)
    typical = _typical(seen)
    states = [
        Inferred(
            weights=random.dirichlet(np.full(kinds, 0.3), each.objects),
            strength=1.0,
            deviation=0.1,
            squares=np.full((len(each.durations), each.objects, kinds), typical),
            score=0.0,
        )
        for each in seen
    ]
    shares = np.full(kinds, 1 / kinds)
    fitted = regress(seen, states, how.laws, splines, typical)
    found = Found(splines, fitted, shares, typical, 0.1, states, 0)
    turns = SEARCH_TURNS if kinds > 1 else 4
    for turn in range(turns):
        heat = max(1.0, HOTTEST * (1 - turn / (0.6 * turns)))
        found = _turn(seen, how, found, found.inferred, heat)
        tell(turn / turns)
    return found


def _turn(
    seen: Sequence[Observation],
    how: Fit,
    found: Found,
    states: Sequence[Inferred],
    heat: float = 1.0,
) -> Found:
    """Fit the laws to what objects are, then infer what they are from the laws."""
    fitted = regress(seen, states, how.laws, found.splines, found.noise)
    known = _knowledge(how, replace(found, fitted=fitted))
    new = [
        infer(each, known, how.scope, state.weights, heat=heat)
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
    spread = 3 * float(strengths.std() / mean) + OUTSIDE
    equations = sum(2 * each.axes * int(each.clear.sum()) for each in seen)
    return Found(found.splines, fitted, shares / shares.sum(), noise, spread, new, equations)


def _knowledge(how: Fit, found: Found) -> Knowledge:
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


def _united(seen: Sequence[Observation], how: Fit, found: Found) -> Found:
    """Unite prototypes as long as the data are explained as well by fewer laws."""
    for _ in range(int((found.shares > RARE).sum()) - 1):
        merged = _merged(seen, how, found, *_most_alike(seen, found))
        if merged.noise > WORTH * found.noise:
            break
        found = merged
    return found


def _most_alike(seen: Sequence[Observation], found: Found) -> tuple[int, int]:
    """Two prototypes of which one explains the other's objects best: the one to go, and that."""
    kinds = len(found.shares)
    loss = np.zeros((kinds, kinds))
    for each, state in zip(seen, found.inferred, strict=True):
        unlikely = unlikeliness(state.squares, found.noise, each.axes)
        total = (unlikely * each.clear[:, :, None]).sum(0)
        for k in range(kinds):
            loss[k] += state.weights[:, k] @ (total - total[:, k : k + 1])
    cost = np.full((kinds, kinds), np.inf)
    used = np.flatnonzero(found.shares > RARE)
    for k, m in itertools.permutations(used.tolist(), 2):
        cost[k, m] = loss[k, m]
    gone, kept = np.unravel_index(np.argmin(cost), cost.shape)
    return int(gone), int(kept)


def _in_use(how: Fit, found: Found) -> tuple[Fit, Found]:
    """Only the prototypes in use, the most frequent first."""
    used = int((found.shares > RARE).sum())
    order = np.argsort(-found.shares, kind="stable")[:used]
    laws = how.laws[:used, :used]
    count = int(laws.max()) + 1
    source = np.zeros(count, np.int64)
    source[laws] = how.laws[np.ix_(order, order)]
    fitted = found.fitted
    return replace(how, laws=np.ascontiguousarray(laws)), replace(
        found,
        splines=found.splines._replace(exponents=found.splines.exponents[source]),
        fitted=Fitted(fitted.coefficients[source], fitted.drag[order], np.empty((0, 0))),
        shares=found.shares[order] / found.shares[order].sum(),
        inferred=[
            replace(each, weights=each.weights[:, order], squares=each.squares[..., order])
            for each in found.inferred
        ],
    )


def _merged(seen: Sequence[Observation], how: Fit, found: Found, gone: int, kept: int) -> Found:
    """The fit with the objects of one prototype given to another."""
    states = []
    for state in found.inferred:
        weights = state.weights.copy()
        weights[:, kept] += weights[:, gone]
        weights[:, gone] = 0.0
        states.append(replace(state, weights=weights))
    shares = found.shares.copy()
    shares[kept] += shares[gone]
    shares[gone] = UNUSED
    start = replace(found, shares=shares / shares.sum(), inferred=states)
    once = _turn(seen, how, start, states)
    return _turn(seen, how, once, once.inferred)


def _with_exponents(found: Found) -> Splines:
    """The power of each law: the slope of its logarithm, where it keeps its sign."""
    splines = found.splines
    exponents = splines.exponents.copy()
    x = splines.low + splines.spacing * np.linspace(0, splines.number - 3, 200)
    values, _ = basis(x, splines.low, splines.spacing, splines.number)
    for law, evidence in enumerate(found.fitted.evidence):
        density = values @ evidence
        if density.max() <= 0:
            continue
        correction = values @ found.fitted.coefficients[law]
        weight = np.sqrt(density / density.max()) * (density > 1e-4 * density.max())
        signs = np.sign(correction[weight > 0])
        if (signs != signs[0]).any() or not signs[0]:
            continue
        slope = np.polyfit(x, np.log(np.maximum(np.abs(correction), 1e-300)), 1, w=weight)[0]
        exponents[law] += slope
    return splines._replace(exponents=exponents)
