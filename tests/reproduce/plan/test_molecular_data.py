"""The paper's molecular tables: a tiny molecule in the place of a protein, trained for real."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.data.test_molecules import molecule, motion

from pgode.cli.app import run_command
from pgode.data import files
from pgode.data.molecules import Preparation, prepare
from pgode.data.simulate.protein import from_sequence
from pgode.evaluation.uncertainty.noise_floor import noise_floor
from pgode.models import model_config
from pgode.reproduce.output.collect import content
from pgode.reproduce.output.rendering import markdown, tables, terminal
from pgode.reproduce.plan import molecular_data
from pgode.reproduce.plan.choice import Choice, entries, trials, tuning
from pgode.reproduce.plan.datasets import data_file
from pgode.reproduce.plan.molecular_data import make_protein_data, protein_file, replicas_file
from pgode.reproduce.plan.trials import Trial, result_file, run_trial
from pgode.reproduce.runner.engines import ENGINES
from pgode.reproduce.tables.catalogue import EXPERIMENTS
from pgode.runs.run import Run
from pgode.runtime.errors import InputError
from pgode.runtime.files import write_json, write_text
from pgode.training.config import run_config

OPTIONS = ["--datasets", "5awl", "--models", "lstm,pgode", "--budget", "smoke"]
FRAMES, FUTURES = 40, 3


def in_this_process(wanted, root, jobs, watcher) -> None:
    for trial in wanted:
        run_trial(trial, root, 1)
        watcher.finished(trial)


def put_data(root: Path, name: str) -> None:
    """A molecule of eight atoms that walks at random, and replicas of four of its conditions."""
    clock, split = np.arange(FRAMES) * 0.2, ["train"] * 4 + ["val", "test", "test", "ood"]
    positions = motion(len(split), FRAMES)
    data = prepare(positions, clock, molecule(), Preparation(), {}, split=split)
    files.write(data, protein_file(name, "smoke", root))
    several = np.repeat(positions[4:], FUTURES, axis=0)
    several[:, 12:] += np.random.default_rng(2).normal(0, 0.02, several[:, 12:].shape)
    owner = [f"condition {k // FUTURES}" for k in range(len(several))]
    parts = ["test"] * 2 * FUTURES + ["ood"] * 2 * FUTURES
    said = {"replica_of": owner}
    replicas = prepare(several, clock, molecule(), Preparation(), said, split=parts)
    files.write(replicas, replicas_file(name, "smoke", root))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Two models on data that was put there before."""
    root = tmp_path_factory.mktemp("molecular")
    put_data(root, "5awl")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(ENGINES, "local", in_this_process)
        assert run_command(["reproduce", "table2", *OPTIONS, "-o", str(root)]) == 0
    return root


def rows(folder: Path) -> dict[str, dict]:
    found = json.loads((folder / "table2.json").read_text())
    assert found["cells"][4] == ["test", 24, "qy"]
    return {row["label"]: row for row in found["rows"]}


def test_every_row_of_a_molecular_table_is_there(folder):
    found = rows(folder)
    assert list(found) == [
        "LSTM",
        "PGODE, `paper` preset",
        "PGODE, `default` preset",
        "last value",
        "constant velocity",
        "mean of the condition",
        "noise floor",
    ]
    assert found["LSTM"]["cells"][4]["published"] == pytest.approx(4.442e-3)
    assert found["PGODE, `default` preset"]["cells"][4]["published"] == pytest.approx(3.384e-3)
    assert all(cell["ours"] > 0 for row in found.values() for cell in row["cells"])


def test_the_floor_is_that_of_the_replicas_in_the_scale_of_the_run(folder):
    replicas = files.read(replicas_file("5awl", "smoke", folder))
    trained_on_all = [
        found
        for path in (folder / "results").glob("*.json")
        if "noise_floor" in (found := json.loads(path.read_text()))
    ]
    assert len(trained_on_all) == 3
    full = next(r for r in trained_on_all if r["trial"]["model"] == "lstm")
    run = Run.open(folder / "runs" / Trial.from_json(full["trial"]).key)
    expected = noise_floor(replicas, run.normaliser, 12, [12, 24])
    assert {part: full["noise_floor"][part] for part in expected} == expected
    assert rows(folder)["noise floor"]["cells"][4]["ours"] == expected["mse"]["test"]["24"]["qy"]


