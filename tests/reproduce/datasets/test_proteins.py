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
from pgode.evaluation.evaluation import Evaluation, NoiseFloor, ScoreTable
from pgode.evaluation.uncertainty.noise_floor import noise_floor
from pgode.models import model_config
from pgode.reproduce.datasets import proteins
from pgode.reproduce.datasets.dataset import Resources
from pgode.reproduce.datasets.registry import DATASETS
from pgode.reproduce.output.collect import collect_errors
from pgode.reproduce.output.rendering import markdown, terminal, text_tables
from pgode.reproduce.plan.results import Result, write_result
from pgode.reproduce.plan.selection import Selection, combinations, full_trials, tuning_trials
from pgode.reproduce.plan.trials import Trial
from pgode.reproduce.tables.catalogue import EXPERIMENTS
from pgode.runs.run import Run
from pgode.runtime.engines import ENGINES
from pgode.runtime.errors import InputError
from pgode.runtime.files import write_text
from pgode.runtime.stored.sealed import read_sealed
from pgode.training.config import run_config

OPTIONS = ["--datasets", "5awl", "--models", "lstm,pgode", "--budget", "smoke"]
FRAMES, FUTURES = 40, 3


def in_this_process(tasks, jobs, threads, watcher) -> None:
    for task in tasks:
        for result in task.work(*task.arguments()):
            task.store(result)
        watcher.finished(task)


def put_data(root: Path, name: str) -> None:
    """A molecule of eight atoms that walks at random, and replicas of four of its conditions."""
    clock, split = np.arange(FRAMES) * 0.2, ["train"] * 4 + ["val", "test", "test", "ood"]
    positions = motion(len(split), FRAMES)
    data = prepare(positions, clock, molecule(), Preparation(), {}, split=split)
    files.write(data, DATASETS[name].file("smoke", root))
    several = np.repeat(positions[4:], FUTURES, axis=0)
    several[:, 12:] += np.random.default_rng(2).normal(0, 0.02, several[:, 12:].shape)
    owner = [f"condition {k // FUTURES}" for k in range(len(several))]
    parts = ["test"] * 2 * FUTURES + ["ood"] * 2 * FUTURES
    said = {"replica_of": owner}
    replicas = prepare(several, clock, molecule(), Preparation(), said, split=parts)
    files.write(replicas, DATASETS[name].replicas_file("smoke", root))


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
    assert found["columns"][4] == ["test", 24, "qy"]
    return {row["label"]: row for row in found["rows"]}


def test_every_row_of_a_molecular_table_is_there(folder):
    found = rows(folder)
    assert list(found) == [
        "LSTM",
        "PGODE, `paper` preset",
        "PGODE, `paper-anchored` preset",
        "PGODE, `default` preset",
        "last value",
        "constant velocity",
        "mean of the condition",
        "damped trend",
        "linear regression on own past",
        "noise floor",
    ]
    assert found["LSTM"]["cells"][4]["published"] == pytest.approx(4.442e-3)
    assert found["PGODE, `default` preset"]["cells"][4]["published"] == pytest.approx(3.384e-3)
    assert all(cell["ours"] > 0 for row in found.values() for cell in row["cells"])


def test_the_floor_is_that_of_the_replicas_in_the_scale_of_the_run(folder):
    replicas = files.read(DATASETS["5awl"].replicas_file("smoke", folder))
    trained_on_all = [
        result
        for path in (folder / "results").glob("*.json")
        if (result := Result.from_json(read_sealed(path, ""))).evaluation is not None
    ]
    assert len(trained_on_all) == 4
    full = next(result for result in trained_on_all if result.trial.model == "lstm")
    run = Run.open(folder / "runs" / full.trial.key)
    expected = noise_floor(replicas, run.normaliser, 12, [12, 24])
    floor = full.evaluation.noise_floor
    assert (floor.mse, floor.rmsd) == (expected.mse, expected.rmsd)
    assert (floor.conditions, floor.replicas) == (expected.conditions, expected.replicas)
    assert rows(folder)["noise floor"]["cells"][4]["ours"] == expected.mse.at("test", 24, "qy")


def test_the_share_is_measured_from_the_last_value_to_the_floor(folder):
    found = rows(folder)
    paths = (folder / "results").glob("*.json")
    results = [Result.from_json(read_sealed(path, "")) for path in paths]
    for label in (f"PGODE, `{name}` preset" for name in ("paper", "paper-anchored", "default")):
        preset = label.split("`")[1]
        (floor,) = (
            result.evaluation.noise_floor
            for result in results
            if (result.trial.model, result.trial.preset) == ("pgode", preset)
            and result.evaluation is not None
        )
        ours, last, lowest = (
            table.at("test", 24, "qy") for table in (floor.model, floor.last_value, floor.mse)
        )
        cell = found[label]["cells"][4]
        assert cell["share"][0] == pytest.approx((last - ours) / (last - lowest))
    assert all(cell["share"] is None for cell in found["LSTM"]["cells"])


