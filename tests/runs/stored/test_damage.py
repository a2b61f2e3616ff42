"""Files of a run that are damaged, of another form, or of another run: an error that names them."""

import copy
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.flips import flips, refusal

from pgode.evaluation.uncertainty.joint_residuals import JointResiduals
from pgode.runs.folder import PRETRAINED, read_calibration, read_config, read_data, read_normaliser
from pgode.runs.run import Run
from pgode.runtime.stored.manifest import MANIFEST

JSON = ("config.json", "normaliser.json", "data.json", "calibration.json")
READ: dict[str, Callable[[Path], object]] = {
    "config.json": read_config,
    "normaliser.json": read_normaliser,
    "data.json": read_data,
    "calibration.json": lambda folder: read_calibration(folder, 4),
}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with a manifest, made by a training long ago."""
    return Path(shutil.copytree(PRETRAINED / "springs-10", tmp_path / "run"))


@pytest.fixture
def old_run(run: Path) -> Path:
    """A run of an earlier version, which has no manifest."""
    (run / MANIFEST).unlink()
    return run


def assert_same(ours: Run, reference: Run) -> None:
    assert (ours.config, ours.normaliser, ours.data) == (
        reference.config,
        reference.normaliser,
        reference.data,
    )
    assert ours.calibration is not None
    assert reference.calibration is not None
    assert ours.calibration.to_json() == reference.calibration.to_json()
    theirs = reference.model.state_dict()
    for name, value in ours.model.state_dict().items():
        assert torch.equal(value, theirs[name]) or (value.isnan() == theirs[name].isnan()).all()


@pytest.mark.parametrize("name", [*JSON, "model.safetensors", MANIFEST])
def test_no_flipped_byte_of_a_run_goes_unnoticed(run: Path, name: str) -> None:
    whole = Run.open(run)
    for _ in flips(run / name, 60):
        message = refusal(lambda: Run.open(run))
        assert str(run / name) in message or (name == MANIFEST and not message)
        if not message:
            assert_same(Run.open(run), whole)


@pytest.mark.parametrize("name", [*JSON, "model.safetensors"])
def test_a_flipped_byte_without_a_manifest_is_an_error_or_another_number_in_range(
    old_run: Path, name: str
) -> None:
    for _ in flips(old_run / name, 40, seed=1):
        message = refusal(lambda: Run.open(old_run))
        assert not message or str(old_run) in message
        assert "\n" not in message


BROKEN = {
    "empty": "",
    "cut": '{"features": ["qx", "q',
    "null": "null",
    "a list": "[1, 2]",
    "a number": "3",
    "nested": "[" * 5000 + "]" * 5000,
    "nested groups": '{"a":' * 500 + "1" + "}" * 500,
    "not text": "\udcff\udcfe",
    "no entries": "{}",
    "foreign": '{"layers": 3}',
}


@pytest.mark.parametrize("name", JSON)
@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_file_of_another_form_is_named(old_run: Path, name: str, content: str) -> None:
    (old_run / name).write_bytes(content.encode(errors="surrogateescape"))
    message = refusal(lambda: READ[name](old_run))
    assert str(old_run / name) in message
    assert "Expected" in message
    assert "\n" not in message


def changed(content: dict[str, Any], place: str, value: Any) -> dict[str, Any]:
    """A copy with another value at a place such as "spread.0.1"; one that is left out if ... ."""
    content = copy.deepcopy(content)
    *path, last = place.split(".")
    inner: Any = content
    for part in path:
        inner = inner[int(part) if isinstance(inner, list) else part]
    if value is ...:
        del inner[last]
    else:
        inner[int(last) if isinstance(inner, list) else last] = value
    return content


WRONG = [
    ("normaliser.json", "scale.1", 0.0),
    ("normaliser.json", "scale.1", -2.0),
    ("normaliser.json", "scale.1", float("nan")),
    ("normaliser.json", "centre.0", float("inf")),
    ("normaliser.json", "scale", [1.0, 1.0, 1.0]),
    ("normaliser.json", "scale", 4.0),
    ("normaliser.json", "scale.0", "4.98"),
    ("normaliser.json", "scale.0", True),
    ("normaliser.json", "roles", None),
    ("normaliser.json", "features", []),
    ("normaliser.json", "features.0", "qy"),
    ("normaliser.json", "frame_duration", 0),
    ("normaliser.json", "parameter_scale.0", 0),
    ("normaliser.json", "transforms", ["", "", "cube", ""]),
    ("normaliser.json", "reference", {"positions": [[1.0]], "objects": "C"}),
    ("normaliser.json", "graph_rule", [1.0]),
    ("normaliser.json", "units", ...),
    ("normaliser.json", "colour", "red"),
    ("data.json", "hash", "abc"),
    ("data.json", "objects", 0),
    ("data.json", "objects", 2.5),
    ("data.json", "systems", {"train": -1}),
    ("data.json", "systems", [1, 2]),
    ("data.json", "generator_settings", "{"),
    ("data.json", "generator_settings", "[]"),
    ("data.json", "parent", {"folder": "x"}),
    ("data.json", "source", ...),
    ("calibration.json", "levels.3", 0.5),
    ("calibration.json", "frames.0", 1e9),
    ("calibration.json", "frames", []),
    ("calibration.json", "frames.1", None),
    ("calibration.json", "spread.0.0", 0.0),
    ("calibration.json", "spread.0.0", -1.0),
    ("calibration.json", "spread.2", [1.0]),
    ("calibration.json", "quantiles.0.0.0", 1e9),
    ("calibration.json", "quantiles.0.0.0", float("nan")),
    ("calibration.json", "quantiles.0.0", [1.0]),
    ("calibration.json", "quantiles.0", {}),
    ("calibration.json", "quantiles", ...),
    ("config.json", "model.width", "wide"),
    ("config.json", "model.width", -1),
    ("config.json", "model.walls", {"a": 1}),
    ("config.json", "name", "unknown"),
    ("config.json", "name", 3),
    ("config.json", "model", None),
    ("config.json", "window.condition", 0),
    ("config.json", "training.learning_rate", float("nan")),
    ("config.json", "window", ...),
]


@pytest.mark.parametrize("name, place, value", WRONG)
def test_a_wrong_entry_is_named_with_its_file(
    old_run: Path, name: str, place: str, value: Any
) -> None:
    content = json.loads((old_run / name).read_text())
    (old_run / name).write_text(json.dumps(changed(content, place, value)))
    message = refusal(lambda: READ[name](old_run))
    assert str(old_run / name) in message
    assert any(part in message for part in place.split(".") if not part.isdigit())
    assert "\n" not in message


def test_files_of_different_runs_do_not_go_together(old_run: Path) -> None:
    content = json.loads((old_run / "calibration.json").read_text())
    content["spread"] = [row[:3] for row in content["spread"]]
    content["quantiles"] = [rows[:3] for rows in content["quantiles"]]
    (old_run / "calibration.json").write_text(json.dumps(content))
    assert "3 features. Expected 4" in refusal(lambda: Run.open(old_run))


def residuals(folder: Path, **changes: Any) -> None:
    arrays = {"frames": np.array([1.0, 2.0]), "fields": np.zeros((3, 2, 2, 3), np.float16)}
    with (folder / "residuals.npz").open("wb") as file:
        np.savez_compressed(file, **{**arrays, **changes})


@pytest.mark.parametrize(
    "changes, reason",
    [
        ({"frames": np.array([2.0, 1.0])}, "do not increase"),
        ({"frames": np.array([1.0, np.nan])}, "not finite"),
        ({"frames": np.zeros((2, 1))}, "do not belong together"),
        ({"fields": np.zeros((3, 2, 2, 2), np.float16)}, "do not belong together"),
        ({"fields": np.full((3, 2, 2, 3), np.inf)}, "not all finite"),
        ({"fields": np.zeros((0, 2, 2, 3))}, "empty"),
        ({"fields": np.array(["text"])}, "fields.npy has <U4"),
        ({"fields": np.zeros((3, 2, 2, 3), bool)}, "fields.npy has bool"),
    ],
)
def test_wrong_residuals_are_named(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    residuals(tmp_path)
    assert JointResiduals.read(tmp_path) is not None
    residuals(tmp_path, **changes)
    message = refusal(lambda: JointResiduals.read(tmp_path))
    assert f"cannot read {tmp_path / 'residuals.npz'}" in message
    assert reason in message


def test_flipped_bytes_of_residuals_are_errors_or_other_residuals(tmp_path: Path) -> None:
    residuals(tmp_path)
    for _ in flips(tmp_path / "residuals.npz", 120):
        message = refusal(lambda: JointResiduals.read(tmp_path))
        assert "residuals.npz" in message or not message


def test_residuals_that_claim_to_be_huge_are_refused_before_they_are_read(tmp_path: Path) -> None:
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**5, 10**4, 1, 1)}
    with zipfile.ZipFile(tmp_path / "residuals.npz", "w") as archive:
        for name in ("frames", "fields"):
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array_header_1_0(member, header)
    message = refusal(lambda: JointResiduals.read(tmp_path))
    assert "of shape (100000, 10000, 1, 1), which its 128 bytes cannot hold" in message