def test_what_pgode_gained_is_measured_from_the_last_value_to_the_floor(folder):
    found = rows(folder)
    results = [json.loads(path.read_text()) for path in (folder / "results").glob("*.json")]
    for label in ("PGODE, `paper` preset", "PGODE, `default` preset"):
        preset = label.split("`")[1]
        (floor,) = (
            result["noise_floor"]
            for result in results
            if (result["trial"]["model"], result["trial"]["preset"]) == ("pgode", preset)
            and "noise_floor" in result
        )
        ours, last, lowest = (
            floor[part]["test"]["24"]["qy"] for part in ("model", "last-value", "mse")
        )
        cell = found[label]["cells"][4]
        assert cell["gained"][0] == pytest.approx((last - ours) / (last - lowest))
    assert not any("gained" in cell for cell in found["LSTM"]["cells"])


def test_floor_and_gain_are_in_every_form_of_the_table(folder, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert run_command(["reproduce", "table2", *OPTIONS, "--show", "-o", str(folder)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    texts = [(folder / f"table2{suffix}").read_text() for suffix in (".md", ".html")]
    for text in (*texts, shown):
        assert "noise floor" in text and "%" in text
        assert "gained of what can be: PGODE" in text
    for text in texts:
        assert "MSE x 1e-3" in text and "one model trained at 24" in text
    cell = rows(folder)["LSTM"]["cells"][0]
    assert f"{1000 * cell['ours']:.3g} (4.18)" in texts[0].replace("**", "")
    line = next(line for line in texts[0].splitlines() if line.startswith("| noise floor"))
    assert "**" not in line  # nobody reached it


def test_the_list_shows_long_names_in_full(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert run_command(["reproduce", "--list"]) == 0
    shown = capsys.readouterr().out.split()
    assert {name for name, each in EXPERIMENTS.items() if "5awl" in each.datasets} <= {*shown}


def finish(experiment, choice: Choice, root: Path, **more) -> None:
    """Results of every trial of an experiment, made up."""
    for entry in entries(experiment):
        for short in tuning(entry, choice):
            write_json(result_file(short, root), {"trial": {"seed": 0}, "validation": short.rate})
        for trial in (trials(entry, experiment, choice, root) or {})[24]:
            errors = {
                split: {str(h): dict.fromkeys(("q", "qx", "qy", "qz"), 2e-3) for h in (12, 24)}
                for split in ("test", "ood")
            }
            result = {"trial": {"seed": 0}, "seconds_per_epoch": 1.0, "parameters": 1}
            result |= {"data_hash": "", "mse": errors, "validation": 1.0}
            result["naive"] = dict.fromkeys(("last-value", "constant-velocity"), errors)
            write_json(result_file(trial, root), {**result, **more})


@pytest.mark.parametrize(
    "name, published",
    [
        ("table2-raw", None),
        ("table3-5awl", 2.995e-3),
        ("table11", 2.076e-3),
        ("table12-5awl", 3.010e-3),
        ("table14", 2.126e-3),
        ("figure4-condition-5awl", None),
        ("figure4-prototypes-5awl", None),
    ],
)
def test_every_molecular_table_finds_its_published_numbers(name, published, tmp_path):
    finish(EXPERIMENTS[name], Choice("quick"), tmp_path)
    found = content(EXPERIMENTS[name], Choice("quick"), tmp_path)
    first = found["rows"][0]["cells"][0]
    assert first["ours"] == 2e-3
    assert first["published"] == (published and pytest.approx(published))
    assert "noise floor" not in markdown(found)  # there are no replicas


@pytest.mark.parametrize("name", ["figure4-condition-5awl", "figure4-prototypes-5awl", "table14"])
def test_every_line_of_a_table_with_a_floor_is_as_wide_as_its_head(name, tmp_path):
    known = {split: {h: {"q": 0.5, "qx": 0.5} for h in ("12", "24")} for split in ("test", "ood")}
    floor = {"mse": known, "gained": known}
    finish(EXPERIMENTS[name], Choice("quick"), tmp_path, noise_floor=floor)
    found = content(EXPERIMENTS[name], Choice("quick"), tmp_path)
    for _, header, lines in tables(found):
        assert any(line[0].startswith("gained") for line in lines)
        assert {len(line) for line in lines} == {len(header)}
    assert terminal(found)


def test_what_is_not_known_of_the_gain_is_left_open(tmp_path):
    table, choice = EXPERIMENTS["table3-5awl"], Choice("quick")
    gained = {"test": {"24": {"qx": 0.5, "qy": None}}}
    finish(table, choice, tmp_path, noise_floor={"mse": {}, "gained": gained})
    cells = content(table, choice, tmp_path)["rows"][0]["cells"]
    assert [cell["gained"] for cell in cells] == [[0.5, None, None], *[[None] * 3] * 5]


def test_proteins_have_fewer_systems_smaller_batches_and_a_quicker_model(tmp_path):
    table, choice = EXPERIMENTS["table2"], Choice("quick")
    entry = entries(table)[0]
    finish(table, choice, tmp_path)
    assert [(short.epochs, short.systems, short.horizon) for short in tuning(entry, choice)] == [
        (4, 50, 12)
    ] * 3
    found = trials(entry, table, choice, tmp_path)
    assert found is not None and list(found) == [24]
    config = found[24][0].config(1)
    assert (config.training.epochs, config.training.batch) == (10, 4)
    assert config.training.curriculum == ((0.4, 12),)
    assert (config.window.condition, config.window.horizon) == (12, 24)
    each = trials(entry, table, Choice("quick", per_length=True), tmp_path)
    assert each is not None and list(each) == [12, 24]


def settings_of(trial):
    return model_config(trial.model, trial.config(1).model).model_dump()


def test_every_model_of_proteins_has_one_width_and_those_with_a_solver_one_step_per_frame():
    for row in EXPERIMENTS["table2"].rows:
        model = settings_of(Trial("5awl", "quick", row.model, row.preset))
        assert model["width"] == 64
        assert "solver" not in model or model["solver"]["method"] == "euler"
    assert settings_of(Trial("springs", "quick", "pgode"))["solver"]["method"] == "rk4"
    preset = run_config("pgode", "molecules", None, {})
    ours = Trial("5awl", "quick", "pgode").config(1)
    assert (preset.model, preset.training.batch) == (ours.model, ours.training.batch)
    wider = Trial("5awl", "quick", "gru", settings=(("model.width", 96),))
    assert settings_of(wider)["width"] == 96


def test_a_trial_does_not_simulate_a_protein(tmp_path):
    with pytest.raises(InputError, match=r"5awl-200\.nc is not there.*pgode reproduce makes"):
        data_file("5awl", "quick", tmp_path)


@pytest.mark.parametrize(
    "error, code, words",
    [
        (InputError("no water left"), 1, "failed: 5awl: no water left"),
        (KeyboardInterrupt(), 130, "making the data of 5awl"),
    ],
)
def test_the_grid_simulates_before_it_trains(error, code, words, tmp_path, monkeypatch, capsys):
    asked = {}

    def simulate(source, settings, folder, **how):
        asked.update(source=source, settings=settings, folder=folder, **how)
        raise error

    monkeypatch.setattr(molecular_data.protein, "simulate_samples", simulate)
    write_text(tmp_path / "data" / "5awl.pdb", from_sequence("GAG").pdb)
    line = ["reproduce", "table2", "--datasets", "5awl", "--models", "lstm", "--jobs", "3"]
    assert run_command([*line, "-o", str(tmp_path)]) == code
    assert words in capsys.readouterr().out
    assert not (tmp_path / "runs").exists()
    settings = asked["settings"]
    assert settings.counts == {"train": 200, "val": 50, "test": 50, "ood": 50}
    assert (settings.frames, settings.replicas, settings.implicit) == (48, 4, False)
    assert (settings.structure, settings.structure_hash) == ("5AWL", asked["source"].hash)
    assert asked["folder"] == tmp_path / "data" / "5awl.samples"
    assert (asked["jobs"], asked["engine"]) == (3, "local")
    assert asked["display"] is not None


def test_both_alignments_come_from_one_simulation(tmp_path, monkeypatch):
    short = {"frames": 5, "frame_time": 0.04, "settle": 0.0, "equilibrate": 0.4, "separate": 0.04}
    short |= {"implicit": True, "replicas": 2, "replicated": 1, "condition": 2, "horizon": 3}
    monkeypatch.setattr(molecular_data, "WITHOUT_WATER", short)
    write_text(tmp_path / "data" / "5awl.pdb", from_sequence("GG").pdb)
    superposed = files.read(make_protein_data("5awl", "smoke", tmp_path, jobs=2))
    kept = tmp_path / "data" / "5awl-smoke.samples"
    before = {path: path.stat().st_mtime_ns for path in kept.glob("*.npz")}
    assert len(before) == 1 + 4 + 10  # equilibrated, a start per split, samples
    raw = files.read(make_protein_data("5awl-raw", "smoke", tmp_path))
    assert {path: path.stat().st_mtime_ns for path in kept.glob("*.npz")} == before
    assert superposed.split.tolist() == ["train"] * 4 + ["val", "val", "test", "test", "ood", "ood"]
    np.testing.assert_allclose(superposed.states[:, :, 0], raw.states[:, :, 0], atol=1e-6)
    assert np.abs(superposed.states - raw.states).max() > 1e-4
    for name in ("5awl", "5awl-raw"):
        assert files.read(replicas_file(name, "smoke", tmp_path)).systems == 6
    path = protein_file("5awl", "smoke", tmp_path)
    path.write_bytes(b"a user's own")
    assert make_protein_data("5awl", "smoke", tmp_path).read_bytes() == b"a user's own"
