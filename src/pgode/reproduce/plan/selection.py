"""The selected part of an experiment, and the trials it consists of."""

from dataclasses import dataclass, replace
from pathlib import Path

from pgode.reproduce.datasets.registry import DATASETS
from pgode.reproduce.plan.budgets import BUDGETS, RATES
from pgode.reproduce.plan.results import Result, read_result
from pgode.reproduce.plan.trials import Trial, current
from pgode.reproduce.tables.catalogue import EXPERIMENTS, Experiment, Row
from pgode.runtime.choices import check_int, did_you_mean
from pgode.runtime.errors import InputError

MOST_SEEDS = 1000
"""Most trainings of one cell: all are planned before the first is done."""


@dataclass(frozen=True)
class Selection:
    """The part of an experiment that a user selects; empty fields select all of it."""

    budget: str = "quick"
    datasets: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    seeds: int | None = None
    per_length: bool = False
    preset: str = ""

    @property
    def seed_count(self) -> int:
        """Trainings of each cell."""
        return self.seeds or BUDGETS[self.budget].seeds


@dataclass(frozen=True)
class Combination:
    """A row of a table on one data set; in a figure also at one value of its axis."""

    row: Row
    dataset: str
    axis_value: int | None = None


def find_experiment(name: str) -> Experiment:
    """An experiment by name."""
    if name in EXPERIMENTS:
        return EXPERIMENTS[name]
    hint = did_you_mean(name, EXPERIMENTS)
    raise InputError(
        f'there is no table or figure "{name}" to reproduce.{hint and " " + hint} Expected one of '
        f"{', '.join(EXPERIMENTS)}. See pgode reproduce --list."
    )


def select(experiment: Experiment, selection: Selection) -> Experiment:
    """The experiment with the selected data sets, models and preset only."""
    models = tuple(dict.fromkeys(row.model for row in experiment.rows))
    _refuse_unknown("--datasets", selection.datasets, experiment.datasets, experiment.name)
    _refuse_unknown("--budget", (selection.budget,), tuple(BUDGETS), "pgode reproduce")
    _refuse_unknown("--models", selection.models, models, experiment.name)
    if selection.seeds is not None:
        check_int("--seeds", selection.seeds, 1, MOST_SEEDS)
    rows = [row for row in experiment.rows if row.model in (selection.models or models)]
    if selection.preset:
        rows = [_with_preset(r, selection.preset) if r.model == "pgode" else r for r in rows]
        rows = [r for n, r in enumerate(rows) if _identity(r) not in map(_identity, rows[:n])]
    wanted = selection.datasets or experiment.datasets
    datasets = tuple(name for name in experiment.datasets if name in wanted)
    return replace(experiment, rows=tuple(rows), datasets=datasets)


def _with_preset(row: Row, preset: str) -> Row:
    label = row.label.replace(f"`{row.preset}` preset", f"`{preset}` preset")
    return replace(row, label=label, preset=preset)


def check_names(selection: Selection) -> None:
    """Refuse data sets and models that no table or figure has, and a budget that there is not."""
    datasets = dict.fromkeys(name for each in EXPERIMENTS.values() for name in each.datasets)
    models = dict.fromkeys(row.model for each in EXPERIMENTS.values() for row in each.rows)
    _refuse_unknown("--datasets", selection.datasets, tuple(datasets), "pgode reproduce")
    _refuse_unknown("--models", selection.models, tuple(models), "pgode reproduce")
    _refuse_unknown("--budget", (selection.budget,), tuple(BUDGETS), "pgode reproduce")


def select_if_possible(experiment: Experiment, selection: Selection) -> Experiment | None:
    """As `select`, but None for an experiment without any selected data set or model."""
    models = tuple(row.model for row in experiment.rows if row.model in selection.models)
    datasets = tuple(name for name in experiment.datasets if name in selection.datasets)
    if (selection.models and not models) or (selection.datasets and not datasets):
        return None
    return select(experiment, replace(selection, datasets=datasets, models=models))


def combinations(experiment: Experiment) -> list[Combination]:
    """Every row on every data set, at every value of the axis."""
    values: tuple[int | None, ...] = (None,) if experiment.axis is None else experiment.axis.values
    return [
        Combination(row, dataset, value)
        for dataset in experiment.datasets
        for row in experiment.rows
        for value in values
    ]


