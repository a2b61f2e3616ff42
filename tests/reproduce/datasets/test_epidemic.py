"""The COVID-19 tables: trained for real on made-up reports, and what is said without any."""

import json
from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from tests.covid_reports import write_compact

from pgode.cli.app import run_command
from pgode.data import files
from pgode.data.files.covid import Days, build, read_source
from pgode.evaluation.covid.result import TotalScores, baseline_scores
from pgode.reproduce.datasets.registry import DATASETS
from pgode.reproduce.output.collect import collect
from pgode.reproduce.output.rendering import markdown, terminal
from pgode.reproduce.plan.results import read_result
from pgode.reproduce.plan.selection import (
    Combination,
    Selection,
    full_trials,
    select,
    tuning_of,
    tuning_trials,
)
from pgode.reproduce.runner.training import run_trial
from pgode.reproduce.tables.catalogue import EXPERIMENTS, PGODE_REGRESSED

SELECTION = Selection("smoke", models=("pgode",))


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """PGODE on its regression at the smallest budget, on few windows."""
    folder = tmp_path_factory.mktemp("reproduction")
    days = Days.of_reports(read_source(write_compact(folder / "a.csv", 264), date(2020, 12, 31)))
    files.write(build(days), DATASETS["covid"].file("smoke", folder))
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(DATASETS, "covid", replace(DATASETS["covid"], stride=80))
        row = Combination(PGODE_REGRESSED, "covid")
        for trial in tuning_trials(row, SELECTION):
            assert run_trial(trial, folder, 1) is not None
        trials = full_trials(row, EXPERIMENTS["table10"], SELECTION, folder)
        assert trials is not None
        for trial in trials[21]:
            assert run_trial(trial, folder, 1) is not None
        yield folder


def test_a_trial_scores_totals_of_both_protocols(root):
    row = Combination(PGODE_REGRESSED, "covid")
    trials = full_trials(row, EXPERIMENTS["table10"], SELECTION, root)
    assert trials is not None
    result = read_result(trials[21][0], root)
    assert result is not None
    assert result.totals is not None
    assert result.evaluation is None
    scores = result.totals.model
    for protocol in ("test", "weeks"):
        for horizon in (7, 14, 21):
            cells = scores.row(protocol, horizon)
            assert set(cells) == {"mae", "rmse", "wis", "coverage"}
            assert 0 < cells["mae"] < cells["rmse"]
            assert cells["wis"] < cells["mae"]
    # Made-up deaths follow a wave with Poisson noise: a regression finds the rate, the last day
    # does not.
    last = result.totals.naive["last-value"]
    assert scores.at("weeks", 7, "mae") < 0.7 * last.at("weeks", 7, "mae")


def test_quantiles_come_from_the_run_that_has_not_seen_the_validation_windows(root):
    row = Combination(PGODE_REGRESSED, "covid")
    trials = full_trials(row, EXPERIMENTS["table10"], SELECTION, root)
    short = read_result(tuning_of(trials[21][0]), root)
    full = read_result(trials[21][0], root)
    assert short.data_hash != full.data_hash
    for horizon in (7, 14, 21):
        np.testing.assert_allclose(full.totals.spread[horizon], short.totals.spread[horizon])
        assert (np.diff(short.totals.spread[horizon]) >= 0).all()


@pytest.mark.parametrize(
    "name, heads",
    [
        ("table10", ("7 MAE", "21 RMSE")),
        ("table10-weeks", ("7 MAE", "21 RMSE")),
        ("table10-quantiles", ("weeks 7 WIS", "test 21 coverage")),
    ],
)
def test_tables_have_models_baselines_and_published_numbers(root, name, heads):
    content = collect(select(EXPERIMENTS[name], SELECTION), SELECTION, root)
    text = markdown(content)
    assert all(f"| {head} |" in text for head in heads)
    assert ("| linear regression on weekly sums |" in text) == (name != "table10-quantiles")
    assert ("(83.0)" in text) == (name == "table10")
    assert "scaled units" not in text
    assert terminal(content)
    json.dumps(content.to_json(), allow_nan=False)


def test_totals_survive_json(root):
    days = Days.of_data(files.read(DATASETS["covid"].file("smoke", root)))
    made = TotalScores(naive=baseline_scores(days), spread={7: np.linspace(-1, 1, 23)})
    back = TotalScores.from_json(json.loads(json.dumps(made.to_json())))
    assert back.naive == made.naive
    np.testing.assert_array_equal(back.spread[7], made.spread[7])


def test_without_data_the_command_says_how_to_obtain_it(tmp_path, capsys):
    given = ["reproduce", "table10", "--budget", "smoke", "--models", "lstm", "-o", str(tmp_path)]
    assert run_command(given) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "Obtain them with pgode data covid -o" in said
    assert "--source FOLDER" in said
