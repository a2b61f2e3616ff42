"""Optuna's part: reproducible draws, no repetition, a database that lacks nothing."""

import math
import sqlite3
import sys

import optuna as library
import pytest

from pgode.runtime.errors import InputError
from pgode.tuning.space.domains import Choice, Range, contains
from pgode.tuning.study import importances, next_values, optuna, store
from pgode.tuning.trials.files import Trial, TrialPlan, TrialResult

SPACE = {"a": Range(1e-4, 1e-1, log=True), "b": Choice((1, 2, None)), "c": Range(2, 5)}


def trial(index: int, values, error: float | None, state="complete") -> Trial:
    plan = TrialPlan(index, values, {}, "", "", (), 1)
    errors = (2 * error, error) if error is not None else ()
    return Trial(plan, None if state == "running" else TrialResult(index, state, errors, 1.0, 1))


def search(count: int, seed: int) -> list[Trial]:
    """The error is lowest at a = 1e-2; b and c do not matter."""
    trials: list[Trial] = []
    for index in range(count):
        values = next_values(SPACE, trials, None, seed, index)
        error = 1 + abs(math.log10(values["a"]) + 2)
        trials.append(trial(index, values, error))
    return trials


def test_a_seed_gives_the_same_settings_from_the_same_trials():
    first, second, other = search(14, 3), search(14, 3), search(3, 4)
    assert [each.plan.values for each in first] == [each.plan.values for each in second]
    assert [each.plan.values for each in first[:3]] != [each.plan.values for each in other]
    for each in first:
        assert all(contains(SPACE[name], value) for name, value in each.plan.values.items())


def test_the_search_draws_near_what_was_good_and_says_what_mattered():
    trials = search(40, 0)
    late = [abs(math.log10(each.plan.values["a"]) + 2) for each in trials[20:]]
    early = [abs(math.log10(each.plan.values["a"]) + 2) for each in trials[:10]]
    assert sum(late) / 20 < 0.6 * sum(early) / 10
    found = importances(SPACE, trials)
    assert next(iter(found)) == "a" and found["a"] > 0.5
    assert sum(found.values()) == pytest.approx(1)


def test_importance_is_not_guessed_from_too_little():
    assert importances(SPACE, search(3, 0)) == {}
    same = [trial(k, {"a": 1e-3, "b": 1, "c": 2}, 1.0) for k in range(6)]
    assert importances(SPACE, same) == {}


def test_the_first_trial_is_the_preset():
    own = {"a": 1e-3, "b": None, "c": 3}
    assert next_values(SPACE, [], own, 0, 0) == own


def test_a_finite_space_is_tried_once_over_and_then_ends():
    space = {"b": Choice((1, 2)), "c": Range(2, 4)}
    trials: list[Trial] = []
    while (values := next_values(space, trials, None, 0, len(trials))) is not None:
        trials.append(trial(len(trials), values, 1.0, "failed" if len(trials) == 2 else "complete"))
    tried = {tuple(each.plan.values.values()) for each in trials}
    assert len(trials) == len(tried) == 6


def test_the_database_gets_each_trial_once_and_optuna_opens_it(tmp_path):
    values = {"a": 1e-3, "b": None, "c": 2}
    trials = [
        trial(0, values, 1.5),
        trial(1, {**values, "b": 2}, 3.0, "pruned"),
        trial(2, {**values, "c": 4}, None, "failed"),
        trial(3, {**values, "c": 5}, None, "running"),
    ]
    store(tmp_path, SPACE, trials[:2])
    store(tmp_path, SPACE, trials)
    study = library.load_study(study_name="pgode", storage=f"sqlite:///{tmp_path / 'study.db'}")
    found = study.trials
    assert [each.state.name for each in found] == ["COMPLETE", "PRUNED", "FAIL"]
    assert [each.user_attrs["index"] for each in found] == [0, 1, 2]
    assert study.best_value == 1.5 and study.best_params == values
    assert found[1].intermediate_values == {1: 6.0, 2: 3.0}
    study._storage.remove_session()
    study._storage._backend.engine.dispose()


def test_a_damaged_database_is_named_and_can_be_made_again(tmp_path):
    trials = [trial(0, {"a": 1e-3, "b": 1, "c": 2}, 1.5)]
    path = tmp_path / "study.db"
    path.write_text("this is no database, but text that is long enough to be seen as such" * 20)
    with pytest.raises(InputError, match=r"study.db.*none is lost"):
        store(tmp_path, SPACE, trials)
    path.unlink()
    store(tmp_path, SPACE, trials)
    opened = sqlite3.connect(path)
    assert opened.execute("select count(*) from trials").fetchone() == (1,)
    opened.close()


def test_without_optuna_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(InputError, match=r"pip install pgode\[tune\]"):
        optuna()
