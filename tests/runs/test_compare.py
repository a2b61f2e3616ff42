"""Several runs on the same windows."""

import json
import re
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
from tests.evaluation.walkers import walkers

import pgode
from pgode.cli.app import run_command
from pgode.data import files
from pgode.evaluation.paired.result import RunComparison
from pgode.reports.paired.page import render_comparison
from pgode.runs.run import Run
from pgode.runs.training import train
from pgode.runtime.errors import InputError
from pgode.training.config import run_config


@cache
def runs() -> dict[str, Run]:
    """Naive runs of two conditions, on walkers."""
    folder = Path(mkdtemp())
    files.write(walkers(), folder / "walkers.nc")
    found = {}
    for name, condition in (("last-value", 4), ("constant-velocity", 6), ("mean-value", 4)):
        changes = {"window.condition": condition, "window.horizon": 4}
        found[name] = train(
            walkers(),
            folder / name,
            run_config(name, changes=changes),
            source=str(folder / "walkers.nc"),
        )
    return found


@pytest.fixture(autouse=True, scope="module")
def _removed():
    yield
    shutil.rmtree(runs()["last-value"].folder.parent)


def test_all_runs_forecast_the_same_frames_whatever_their_condition():
    one, two, three = runs().values()
    result = pgode.compare([one, two, three], walkers(), origins="all", horizons=[4])
    # With a condition of 6 frames, 30 - 6 - 4 + 1 windows of each of two systems.
    assert (result.windows, result.systems, result.unit) == (2 * 21, 2, "windows")
    states = walkers().split_of("test").states
    speed = np.diff(states, axis=2)[:, :, 0]
    scaled = (speed / np.array(one.normaliser.scale)) ** 2
    last = result.errors["last-value"].at("test", 4, "x")
    expected = scaled[..., 0].mean() * np.mean([1, 4, 9, 16])
    assert last == pytest.approx(expected, rel=1e-4)
    assert result.errors["constant-velocity"].at("test", 4, "x") < 1e-10
    # The mean of four frames lags 1.5 frames behind the last one.
    mean = result.errors["mean-value"].at("test", 4, "x")
    lag = np.mean((np.arange(1, 5) + 1.5) ** 2)
    assert mean == pytest.approx(scaled[..., 0].mean() * lag, rel=1e-4)
    change = [each.change for each in result.differences if each.run == "mean-value"]
    assert change[0] == pytest.approx(lag / 7.5 - 1, rel=1e-3)
    assert RunComparison.from_json(json.loads(json.dumps(result.to_json()))) == result


def test_the_verdict_the_best_naive_model_and_the_curves_are_on_the_page():
    result = pgode.compare(list(runs().values())[:2], walkers())
    name, error = result.best_naive(4, result.columns[0])
    assert name in ("constant-velocity", "linear-past") and error < 1e-10
    assert any("constant-velocity is" in text and "times lower" in text for text in result.verdicts)
    page = render_comparison(result)
    assert page.count("<svg") >= len(result.columns) and "best naive model" in page
    assert result.verdicts[0] in page.replace("&#x27;", "'")


def test_errors_are_those_of_an_evaluation_where_conditions_agree():
    run = runs()["last-value"]
    result = pgode.compare([run, runs()["mean-value"]], walkers(), metric="mae", origins="every:5")
    alone = run.evaluate(walkers(), splits="test", origins="every:5", samples=0)
    assert result.errors["last-value"] == alone.scores["mae"]
    assert result.naive["damped-trend"] == alone.naive["damped-trend"]["mae"]


def test_long_series_are_scored_at_rolling_origins_unless_told_otherwise():
    run = runs()["last-value"]
    assert run.config.window.rolling
    result = run.evaluate(walkers(), samples=0)
    assert (result.origins, result.windows) == ("rolling", {"test": 2 * ((30 - 4) // 4)})
    assert run.evaluate(walkers(), samples=0, origins="first").windows == {"test": 2}
    with pytest.raises(InputError, match="replicas are of each system's first frames"):
        run.evaluate(walkers(), replicas=walkers())


def test_runs_of_other_features_and_single_runs_are_refused(tmp_path: Path):
    data = walkers()
    other = type(data)(data.dataset.assign(feature_units=("feature", np.array(["km", "km"]))))
    changes = {"window.condition": 4, "window.horizon": 4}
    km = train(other, tmp_path / "km", run_config("last-value", changes=changes))
    first = runs()["last-value"]
    with pytest.raises(InputError, match=r"last-value and km cannot be compared: the units .*m, m"):
        pgode.compare([first, km], walkers())
    with pytest.raises(InputError, match="Expected at least two"):
        pgode.compare([first], walkers())
    with pytest.raises(InputError, match="given twice"):
        pgode.compare([first, first], walkers())
    with pytest.raises(InputError, match="cannot compare runs by coverage_50"):
        pgode.compare(list(runs().values()), walkers(), metric="coverage_50")


def test_the_command_prints_a_table_and_writes_page_and_numbers(tmp_path: Path, capsys):
    one, two, _ = (str(run.folder) for run in runs().values())
    page, numbers = tmp_path / "c.html", tmp_path / "c.json"
    command = ["compare", one, two, "--origins", "rolling", "-o", str(page), "--json", str(numbers)]
    assert run_command(command) == 0
    printed = capsys.readouterr().out
    assert "best naive model" in printed and "ranges over resampled windows" in printed
    assert page.read_text().startswith("<!doctype html>")
    assert json.loads(numbers.read_text())["metric"] == "mse"
    assert run_command(["compare", one]) == 2
    assert run_command(["compare", one, two, "--metric", "msee"]) == 2
    assert 'Did you mean "mse"' in " ".join(capsys.readouterr().err.split())
    assert run_command(["compare", one, two, "--json", str(page), "-o", str(page)]) == 2


def test_evaluate_prints_a_table_for_each_metric_with_units_and_all_digits(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    folder = str(runs()["last-value"].folder)
    command = ["evaluate", folder, "--metrics", "mae,fde", "--origins", "every:3", "--units"]
    assert run_command(command) == 0
    printed = capsys.readouterr().out
    for title in ("Mean absolute error", "Final displacement error"):
        assert f"{title} in the data's own units" in printed
    assert "(m)" in printed and "every:3 origins: 16 of test" in printed
    assert "…" not in printed
    assert re.search(
        r"worst objects \(test\), error and ratio to the best naive: \w+\d of", printed
    )
    assert run_command(["evaluate", folder, "--metrics", "adde"]) == 2
    assert run_command(["evaluate", folder, "--origins", "each:3"]) == 2
    assert 'no origins "each:3"' in " ".join(capsys.readouterr().err.split())
