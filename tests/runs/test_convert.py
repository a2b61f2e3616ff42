"""Runs of format 1, of which format1/ holds a real one, in the format of today."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pgode
from pgode.data.simulate import simulate
from pgode.runs.convert import convert_run, upgrade_config
from pgode.runs.folder import read_config
from pgode.runtime.errors import InputError
from pgode.training.config import run_config

OLD = Path(__file__).with_name("format1")


def upgraded(config: dict[str, Any]) -> dict[str, Any]:
    return upgrade_config(config, OLD / "config.json")


@pytest.fixture(scope="module")
def data() -> pgode.Trajectories:
    """What the stored run was trained on."""
    return simulate("springs", objects=3, frames=12, seed=1, train=4, val=2, test=2, ood=0)


@pytest.fixture
def converted(tmp_path: Path) -> Path:
    convert_run(OLD, tmp_path / "new")
    return tmp_path / "new"


def test_a_converted_run_forecasts_what_it_forecast_before(
    converted: Path, data: pgode.Trajectories
) -> None:
    expected = json.loads((OLD / "forecast.json").read_text())
    observed = data.split_of("test").frames_between(0, 6)
    forecast = pgode.open_run(converted).forecast(observed, until=3, samples=2)
    np.testing.assert_allclose(forecast.mean, expected["mean"], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(forecast.samples, expected["samples"], rtol=1e-5, atol=1e-6)


def test_a_run_keeps_the_gate_it_was_trained_with(converted: Path) -> None:
    stored = json.loads((converted / "config.json").read_text())
    assert stored["model"]["gate"].pop("normalise") is False
    # As a run of this format was written before there was a choice.
    (converted / "manifest.json").unlink()
    (converted / "config.json").write_text(json.dumps(stored))
    assert pgode.open_run(converted).config.model["gate"]["normalise"] is False
    assert run_config(file=converted / "config.json").model["gate"]["normalise"] is False
    assert run_config().model["gate"]["normalise"] is True


def with_parts(run: Path, present: bool) -> Path:
    """The config.json of a run as it was when models could have two more parts."""
    file = run / "config.json"
    (run / "manifest.json").unlink()
    stored = json.loads(file.read_text())
    stored["model"]["encoder"]["strength_context"] = stored["model"]["state"]["coupling"] = present
    file.write_text(json.dumps(stored))
    return file


def test_a_run_that_says_it_has_none_of_the_parts_that_are_gone_is_read(converted: Path) -> None:
    stored, again = pgode.open_run(converted).config, run_config(file=converted / "config.json")
    file = with_parts(converted, present=False)
    assert pgode.open_run(converted).config == stored
    assert run_config(file=file) == again


def test_parts_that_are_gone_do_not_matter_where_the_data_had_no_use_for_them(
    converted: Path,
) -> None:
    stored = pgode.open_run(converted).config
    with_parts(converted, present=True)
    file = converted / "normaliser.json"
    content = json.loads(file.read_text())
    file.write_text(json.dumps(content | {"roles": ["other"] * len(content["roles"])}))
    assert read_config(converted) == stored


def test_a_run_with_parts_that_are_gone_is_refused(
    converted: Path, data: pgode.Trajectories
) -> None:
    file = with_parts(converted, present=True)
    parts = r"model\.encoder\.strength_context and model\.state\.coupling"
    message = rf"config\.json .* {parts}.* Expected a run without\. Train the model again"
    for read in (pgode.open_run, lambda folder: pgode.resume(folder, data)):
        with pytest.raises(InputError, match=message):
            read(converted)
    with pytest.raises(InputError, match=r'"model\.encoder\.strength_context" was removed'):
        run_config(file=file)


def test_a_converted_run_keeps_its_log_and_can_be_resumed(
    converted: Path, data: pgode.Trajectories
) -> None:
    run = pgode.resume(converted, data)
    (row,) = run.epochs
    assert {"parameter_info", "context_info"} <= row["train"].keys()


def test_an_old_run_is_refused_with_the_command_that_converts_it() -> None:
    with pytest.raises(InputError, match=r"a run of format 1.* pgode convert OLD -o NEW"):
        pgode.open_run(OLD)


def test_nothing_is_overwritten_and_a_new_run_needs_no_conversion(
    converted: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="which is kept"):
        convert_run(OLD, converted)
    with pytest.raises(InputError, match="needs no conversion"):
        convert_run(converted, tmp_path / "again")
    with pytest.raises(InputError, match="Expected a folder that pgode train wrote"):
        convert_run(tmp_path / "nothing", tmp_path / "again")
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize(
    "changes, new",
    [
        ({}, {}),
        ({"gate": "system"}, {"model.gate.contexts": "system"}),
        ({"dynamics": "single"}, {"model.dynamics": "single"}),
        ({"top": 2, "prototypes": 3}, {"model.dynamics.top_k": 2, "model.dynamics.prototypes": 3}),
        ({"system_mean": False}, {"model.encoder.reference_objects": None}),
        (
            {"kinematics": False, "anchor": False},
            {
                "model.state.kind": "latent",
                "model.state.residual_decoder": False,
                "model.state.history_readout": False,
                "model.state.mean_structure": False,
                "model.state.trend": False,
            },
        ),
        (
            {"kinematics": False, "coupling": True},
            {"model.state.kind": "latent", "model.state.trend": False},
        ),
        (
            {"kinematics": False, "prototypes": 1, "gate": "object", "regions": True},
            {
                "model.state": "latent",
                "model.state.trend": False,
                "model.dynamics.prototypes": 1,
            },
        ),
    ],
)
def test_settings_of_format_1_become_those_of_today(
    changes: dict[str, object], new: dict[str, object], tmp_path: Path
) -> None:
    old = json.loads((OLD / "config.json").read_text())
    file = tmp_path / "config.json"
    file.write_text(json.dumps(upgraded({**old, "model": {**old["model"], **changes}})))
    same = tmp_path / "same.json"
    same.write_text(json.dumps(upgraded(old)))
    assert run_config(file=file) == run_config(file=same, changes=new)


def test_a_run_without_the_recovery_term_cannot_be_converted() -> None:
    old = json.loads((OLD / "config.json").read_text())
    with pytest.raises(InputError, match="without the recovery term"):
        upgraded({**old, "model": {**old["model"], "recovery": False}})


@pytest.mark.parametrize(
    "changes, named",
    [
        ({"strength": True}, r"model\.strength"),
        ({"coupling": True}, r"model\.coupling"),
        ({"strength": True, "coupling": True}, r"model\.strength and model\.coupling"),
    ],
)
def test_a_run_with_parts_that_are_gone_cannot_be_converted(
    changes: dict[str, object], named: str, tmp_path: Path
) -> None:
    run = shutil.copytree(OLD, tmp_path / "old")
    old = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps({**old, "model": {**old["model"], **changes}}))
    with pytest.raises(InputError, match=rf"old/config\.json .* with {named}, .* Train the model"):
        convert_run(run, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_run_of_the_first_release_cannot_be_converted() -> None:
    old = json.loads((OLD / "config.json").read_text())
    model = {key: value for key, value in old["model"].items() if key != "coupling"}
    with pytest.raises(InputError, match=r"written by release 0\.1\.0.* Train the model again"):
        upgraded({**old, "model": model})


@pytest.mark.parametrize(
    "name, content",
    [
        ("metrics.jsonl", '{"epoch": 1'),
        ("normaliser.json", "{}"),
        ("config.json", '{"name": "pgode", "model": null}'),
        ("config.json", "[]"),
    ],
)
def test_a_damaged_run_is_refused_by_the_name_of_the_file(
    tmp_path: Path, name: str, content: str
) -> None:
    damaged = shutil.copytree(OLD, tmp_path / "old")
    (damaged / name).write_text(content)
    with pytest.raises(InputError, match="Expected"):
        convert_run(damaged, tmp_path / "new")
    assert not (tmp_path / "new").exists()
