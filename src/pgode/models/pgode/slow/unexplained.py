"""Whether laws explain how velocities change, or message prototypes are needed beside them."""

from collections.abc import Sequence

import numpy as np

from pgode.batches.windows import Windows
from pgode.models.pgode.config import PGODEConfig
from pgode.models.pgode.laws.config import LawsConfig
from pgode.models.pgode.laws.evidence.evidence_kernel import Splines
from pgode.models.pgode.laws.evidence.inference import infer
from pgode.models.pgode.laws.evidence.observation import Observation, observations
from pgode.models.pgode.laws.finding.fitting import fit
from pgode.models.pgode.laws.finding.turns import Fit
from pgode.models.pgode.laws.model import ForceLaws
from pgode.models.pgode.laws.radial import SPLINES, range_of, spacing_of

LARGEST = 0.01
"""Share of squared changes of velocity that laws may leave unexplained without messages."""
SYSTEMS = 40
"""Training systems that are looked at."""


def chosen(config: PGODEConfig, training: Windows, seed: int = 0) -> tuple[PGODEConfig, str]:
    """Settings in which `dynamics.messages` is true or false, and the reason in a sentence.

    Settings that decide it already stay as they are, and need no sentence.
    """
    if not isinstance(config.dynamics, LawsConfig) or config.dynamics.messages is not None:
        return config, ""
    share = unexplained(config, training, seed)
    needed = share > LARGEST
    result = "message prototypes are added" if needed else "no message prototypes are needed"
    return config.resolved(messages=needed), (
        f"messages: laws between pairs leave {share:.2g} of the squared changes of velocity "
        f"unexplained (median over objects and frames); {result}"
    )


def unexplained(config: PGODEConfig, training: Windows, seed: int = 0) -> float:
    """Median over objects and frames of the squared change that laws do not explain, as a share.

    One kind of objects is tried first, because its fit is quick; more kinds only where it fails.
    """
    assert isinstance(config.dynamics, LawsConfig)
    share = 1.0
    for kinds in sorted({1, config.dynamics.prototypes}):
        dynamics = config.dynamics.model_copy(update={"prototypes": kinds})
        model = ForceLaws(config.model_copy(update={"dynamics": dynamics}), training.normaliser)
        seen = [each for each in frames(model, training, seed) if len(each.receivers)]
        share = min(share, _left(model, seen, seed))
        if share <= LARGEST:
            break
    return share


def frames(model: ForceLaws, training: Windows, seed: int) -> list[Observation]:
    """All frames of some systems, where two follow each other."""
    systems = np.random.default_rng(seed).permutation(len(training))[:SYSTEMS]
    horizon = training.whole_horizon(len(systems))
    batch = training.batch(systems, np.zeros_like(systems), horizon)
    seen = observations(batch, model.units, model.periods, targets=True)
    return [each for each in seen if each.usable.any()]


def _left(model: ForceLaws, seen: Sequence[Observation], seed: int) -> float:
    """The median share that a fit leaves, without the refinement by motion.

    Frames count in which paths are smooth enough to show forces.
    """
    if not seen:
        return 1.0
    low, high = range_of(np.concatenate([each.distances for each in seen]))
    splines = Splines(np.zeros(1), low, spacing_of(low, high), SPLINES)
    how = Fit(model.numbers, model.scope, model.cells)
    model.keep_laws(fit(seen, how, splines, seed, lambda what, share: None), (low, high))
    known, shares = model.knowledge(), []
    for each in seen:
        state = infer(each.beside(model.outer.numpy()), known, model.scope)
        left = (state.squares * state.weights).sum(-1)
        change = (each.changes**2).sum((2, 3))
        moved = each.clear & (change > 0)
        shares.append(left[moved] / change[moved])
    return float(np.median(np.concatenate(shares)))
