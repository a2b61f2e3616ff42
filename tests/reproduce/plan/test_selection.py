"""Which trials an experiment needs, and what makes two of them the same."""

import json
from dataclasses import replace
from functools import reduce
from operator import getitem
from pathlib import Path

import pytest

from pgode.models import MODELS, model_config
from pgode.models.registry import NAIVE
from pgode.reproduce.datasets.registry import DATASETS
from pgode.reproduce.output.collect import collect
from pgode.reproduce.output.rendering import markdown
from pgode.reproduce.plan.budgets import BUDGETS, RATES
from pgode.reproduce.plan.results import Result, read_result, write_result
from pgode.reproduce.plan.selection import (
    Combination,
    Selection,
    combinations,
    find_experiment,
    full_trials,
    learning_rate,
    select,
    tuning_trials,
)
from pgode.reproduce.plan.trials import Trial
from pgode.reproduce.tables.catalogue import EXPERIMENTS
from pgode.reproduce.tables.published import published_tables
from pgode.runtime.errors import InputError

TABLE1 = EXPERIMENTS["table1"]
SMOKE = Selection("smoke")


def tune(combination: Combination, root: Path, errors: tuple[float | None, ...]) -> None:
    for trial, error in zip(tuning_trials(combination, SMOKE), errors, strict=True):
        write_result(Result(trial, error, 1, 1.0, None, 1, 1, "", ""), root)


def first(experiment, label: str) -> Combination:
    return next(
        combination for combination in combinations(experiment) if combination.row.label == label
    )


def test_every_model_of_every_row_is_registered_and_described():
    used = {row.model for experiment in EXPERIMENTS.values() for row in experiment.rows}
    assert used <= set(MODELS)
    assert all(entry.description for entry in MODELS.values())


def test_the_settings_of_every_row_are_those_of_its_model():
    for experiment in EXPERIMENTS.values():
        for row in experiment.rows:
            data = experiment.datasets[0]
            config = Trial(data, "quick", row.model, row.preset, row.settings).config(1)
            model = model_config(config.name, config.model).model_dump()
            made = {**config.model_dump(), "model": model}
            for name, value in row.settings:
                assert reduce(getitem, name.split("."), made) == value


def test_every_learned_model_is_in_the_table_of_training_cost():
    costed = {row.model for row in EXPERIMENTS["table15"].rows}
    assert costed == set(MODELS) - set(NAIVE)


@pytest.mark.parametrize(
    "name", [n for n in EXPERIMENTS if n.startswith("table") and not n.endswith("-raw")]
)
def test_rows_and_columns_of_a_table_are_those_of_the_paper(name):
    experiment = EXPERIMENTS[name]
    table = published_tables()[experiment.published or name]
    ours = {row.published for row in experiment.rows}
    printed = {cell.row for cell in table.cells if cell.dataset in experiment.datasets}
    assert printed <= ours
    if experiment.kind == "errors":
        mine = {
            (split, horizon, variable)
            for split in experiment.splits
            for horizon in experiment.horizons
            for variable in experiment.variables
        }
        theirs = {
            (cell.split, cell.horizon, cell.variable)
            for cell in table.cells
            if cell.dataset in experiment.datasets
        }
        assert mine == theirs


def test_trials_that_differ_in_anything_have_different_files():
    one = Trial("springs", "quick", "lstm")
    others = [
        replace(one, dataset="charged"),
        replace(one, budget="paper"),
        replace(one, model="gru"),
        replace(one, settings=(("model.width", 8),)),
        replace(one, epochs=11),
        replace(one, rate=3e-4),
        replace(one, seed=1),
        replace(one, condition=6),
        replace(one, horizon=12),
        replace(one, systems=10),
    ]
    assert len({trial.key for trial in (one, *others)}) == len(others) + 1