def test_floor_and_share_are_in_every_form_of_the_table(folder, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert run_command(["reproduce", "table2", *OPTIONS, "--show", "-o", str(folder)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    texts = [(folder / f"table2{suffix}").read_text() for suffix in (".md", ".html")]
    for text in (*texts, shown):
        assert "noise floor" in text and "%" in text
        assert "share of the achievable improvement: PGODE" in text
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


def finish(experiment, selection: Selection, root: Path, floor: NoiseFloor | None = None) -> None:
    """Results of every trial of an experiment, made up."""
    row = dict.fromkeys(("q", "qx", "qy", "qz"), 2e-3)
    scores = {"mse": ScoreTable({split: {12: row, 24: row} for split in ("test", "ood")})}
    evaluation = Evaluation(
        *(
            "x",
            (12, 24),
            ("q",),
            scores,
            dict.fromkeys(("last-value", "constant-velocity"), scores),
        ),
        *({}, ScoreTable(), {}, {}, {}, 0, 0, "", 0.0, 0),
        noise_floor=floor,
    )
    for each in combinations(experiment):
        for short in tuning_trials(each, selection):
            write_result(Result(short, short.rate, 1, 1.0, None, 1, 1, "", ""), root)
        for trial in (full_trials(each, experiment, selection, root) or {})[24]:
            write_result(Result(trial, 1.0, 1, 1.0, None, 1, 1, "", "", evaluation), root)


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
    finish(EXPERIMENTS[name], Selection("quick"), tmp_path)
    content = collect_errors(EXPERIMENTS[name], Selection("quick"), tmp_path)
    first = content.rows[0].cells[0]
    assert first.ours == 2e-3
    assert first.published == (published and pytest.approx(published))
    assert "noise floor" not in markdown(content)  # there are no replicas


@pytest.mark.parametrize("name", ["figure4-condition-5awl", "figure4-prototypes-5awl", "table14"])
def test_every_line_of_a_table_with_a_floor_is_as_wide_as_its_head(name, tmp_path):
    row = {"q": 0.5, "qx": 0.5}
    known = ScoreTable({split: {12: row, 24: row} for split in ("test", "ood")})
    finish(
        EXPERIMENTS[name], Selection("quick"), tmp_path, NoiseFloor(known, {}, 1, 2, share=known)
    )
    content = collect_errors(EXPERIMENTS[name], Selection("quick"), tmp_path)
    for _, header, lines in text_tables(content):
        assert any(line[0].startswith("share") for line in lines)
        assert {len(line) for line in lines} == {len(header)}
    assert terminal(content)


def test_an_unknown_share_is_left_open(tmp_path):
    table, selection = EXPERIMENTS["table3-5awl"], Selection("quick")
    share = ScoreTable({"test": {24: {"qx": 0.5, "qy": None}}})
    finish(table, selection, tmp_path, NoiseFloor(ScoreTable(), {}, 1, 2, share=share))
    cells = collect_errors(table, selection, tmp_path).rows[0].cells
    assert [cell.share for cell in cells] == [(0.5, None, None), *[(None, None, None)] * 5]


def test_proteins_have_fewer_systems_smaller_batches_and_a_quicker_model(tmp_path):
    table, selection = EXPERIMENTS["table2"], Selection("quick")
    first = combinations(table)[0]
    finish(table, selection, tmp_path)
    assert [
        (short.epochs, short.systems, short.horizon) for short in tuning_trials(first, selection)
    ] == [(4, 50, 12)] * 3
    found = full_trials(first, table, selection, tmp_path)
    assert found is not None and list(found) == [24]
    config = found[24][0].config(1)
    assert (config.training.epochs, config.training.batch) == (10, 4)
    assert config.training.curriculum == ((0.4, 12),)
    assert (config.window.condition, config.window.horizon) == (12, 24)
    each = full_trials(first, table, Selection("quick", per_length=True), tmp_path)
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
    with pytest.raises(InputError, match=r"5awl-200\.nc does not exist.*pgode reproduce makes"):
        DATASETS["5awl"].read("quick", tmp_path)


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

    monkeypatch.setattr(proteins.protein, "simulate_samples", simulate)
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
    monkeypatch.setattr(proteins, "WITHOUT_WATER", short)
    write_text(tmp_path / "data" / "5awl.pdb", from_sequence("GG").pdb)
    superposed = files.read(DATASETS["5awl"].make("smoke", tmp_path, Resources(jobs=2)))
    kept = tmp_path / "data" / "5awl-smoke.samples"
    before = {path: path.stat().st_mtime_ns for path in kept.glob("*.npz")}
    assert len(before) == 1 + 4 + 10  # equilibrated, a start per split, samples
    raw = files.read(DATASETS["5awl-raw"].make("smoke", tmp_path))
    assert {path: path.stat().st_mtime_ns for path in kept.glob("*.npz")} == before
    assert superposed.split.tolist() == ["train"] * 4 + ["val", "val", "test", "test", "ood", "ood"]
    np.testing.assert_allclose(superposed.states[:, :, 0], raw.states[:, :, 0], atol=1e-6)
    assert np.abs(superposed.states - raw.states).max() > 1e-4
    for name in ("5awl", "5awl-raw"):
        assert files.read(DATASETS[name].replicas_file("smoke", tmp_path)).systems == 6
    path = DATASETS["5awl"].file("smoke", tmp_path)
    path.write_bytes(b"a user's own")
    assert DATASETS["5awl"].make("smoke", tmp_path).read_bytes() == b"a user's own"
