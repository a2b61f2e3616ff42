"""Find laws and prototypes in training data, by turns: what objects are, and what laws act."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from pgode.models.forecaster import Progress
from pgode.models.pgode.laws.evidence.evidence_kernel import Splines
from pgode.models.pgode.laws.evidence.inference import (
    Inferred,
    infer,
)
from pgode.models.pgode.laws.evidence.observation import Observation
from pgode.models.pgode.laws.finding.regression import Fitted, regress
from pgode.models.pgode.laws.finding.turns import Fit, Found, knowledge, take_turn
from pgode.models.pgode.laws.finding.uniting import in_use, united
from pgode.models.pgode.laws.radial import basis

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
NEARLY_ALL = 0.95
"""Share of the training systems whose score is taken for usual."""
CERTAIN = 0.003
"""Deviation of a correction, against the law's largest, up to which the data decide it."""
FIELD = 0.9
"""Decrease of the squared error that an outer field must bring."""
PLAIN = 1e-3
"""Share of the squared changes that a single law may leave unexplained."""


def fit(
    seen: Sequence[Observation],
    how: Fit,
    splines: Splines,
    seed: int,
    progress: Progress,
    more: float = 1.0,
) -> Found:
    """Search prototypes in a few systems, unite what is the same, then fit laws to many.

    `more` times as many where each has few frames.
    """
    random = np.random.default_rng(seed)
    order = random.permutation(len(seen))
    few = [_beginning(seen[k]) for k in order[: int(more * SEARCH_SYSTEMS)]]
    many = [seen[k] for k in order[: int(more * FIT_SYSTEMS)]]
    splines = splines._replace(exponents=np.full(int(how.laws.max()) + 1, START_EXPONENT))
    how, found = _prototypes(few, how, splines, random, progress)
    for turn in range(FINAL_TURNS):
        progress("fit of the laws", 0.7 + 0.3 * turn / FINAL_TURNS)
        if turn == 1:
            found = replace(found, splines=_with_exponents(found))
        if turn == 0:
            known = knowledge(how, found)
            inferred = [infer(each.beside(found.fitted.outer), known, how.scope) for each in many]
            found = replace(found, inferred=inferred)
        found = take_turn(many, how, found, found.inferred)
    blur = _blur(many, found)
    states, noise = found.inferred, found.noise
    near = regress(many, states, how.laws, found.splines, noise, blur, outer=how.outer)
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
    field = replace(one, outer=not seen[0].periods.any())
    begin = np.random.default_rng(0)
    beside = _search(seen, field, _cut(splines, 1), begin, lambda share: None)
    if beside.noise < FIELD * single.noise and _matters(seen, beside.fitted.outer):
        one, single, how = field, beside, replace(how, outer=field.outer)
    if len(how.laws) == 1 or single.noise < PLAIN * _typical(seen) / (2 * seen[0].axes):
        return one, single
    results = []
    for number in range(SEARCHES):

        def tell(share: float, number: int = number) -> None:
            progress("search of prototypes", 0.6 * (number + share) / SEARCHES)

        results.append(_search(seen, how, splines, random, tell))
    progress("uniting prototypes that are the same", 0.65)
    return in_use(how, united(seen, how, min(results, key=lambda each: each.score)))


def _matters(seen: Sequence[Observation], outer: Float[np.ndarray, " axes+1"]) -> bool:
    """Whether an outer field causes a good part of the changes."""
    caused = [((each.field @ outer) ** 2).sum((2, 3))[each.clear] for each in seen]
    return float(np.median(np.concatenate(caused))) > PLAIN * _typical(seen)


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
    fitted = regress(seen, states, how.laws, splines, typical, outer=how.outer)
    found = Found(splines, fitted, shares, typical, 0.1, states, 0)
    turns = SEARCH_TURNS if kinds > 1 else 4
    for turn in range(turns):
        heat = max(1.0, HOTTEST * (1 - turn / (0.6 * turns)))
        found = take_turn(seen, how, found, found.inferred, heat)
        tell(turn / turns)
    return found


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