@pytest.mark.parametrize(
    "trial, key",
    [
        (Trial("springs", "quick", "lstm"), "springs-lstm-656cf001"),
        (
            Trial(
                *("charged", "paper", "pgode", "paper", (("model.gate.contexts", "system"),)),
                epochs=60,
                rate=3e-3,
                seed=2,
            ),
            "charged-pgode-3889a5ac",
        ),
        (
            Trial("springs", "smoke", "gru", epochs=1, rate=3e-4, horizon=12, systems=6),
            "springs-gru-bd0b98c5",
        ),
    ],
)
def test_finished_results_stay_those_of_their_trials(trial, key):
    assert trial.key == key  # as computed by versions whose results people keep


@pytest.mark.parametrize("preset", ["paper", "paper-anchored", "default"])
def test_a_result_of_an_earlier_preset_is_not_taken_for_one_of_today(preset, tmp_path):
    trial = tuning_trials(first(TABLE1, f"PGODE, `{preset}` preset"), SMOKE)[0]
    earlier = replace(trial, digest="")
    write_result(Result(earlier, 0.1, 1, 1.0, None, 1, 1, "", ""), tmp_path)
    assert read_result(earlier, tmp_path) is not None
    assert read_result(trial, tmp_path) is None


def test_models_without_presets_keep_their_results():
    assert all(not trial.digest for trial in tuning_trials(first(TABLE1, "LSTM"), SMOKE))


def test_a_trial_survives_json():
    trial = Trial("springs", "quick", "pgode", "paper", (("model.dynamics.prototypes", 3),), seed=2)
    again = Trial.from_json(json.loads(json.dumps(trial.to_json())))
    assert again == trial
    assert again.key == trial.key


def test_every_model_is_trained_on_the_same_windows_steps_and_optimiser():
    configs = [
        Trial("springs", "quick", row.model, row.preset, row.settings).config(1)
        for row in TABLE1.rows
    ]
    assert len({config.training.model_dump_json() for config in configs}) == 1
    assert len({config.window.model_dump_json() for config in configs}) == 1


def test_the_learning_rate_is_that_of_the_lowest_validation_error(tmp_path):
    combination = first(TABLE1, "LSTM")
    assert learning_rate(combination, SMOKE, tmp_path) is None
    assert full_trials(combination, TABLE1, SMOKE, tmp_path) is None
    tune(combination, tmp_path, (0.3, 0.1, 0.2))
    assert learning_rate(combination, SMOKE, tmp_path) == RATES[1]
    tune(combination, tmp_path, (0.3, None, 0.2))  # diverged with the middle one
    assert learning_rate(combination, SMOKE, tmp_path) == RATES[2]
    found = full_trials(combination, TABLE1, SMOKE, tmp_path)
    assert found is not None
    assert [trial.rate for trial in found[36]] == [RATES[2]]


def test_a_short_run_that_diverged_is_not_taken_for_force_laws(tmp_path):
    combination = first(TABLE1, "LSTM")
    tune(combination, tmp_path, (0.1, 0.2, None))
    highest = read_result(tuning_trials(combination, SMOKE)[-1], tmp_path)
    assert highest is not None
    write_result(replace(highest, parameters=0), tmp_path)  # as a diverged run is stored
    assert learning_rate(combination, SMOKE, tmp_path) == RATES[0]


def test_a_variant_has_a_learning_rate_of_its_own():
    table3 = EXPERIMENTS["table3"]
    variant = first(table3, "PGODE w/o O, `paper-anchored` preset")
    assert [trial.rate for trial in tuning_trials(variant, SMOKE)] == list(RATES)
    assert all(trial.settings == variant.row.settings for trial in tuning_trials(variant, SMOKE))


def test_a_trial_that_diverged_is_followed_by_one_at_the_next_lower_rate(tmp_path):
    combination = first(TABLE1, "LSTM")
    tune(combination, tmp_path, (0.3, 0.2, 0.1))
    three = Selection("smoke", seeds=3)

    def rates() -> list[float]:
        return [t.rate for t in (full_trials(combination, TABLE1, three, tmp_path) or {})[36]]

    for seed, expected in enumerate((RATES[2], RATES[1], RATES[0], RATES[0])):  # the lowest
        assert rates() == [expected] * 3
        trial = (full_trials(combination, TABLE1, three, tmp_path) or {})[36][-seed % 3]
        write_result(Result(trial, None, 1, 1.0, None, 1, 1, "", ""), tmp_path)
    table = collect(select(TABLE1, Selection("smoke", ("springs",), ("lstm",))), three, tmp_path)
    assert "| LSTM | diverged (0.287) |" in markdown(table)


