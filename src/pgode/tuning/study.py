"""Optuna: the next settings to try, the database of finished trials, and what mattered.

The trials on disk are the truth, and each call is given them; Optuna keeps no state between two
calls. With a seed made of (seed, index) the settings of a trial then follow from the trials before
it, whether the search was interrupted or not.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from pgode.runtime.disk.room import disk_error, unwritable
from pgode.runtime.errors import InputError
from pgode.runtime.files import replacing
from pgode.tuning.space.domains import Choice, Domain, Space, Value, combinations
from pgode.tuning.trials.files import Trial

DATABASE = "study.db"
STUDY = "pgode"
ATTEMPTS = 20
"""Draws of settings that were tried already, after which the remaining ones are listed instead."""
FEW = 8
"""Trials that are needed to say which settings mattered."""
BEST = 0.25
"""The share of trials that count as good ones for that."""


def optuna() -> ModuleType:
    """The module; an error that names the extra if it is not installed."""
    try:
        import optuna as module
    except ImportError:
        raise InputError(
            "pgode tune needs Optuna, which is not installed. Expected the extra of that name. "
            "Install it with pip install pgode[tune]."
        ) from None
    module.logging.set_verbosity(module.logging.WARNING)
    return module


def next_values(
    space: Space, trials: Sequence[Trial], first: dict[str, Value] | None, seed: int, index: int
) -> dict[str, Value] | None:
    """Settings for the trial of this index; None if every combination was tried.

    `first` are those of the very first trial, the preset's own. Later ones are drawn by Optuna's
    tree-structured Parzen estimator, which takes running trials for bad ones, so that several at a
    time do not crowd together.
    """
    tried = [trial.plan.values for trial in trials]
    if not tried and first is not None:
        return first
    for attempt in range(ATTEMPTS):
        values = _drawn(space, trials, int(_generator(seed, index, attempt).integers(2**31)))
        if values not in tried:
            return values
    every = combinations(space)
    if every is None:
        return values
    left = [each for each in every if each not in tried]
    return left[_generator(seed, index).integers(len(left))] if left else None


def _drawn(space: Space, trials: Sequence[Trial], seed: int) -> dict[str, Value]:
    module = optuna()
    sampler = module.samplers.TPESampler(seed=seed)
    study = module.create_study(sampler=sampler)
    study.add_trials([_frozen(trial, space) for trial in trials])
    drawn = study.ask(_distributions(space)).params
    return {name: drawn[name] for name in space}


def _generator(*parts: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(parts))


def importances(space: Space, trials: Sequence[Trial]) -> dict[str, float]:
    """The share of each setting in which trials are among the best (PED-ANOVA), largest first.

    Trials that were pruned count with their error so far: that they are not among the best is all
    that matters. Empty where there are too few trials, or where all are equally good.
    """
    known = [trial for trial in trials if math.isfinite(trial.error)]
    if len(known) < FEW or len({trial.error for trial in known}) < 2 or len(space) < 2:
        return {}
    module = optuna()
    study = module.create_study()
    study.add_trials(
        module.trial.create_trial(
            value=trial.error, params=trial.plan.values, distributions=_distributions(space)
        )
        for trial in known
    )
    evaluator = module.importance.PedAnovaImportanceEvaluator(target_quantile=BEST)
    found = module.importance.get_param_importances(study, evaluator=evaluator)
    shares = {name: float(share) for name, share in found.items()}
    return shares if all(math.isfinite(share) for share in shares.values()) else {}


def store(folder: Path, space: Space, trials: Sequence[Trial]) -> None:
    """Enter ended trials that the database of a tuning folder lacks; it is made if missing.

    Each trial is one transaction, so a process that is killed leaves it in or out, never in part.
    """
    path = folder / DATABASE
    if not path.exists():
        with replacing(path) as temporary, _study(temporary):
            pass
    with _study(path) as study:
        known = {each.user_attrs.get("index") for each in study.get_trials(deepcopy=False)}
        for trial in trials:
            if trial.result is not None and trial.plan.index not in known:
                study.add_trial(_frozen(trial, space))


@contextmanager
def _study(path: Path) -> Iterator[Any]:
    module = optuna()
    from sqlalchemy.exc import SQLAlchemyError
    from sqlalchemy.pool import NullPool

    # Without a pool: if the file is no database, Optuna would leave a pool with an open connection.
    options = {"connect_args": {"timeout": 60}, "poolclass": NullPool}
    try:
        storage = module.storages.RDBStorage(f"sqlite:///{path.resolve()}", engine_kwargs=options)
        try:
            yield module.create_study(study_name=STUDY, storage=storage, load_if_exists=True)
        finally:
            storage.remove_session()
            storage.engine.dispose()
    except (SQLAlchemyError, RuntimeError, module.exceptions.StorageInternalError) as error:
        if (refused := disk_error(error)) is not None:
            advice = "No trial is lost: make room, then give the same command again."
            raise unwritable(path, refused, advice) from None
        detail = str(error).strip().splitlines()[0]
        raise InputError(
            f"cannot use the database {path}: {detail}. Expected the file that pgode tune wrote. "
            f"Remove it: it is made again from the trials, of which none is lost."
        ) from None


def _frozen(trial: Trial, space: Space) -> Any:
    """A trial as Optuna sees it. One that could not be trained counts as failed."""
    module = optuna()
    states = module.trial.TrialState
    result = trial.result
    errors = () if result is None else result.errors
    state = states.RUNNING
    if result is not None:
        state = {
            "complete": states.COMPLETE,
            "pruned": states.PRUNED,
            "failed": states.FAIL,
        }[result.state]
    return module.trial.create_trial(
        state=state,
        value=trial.error if trial.complete else None,
        params=trial.plan.values,
        distributions=_distributions(space),
        user_attrs={"index": trial.plan.index},
        intermediate_values=dict(enumerate(errors, 1)),
    )


def _distributions(space: Space) -> dict[str, Any]:
    return {name: _distribution(domain) for name, domain in space.items()}


def _distribution(domain: Domain) -> Any:
    kinds = optuna().distributions
    if isinstance(domain, Choice):
        return kinds.CategoricalDistribution(domain.values)
    if domain.whole:
        return kinds.IntDistribution(int(domain.low), int(domain.high), log=domain.log)
    return kinds.FloatDistribution(float(domain.low), float(domain.high), log=domain.log)