def tuning_trials(combination: Combination, selection: Selection) -> list[Trial]:
    """The short runs whose validation errors choose the learning rate of a row's model."""
    dataset, row = DATASETS[combination.dataset], combination.row
    trials = [
        Trial(
            *(dataset.name, selection.budget, row.model, row.preset, row.settings),
            epochs=BUDGETS[selection.budget].tuning_epochs,
            rate=rate,
            horizon=dataset.tuning_horizon,
            systems=dataset.sizes[selection.budget].tuning,
        )
        for rate in RATES
    ]
    return [current(trial) for trial in trials]


def tuning_of(trial: Trial) -> Trial:
    """The short run with the settings and the learning rate of a full trial."""
    dataset = DATASETS[trial.dataset]
    short = Trial(
        *(dataset.name, trial.budget, trial.model, trial.preset, trial.settings),
        epochs=BUDGETS[trial.budget].tuning_epochs,
        rate=trial.rate,
        horizon=dataset.tuning_horizon,
        systems=dataset.sizes[trial.budget].tuning,
    )
    return current(short)


def learning_rate(combination: Combination, selection: Selection, root: Path) -> float | None:
    """The rate with the lowest validation error; None while a short run is missing.

    Where nothing is learned by gradients, as for force laws, one rate is as good as another. A run
    that diverged has no parameters either, but says only that its own rate is too high.
    """
    errors = []
    for trial in tuning_trials(combination, selection):
        result = read_result(trial, root)
        if result is None:
            return None
        if not result.parameters and not result.diverged:
            return trial.rate
        if result.validation:
            errors.append((result.validation, trial.rate))
    return min(errors)[1] if errors else RATES[1]


def full_trials(
    combination: Combination, experiment: Experiment, selection: Selection, root: Path
) -> dict[int, list[Trial]] | None:
    """Trials by trained horizon, one per seed; None while the learning rate is not chosen.

    One model trained at the longest horizon serves all; with `per_length` there is one for each,
    as in the paper. Where a seed diverged, all have the next lower learning rate.
    """
    rate = learning_rate(combination, selection, root)
    if rate is None:
        return None
    longest = DATASETS[combination.dataset].horizon

    def trials(length: int) -> list[Trial]:
        for lower in sorted((each for each in RATES if each <= rate), reverse=True):
            found = [
                _full_trial(combination, experiment, selection.budget, lower, seed, length)
                for seed in range(selection.seed_count)
            ]
            finished = (read_result(each, root) for each in found)
            if not any(result.diverged for result in finished if result is not None):
                break
        return found

    lengths = experiment.horizons if selection.per_length else (longest,)
    return {length: trials(length) for length in lengths}


def full_results(
    combination: Combination, experiment: Experiment, selection: Selection, root: Path
) -> dict[int, list[Result]]:
    """The results of the full trials that are finished, by trained horizon."""
    trials = full_trials(combination, experiment, selection, root) or {}
    return {
        length: [result for trial in group if (result := read_result(trial, root)) is not None]
        for length, group in trials.items()
    }


def trained_horizon(dataset: str, horizon: int, selection: Selection) -> int:
    """The trained horizon of the model that is scored at `horizon`."""
    return horizon if selection.per_length else DATASETS[dataset].horizon


def _full_trial(
    combination: Combination,
    experiment: Experiment,
    budget: str,
    rate: float,
    seed: int,
    horizon: int,
) -> Trial:
    row, axis, value = combination.row, experiment.axis, combination.axis_value
    settings, condition = row.settings, 0
    if axis is not None:
        settings = (*settings, *axis.settings_at(value))
        # At the usual value a figure uses the trial of the tables.
        condition = value or 0 if axis.setting is None and value != axis.usual else 0
    trial = Trial(
        *(combination.dataset, budget, row.model, row.preset, settings),
        epochs=BUDGETS[budget].epochs,
        rate=rate,
        seed=seed,
        condition=condition,
        horizon=horizon,
    )
    return current(trial)


def _identity(row: Row) -> tuple[object, ...]:
    return row.model, row.preset, row.settings


def _refuse_unknown(
    option: str, given: tuple[str, ...], names: tuple[str, ...], where: str
) -> None:
    for name in given:
        if name not in names:
            hint = did_you_mean(name, names)
            raise InputError(
                f'{option} names "{name}", which {where} does not have.{hint and " " + hint} '
                f"Expected some of {', '.join(names)}. Leave {option} out for the usual choice."
            )
