"""The grid as a user runs it: small real trainings, stopped and started again, also on Ray."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest
import torch

from pgode.cli.app import run_command
from pgode.reproduce import runner
from pgode.reproduce.output.collect import collect_cost, collect_errors, filled_rows
from pgode.reproduce.output.drawing import curve_figure
from pgode.reproduce.output.rendering import markdown
from pgode.reproduce.plan.results import all_results, read_result, write_result
from pgode.reproduce.plan.selection import Selection, select
from pgode.reproduce.plan.trials import Trial, run_folder
from pgode.reproduce.runner.cost import measure_cost
from pgode.reproduce.runner.training import run_trial
from pgode.reproduce.tables.catalogue import EXPERIMENTS
from pgode.runtime.errors import TrainingError

OPTIONS = ["--datasets", "springs", "--models", "lstm", "--budget", "smoke"]
TINY = Trial("springs", "smoke", "gru", settings=(("model.width", 8),), epochs=2, horizon=12)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A grid of one row, filled on two local processes."""
    root = tmp_path_factory.mktemp("grid")
    assert run_command(["reproduce", "table1", *OPTIONS, "--jobs", "2", "-o", str(root)]) == 0
    return root


@pytest.fixture(autouse=True)
def threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def numbers(root: Path, trial: Trial) -> object:
    result = read_result(trial, root)
    assert result is not None and result.evaluation is not None
    return result.evaluation.mse, result.validation


def test_a_table_has_our_number_beside_the_papers(folder):
    table = json.loads((folder / "table1.json").read_text())
    lstm = next(row for row in table["rows"] if row["label"] == "LSTM")
    first = lstm["cells"][0]
    assert table["columns"][0] == ["test", 12, "q"]
    assert first["published"] == pytest.approx(0.287e-2)
    result = next(
        content
        for path in (folder / "results").glob("springs-lstm-*.json")
        if (content := json.loads(path.read_text()))["evaluation"] is not None
    )
    assert first["ours"] == result["evaluation"]["scores"]["mse"]["test"]["12"]["q"]
    assert lstm["learning_rate"] == result["trial"]["rate"]
    labels = [row["label"] for row in table["rows"]]
    naive = ["last value", "constant velocity", "mean of the condition", "damped trend"]
    assert labels == ["LSTM", *naive, "linear regression on own past", "known law"]


def test_tables_are_written_as_markdown_and_html(folder):
    text = (folder / "table1.md").read_text()
    assert "| LSTM |" in text
    assert "(0.287) ▲" in text  # a dozen systems and one epoch are worse than the paper
    page = (folder / "table1.html").read_text()
    assert page.count("<tr>") == 8  # a head and seven rows, five of them naive models
    assert "default-src 'none'" in page  # nothing is fetched


def test_a_row_that_saw_other_data_than_most_is_marked(tmp_path, folder):
    shutil.copytree(folder / "results", tmp_path / "results")
    chosen = Selection("smoke", ("springs",), ("lstm", "gru", "node"))
    table = select(EXPERIMENTS["table1"], chosen)
    for model in ("gru", "node"):
        for result in all_results(folder).values():
            trial = replace(result.trial, model=model)
            write_result(replace(result, trial=trial, data_hash="another"), tmp_path)
    content = collect_errors(table, chosen, tmp_path)
    marked = {row.label: row.other_data for row in content.rows if row.role == "model"}
    assert marked == {"LSTM": True, "GRU": False, "NODE": False}
    text = markdown(content)
    assert "| LSTM † |" in text and "| GRU |" in text and "not comparable" in text
    alone = select(EXPERIMENTS["table1"], replace(chosen, models=("lstm",)))
    assert "†" not in markdown(collect_errors(alone, chosen, tmp_path))


def test_a_filled_grid_is_not_run_again(folder, capsys):
    before = {path: path.stat().st_mtime_ns for path in (folder / "results").iterdir()}
    assert run_command(["reproduce", "table1", *OPTIONS, "-o", str(folder)]) == 0
    assert {path: path.stat().st_mtime_ns for path in (folder / "results").iterdir()} == before
    assert "done:" not in capsys.readouterr().out


def test_force_laws_are_found_at_one_learning_rate(tmp_path):
    words = ["reproduce", "table1", "--datasets", "springs", "--models", "pgode", "--preset"]
    options = [*words, "default", "--budget", "smoke", "-o", str(tmp_path)]
    assert run_command(options) == 0
    results = all_results(tmp_path).values()
    assert [result.parameters for result in results] == [0, 0]
    assert sorted(result.trial.tuning for result in results) == [False, True]
    assert len({result.trial.rate for result in results}) == 1


