"""Unite prototypes that are the same, and keep those in use."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pgode.models.pgode.laws.evidence.inference import unlikeliness
from pgode.models.pgode.laws.evidence.observation import Observation
from pgode.models.pgode.laws.finding.turns import UNUSED, Fit, Found, take_turn

RARE = 0.01
"""Share below which a prototype is dropped: its objects are outliers, not a kind."""
WORTH = 4.0
"""Factor by which the squared error must grow when two prototypes are united that are different."""


def united(seen: Sequence[Observation], how: Fit, found: Found) -> Found:
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


def in_use(how: Fit, found: Found) -> tuple[Fit, Found]:
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
        fitted=replace(
            fitted,
            coefficients=fitted.coefficients[source],
            drag=fitted.drag[order],
            precision=np.empty((0, 0)),
        ),
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
    once = take_turn(seen, how, start, states)
    return take_turn(seen, how, once, once.inferred)