def test_one_model_serves_all_horizons_unless_there_is_one_for_each(tmp_path):
    combination = first(TABLE1, "LSTM")
    tune(combination, tmp_path, (0.3, 0.1, 0.2))
    assert list(full_trials(combination, TABLE1, SMOKE, tmp_path) or {}) == [36]
    each = Selection("smoke", per_length=True, seeds=2)
    found = full_trials(combination, TABLE1, each, tmp_path) or {}
    assert {length: len(group) for length, group in found.items()} == {12: 2, 24: 2, 36: 2}
    assert [trial.seed for trial in found[24]] == [0, 1]


def test_figures_vary_what_their_axis_names(tmp_path):
    prototypes = EXPERIMENTS["figure4-prototypes"]
    for combination in combinations(prototypes):
        tune(combination, tmp_path, (0.3, 0.1, 0.2))
    found = [
        (full_trials(combination, prototypes, SMOKE, tmp_path) or {})[36][0]
        for combination in combinations(prototypes)
    ]
    assert [dict(t.settings).get("model.dynamics.prototypes", 5) for t in found[:5]] == [
        2,
        3,
        4,
        5,
        6,
    ]
    condition = EXPERIMENTS["figure4-condition"]
    for combination in combinations(condition):
        tune(combination, tmp_path, (0.3, 0.1, 0.2))
    found = [
        (full_trials(combination, condition, SMOKE, tmp_path) or {})[36][0]
        for combination in combinations(condition)
    ]
    assert [trial.condition for trial in found[:5]] == [3, 6, 9, 12, 15]


def test_five_prototypes_are_the_same_trial_as_none_named(tmp_path):
    prototypes = EXPERIMENTS["figure4-prototypes"]
    plain = first(TABLE1, "PGODE, `paper-anchored` preset")
    five = next(
        combination for combination in combinations(prototypes) if combination.axis_value == 5
    )
    tune(plain, tmp_path, (0.3, 0.1, 0.2))
    ours, theirs = (
        full_trials(combination, each, SMOKE, tmp_path)
        for combination, each in ((five, prototypes), (plain, TABLE1))
    )
    assert ours is not None and theirs is not None
    assert ours[36] == theirs[36]


def test_a_selection_has_only_its_rows_and_data_sets():
    small = select(TABLE1, Selection("quick", ("springs",), ("pgode", "hope")))
    assert small.datasets == ("springs",)
    assert {row.model for row in small.rows} == {"pgode", "hope"}
    assert len(select(TABLE1, Selection(preset="default")).rows) == len(TABLE1.rows) - 2
    rows = select(TABLE1, Selection(preset="messages", models=("pgode",))).rows
    assert [row.label for row in rows] == ["PGODE, `messages` preset"]


@pytest.mark.parametrize(
    "selection, words",
    [
        (Selection(datasets=("spring",)), 'Did you mean "springs"'),
        (Selection(models=("pgodee",)), 'Did you mean "pgode"'),
        (Selection(models=("last-value",)), "which table1 does not have"),
        (Selection(budget="fast"), "smoke, quick, paper"),
        (Selection(seeds=0), "--seeds is 0"),
    ],
)
def test_a_selection_of_unknown_names_is_refused(selection, words):
    with pytest.raises(InputError, match=words):
        select(TABLE1, selection)


def test_an_unknown_experiment_is_refused_with_a_suggestion():
    with pytest.raises(InputError, match='Did you mean "table12"'):
        find_experiment("tabel12")


def test_the_paper_budget_is_the_papers_size():
    assert DATASETS["springs"].sizes["paper"].counts == {
        "train": 1000,
        "val": 200,
        "test": 200,
        "ood": 200,
    }
    assert BUDGETS["paper"].seeds == 3