def test_an_epoch_is_timed_where_there_are_epochs(tmp_path, folder):
    shutil.copytree(folder / "data", tmp_path / "data")
    chosen = Selection("smoke", ("springs",), ("lstm", "pgode"), preset="default")
    cost = select(EXPERIMENTS["table15"], chosen)
    threads = torch.get_num_threads()
    measured = measure_cost(cost, "springs", "smoke", tmp_path, lambda text: None)
    assert measured.threads == 1 and torch.get_num_threads() == threads
    rows = {row.label: row for row in collect_cost(cost, "smoke", tmp_path).rows}
    assert rows["LSTM"].ratio == 1
    laws = rows["PGODE, `default` preset"]
    assert (laws.parameters, laws.seconds) == (0, None)
    assert filled_rows(cost, chosen, tmp_path) == (len(rows), len(rows))


def test_a_figure_of_cost_is_timed_in_one_run_at_every_value_of_its_axis(
    tmp_path, folder, monkeypatch
):
    monkeypatch.setattr(runner.cost, "ROUNDS", 1)
    shutil.copytree(folder / "data", tmp_path / "data")
    chosen = Selection("smoke", ("springs",))
    figure = select(EXPERIMENTS["figure4-prototypes"], chosen)
    before = collect_errors(figure, chosen, tmp_path)
    assert {row.seconds_per_epoch for row in before.rows} == {None}
    measured = measure_cost(figure, "springs", "smoke", tmp_path, lambda text: None)
    rows = collect_errors(figure, chosen, tmp_path).rows
    anchored = [row for row in rows if row.preset == "paper-anchored"]
    assert [row.axis_value for row in anchored] == [2, 3, 4, 5, 6]
    sizes = [measured.rows[f"{row.label}, {row.axis_value}"].parameters for row in anchored]
    assert all(more > fewer for fewer, more in pairwise(sizes))
    assert all(row.seconds_per_epoch for row in anchored)
    laws = [row for row in rows if row.preset == "default"]
    assert {row.seconds_per_epoch for row in laws} == {None}
    (line,) = curve_figure(collect_errors(figure, chosen, tmp_path), "springs").axes[-1].lines
    assert line.get_xdata().tolist() == [2, 3, 4, 5, 6]
    assert line.get_ydata().tolist() == [row.seconds_per_epoch for row in anchored]


def test_show_trains_nothing(tmp_path, capsys):
    assert run_command(["reproduce", "table1", "--show", "-o", str(tmp_path)]) == 0
    assert not (tmp_path / "runs").exists()
    assert "(0.035)" in capsys.readouterr().out


def test_list_names_every_experiment_and_how_much_of_it_is_filled(folder, capsys):
    assert run_command(["reproduce", "--list", "--budget", "smoke", "-o", str(folder)]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line.strip()}
    assert {"table15", "figure4-prototypes", "further"} <= set(lines)
    assert "1 of 30 rows" in lines["table1"]
    assert "0 of 4 rows" in lines["table13"]


def test_list_shows_what_is_selected_and_refuses_what_is_unknown(folder, capsys):
    words = ["reproduce", "--list", "-o", str(folder)]
    assert run_command([*words, "--datasets", "covid"]) == 0
    listed = capsys.readouterr().out
    assert "table10-weeks" in listed
    assert "table1 " not in listed
    for option, value in (
        *(("--budget", "big"), ("--datasets", "spring"), ("--models", "pgodes")),
        *(("--preset", "best"), ("--seeds", "-1")),
    ):
        assert run_command([*words, option, value]) == 2, option
        assert option in capsys.readouterr().err


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_all_results_are_one_table(folder, tmp_path, ending, capsys):
    path = tmp_path / f"results.{ending}"
    words = ["reproduce", "--export", str(path), "-o", str(folder)]
    assert run_command(words) == 0
    table = pd.read_csv(path) if ending == "csv" else pd.read_parquet(path)
    assert f"with {len(table):,} rows" in capsys.readouterr().out
    trained = table[table.role == "model"]
    assert set(trained.model) == {"lstm"}  # short runs that choose a rate have no scores
    first = trained[(trained.split == "test") & (trained.horizon == 12) & (trained.variable == "q")]
    stored = json.loads((folder / "results" / f"{first.result.item()}.json").read_text())
    assert first.error.item() == stored["evaluation"]["scores"]["mse"]["test"]["12"]["q"]
    assert first.learning_rate.item() == stored["trial"]["rate"]
    others = table[table.role != "model"]
    assert {"last-value", "constant-velocity", "known law"} <= set(others.model)
    assert not others.duplicated(["model", "condition", "split", "horizon", "variable"]).any()
    assert set(others.condition) == {12}
    assert run_command(words) == 2  # it exists
    assert "--overwrite" in capsys.readouterr().err
    assert run_command([*words, "--overwrite"]) == 0


