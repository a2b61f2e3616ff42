"""Which trials an experiment is made of."""

from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from pgode.reproduce.plan.budgets import BUDGETS, RATES, TUNING_HORIZON, Budget
from pgode.reproduce.plan.regimes import CONDITION, regime_of
from pgode.reproduce.plan.trials import Trial, read_result
from pgode.reproduce.tables.catalogue import EXPERIMENTS, Experiment, Row
from pgode.runtime.errors import InputError


@dataclass(frozen=True)
class Choice:
    """What a user narrows a reproduction down to; empty means everything the paper has."""

    budget: str = "quick"
    datasets: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    seeds: int | None = None
    per_length: bool = False
    preset: str = ""


@dataclass(frozen=True)
class Entry:
    """One row of one data set, at one place of the figure's axis if it has one."""

    row: Row
    dataset: str
    place: int | None = None


def find_experiment(name: str) -> Experiment:
    """An experiment by name."""
    if name in EXPERIMENTS:
        return EXPERIMENTS[name]
    close = get_close_matches(name, EXPERIMENTS, 1)
    meant = f' Did you mean "{close[0]}"?' if close else ""
    raise InputError(
        f'there is no table or figure "{name}" to reproduce.{meant} Expected one of '
        f"{', '.join(EXPERIMENTS)}. See pgode reproduce --list."
    )


def narrowed(experiment: Experiment, choice: Choice) -> Experiment:
    """The experiment with the chosen data sets, models and preset only."""
    _refuse_unknown("--datasets", choice.datasets, experiment.datasets, experiment.name)
    _refuse_unknown("--budget", (choice.budget,), tuple(BUDGETS), "pgode reproduce")
    models = tuple(dict.fromkeys(row.model for row in experiment.rows))
    _refuse_unknown("--models", choice.models, models, experiment.name)
    if choice.seeds is not None and choice.seeds < 1:
        raise InputError(f"--seeds is {choice.seeds}. Expected at least 1. Give for instance 3.")
    rows = [row for row in experiment.rows if row.model in (choice.models or models)]
    if choice.preset:
        rows = [replace(r, preset=choice.preset) if r.model == "pgode" else r for r in rows]
        rows = [r for n, r in enumerate(rows) if _identity(r) not in map(_identity, rows[:n])]
    datasets = tuple(
        d for d in experiment.datasets if d in (choice.datasets or experiment.datasets)
    )
    return replace(experiment, rows=tuple(rows), datasets=datasets)


def entries(experiment: Experiment) -> list[Entry]:
    """Every row on every data set, at every place of the axis."""
    places: tuple[int | None, ...] = (None,) if experiment.axis is None else experiment.axis[1]
    return [
        Entry(row, dataset, place)
        for dataset in experiment.datasets
        for row in experiment.rows
        for place in places
    ]


def tuning(entry: Entry, choice: Choice) -> list[Trial]:
    """The short runs whose validation errors choose the learning rate of an entry's model."""
    budget, fewer = BUDGETS[choice.budget], regime_of(entry.dataset).fewer
    # A variant has the rate of its model: nothing but the variant's own change should differ.
    settings = () if entry.row.variant else entry.row.settings
    return [
        Trial(
            *(entry.dataset, choice.budget, entry.row.model, entry.row.preset, settings),
            epochs=budget.tuning_epochs,
            rate=rate,
            horizon=TUNING_HORIZON,
            systems=max(1, budget.tuning_train // fewer),
        )
        for rate in RATES
    ]


def chosen_rate(entry: Entry, choice: Choice, root: Path) -> float | None:
    """The rate with the lowest validation error; None while a short run is missing."""
    found = [(trial.rate, read_result(trial, root)) for trial in tuning(entry, choice)]
    if any(result is None for _, result in found):
        return None
    scored = [
        (result["validation"], rate) for rate, result in found if result and result["validation"]
    ]
    return min(scored)[1] if scored else RATES[1]


def trials(
    entry: Entry, experiment: Experiment, choice: Choice, root: Path
) -> dict[int, list[Trial]] | None:
    """Trials by trained horizon, one per seed; None while the learning rate is not chosen.

    One model trained over the longest horizon serves all; with `per_length` there is one for
    each, as in the paper.
    """
    rate = chosen_rate(entry, choice, root)
    if rate is None:
        return None
    budget = BUDGETS[choice.budget]
    longest = regime_of(entry.dataset).horizon
    lengths = experiment.horizons if choice.per_length else (longest,)
    return {
        length: [_trial(entry, experiment, budget, rate, seed, length) for seed in _seeds(choice)]
        for length in lengths
    }


def trained_for(dataset: str, horizon: int, choice: Choice) -> int:
    """The trained horizon of the model that is scored at `horizon`."""
    return horizon if choice.per_length else regime_of(dataset).horizon


def _seeds(choice: Choice) -> range:
    return range(choice.seeds or BUDGETS[choice.budget].seeds)


def _trial(
    entry: Entry, experiment: Experiment, budget: Budget, rate: float, seed: int, horizon: int
) -> Trial:
    settings, condition = entry.row.settings, CONDITION
    if experiment.axis is not None and entry.place is not None:
        if experiment.axis[0] == "condition":
            condition = entry.place
        else:
            settings = (*settings, (experiment.axis[0], entry.place))
    return Trial(
        *(entry.dataset, budget.name, entry.row.model, entry.row.preset, _ordinary(settings)),
        epochs=budget.epochs,
        rate=rate,
        seed=seed,
        condition=condition,
        horizon=horizon,
    )


def _ordinary(settings: tuple[tuple[str, object], ...]) -> tuple[tuple[str, object], ...]:
    """Without settings that say what is so anyway: five prototypes need no trial of their own."""
    return tuple(pair for pair in settings if pair != ("model.prototypes", 5))


def _identity(row: Row) -> tuple[object, ...]:
    return row.model, row.preset, row.settings


def _refuse_unknown(
    option: str, given: tuple[str, ...], there: tuple[str, ...], where: str
) -> None:
    for name in given:
        if name not in there:
            close = get_close_matches(name, there, 1)
            meant = f' Did you mean "{close[0]}"?' if close else ""
            raise InputError(
                f'{option} names "{name}", which {where} does not have.{meant} Expected some of '
                f"{', '.join(there)}. Leave {option} out for the usual choice."
            )