def test_a_trial_whose_loss_is_not_finite_is_finished_without_scores(tmp_path, monkeypatch, capsys):
    def diverge(*_: object, **__: object) -> None:
        raise TrainingError("no finite loss")

    monkeypatch.setattr("pgode.reproduce.runner.training.train", diverge)
    result = run_trial(TINY, tmp_path, 1)
    assert result is not None and result.diverged
    monkeypatch.setattr("pgode.reproduce.runner.training.train", pytest.fail)
    assert run_trial(TINY, tmp_path, 1) == result


def test_a_worker_that_is_stopped_ends_with_the_same_numbers(tmp_path):
    trial = replace(TINY, epochs=60)
    torch.set_num_threads(1)
    run_trial(trial, tmp_path / "whole", 1)
    root = tmp_path / "stopped"
    description = json.dumps(trial.to_json())
    worker = "pgode.reproduce.runner.worker"
    words = [sys.executable, "-m", worker, root, description, "1", "cpu"]
    log = run_folder(trial, root) / "metrics.jsonl"
    with subprocess.Popen(words) as process:
        while process.poll() is None and not log.exists():
            time.sleep(0.005)
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 3
    assert read_result(trial, root) is None
    assert subprocess.run(words, check=False).returncode == 0
    assert numbers(root, trial) == numbers(tmp_path / "whole", trial)


def test_a_grid_that_is_killed_leaves_no_worker_behind_and_goes_on(tmp_path):
    words = [sys.executable, "-m", "pgode.cli", "reproduce", "table1", *OPTIONS]
    words += ["--jobs", "1", "-o", str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and not list((tmp_path / "logs").glob("*.txt")):
            time.sleep(0.01)
        time.sleep(0.5)
        process.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 60
    while _workers(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not _workers(tmp_path)
    assert run_command(["reproduce", "table1", *OPTIONS, "-o", str(tmp_path)]) == 0
    assert len(list((tmp_path / "results").iterdir())) == 4


def _workers(root: Path) -> list[int]:
    """Processes that work for this grid."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if b"pgode.reproduce.runner.worker" in words and os.fsencode(root) in words:
            found.append(int(entry.name))
    return found


def test_a_trial_that_fails_is_reported(tmp_path, capsys):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "springs-12.nc").write_bytes(b"not a data file")
    words = ["reproduce", "table1", *OPTIONS, "-o", str(tmp_path)]
    assert run_command(words) == 1
    out = capsys.readouterr().out
    assert "failed: springs lstm rate 0.0003" in out
    assert "springs-12.nc" in out


def test_the_grid_runs_on_two_ray_workers(tmp_path, folder):
    words = [sys.executable, "-m", "pgode.cli", "reproduce", "table1", *OPTIONS]
    words += ["--engine", "ray", "--jobs", "2", "-o", str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    ours = sorted(path.name for path in (tmp_path / "results").iterdir())
    assert ours == sorted(path.name for path in (folder / "results").iterdir())
    for name in ours:
        here, there = (
            json.loads((each / "results" / name).read_text()) for each in (tmp_path, folder)
        )
        assert here["validation"] == pytest.approx(there["validation"], rel=1e-4)


@pytest.mark.parametrize(
    "words, expected",
    [
        (["table99"], "there is no table or figure"),
        (["table1", "--jobs", "0"], "--jobs is 0"),
        (["table1", "--engine", "slurm"], "local, ray"),
        (["table1", "--budget", "big"], "smoke, quick, paper"),
        (["table1", "--models", "hoppe"], 'Did you mean "hope"'),
        (["table9", "--datasets", "springs"], "springs-30"),
        (["table1", "--preset", "best"], "default, messages, paper"),
        (["--export", "results.xlsx"], "ends in .csv or .parquet"),
        (["table1", "--overwrite"], "no file is to be written"),
        (["--export", "results.csv"], "holds no results"),
    ],
)
def test_bad_choices_are_one_paragraph_and_exit_code_2(words, expected, tmp_path, capsys):
    assert run_command(["reproduce", *words, "-o", str(tmp_path / "new")]) == 2
    assert expected in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
