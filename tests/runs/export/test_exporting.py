"""A run becomes a file whose forecasts are those of the run, or an error and no file."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from tests.trained_runs import CONDITION, data_file, springs, trained
from torch.export import ExportedProgram

import pgode
from pgode.data.trajectories import Trajectories
from pgode.runs.export import check, exporting
from pgode.runs.export.arrays import observed_arrays
from pgode.runs.export.exporting import Exported, export_run
from pgode.runs.export.program import record
from pgode.runs.export.signature import Signature
from pgode.runtime.errors import InputError

EXAMPLE = Path(__file__).parents[3] / "docs/examples/onnx_forecast.py"
UNTIL = 3


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    return export_run(trained(), tmp_path_factory.mktemp("export") / "model.onnx", until=UNTIL)


def session(exported: Exported) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(exported.path, providers=["CPUExecutionProvider"])


def forecast(exported: Exported, arrays: dict[str, np.ndarray]) -> np.ndarray:
    return session(exported).run(["forecast"], arrays)[0]


def of_sizes(*sizes: int) -> Trajectories:
    """Systems of the data with only so many of their objects, joined by all pairs."""
    data, width = springs(), max(sizes)
    states = np.array(data.states[: len(sizes), :width])
    present = np.arange(width) < np.array(sizes)[:, None]
    states[~present] = np.nan
    pairs = present[:, :, None] & present[:, None] & ~np.eye(width, dtype=bool)
    return Trajectories.build(
        states,
        data.times[: len(sizes)],
        edges=pairs.astype(float),
        features=data.features,
        roles=list(data.dataset["feature_role"].values),
        variables=list(data.dataset["feature_variable"].values),
        present=present,
    )


def test_onnxruntime_forecasts_what_the_run_forecasts(exported: Exported) -> None:
    assert exported.comparison.difference <= check.TOLERANCE
    data = springs().frames_between(0, CONDITION)
    arrays = observed_arrays(data, range(data.systems), exported.signature)
    expected = trained().forecast(data, until=UNTIL, samples=0).mean
    found = forecast(exported, arrays).reshape(expected.shape)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_systems_of_other_sizes_and_objects_that_are_alone_are_forecast(
    exported: Exported,
) -> None:
    data = of_sizes(3, 1, 2).frames_between(0, CONDITION)
    expected = trained().forecast(data, until=UNTIL, samples=0).mean
    for systems in ([0, 1, 2], [0], [1]):  # The last has one object and no edge.
        found = forecast(exported, observed_arrays(data, systems, exported.signature))
        rows = np.concatenate([expected[k, : data.n_objects[k]] for k in systems])
        np.testing.assert_allclose(found, rows, atol=1e-5)


def test_missing_values_are_not_a_number(exported: Exported) -> None:
    data = springs().frames_between(0, CONDITION)
    arrays = observed_arrays(data, [0, 1], exported.signature)
    arrays["states"][1, 2:4] = np.nan
    states = np.array(data.states[:2])
    states[0, 1, 2:4] = np.nan
    changed = data.select([0, 1]).dataset.assign(
        states=(("system", "object", "time", "feature"), states)
    )
    changed["observed"] = changed["states"].notnull()
    expected = trained().forecast(Trajectories.from_dataset(changed), until=UNTIL, samples=0).mean
    np.testing.assert_allclose(
        forecast(exported, arrays).reshape(expected.shape), expected, atol=1e-5
    )


def test_the_file_says_what_it_holds(exported: Exported) -> None:
    opened = session(exported)
    about = opened.get_modelmeta().custom_metadata_map
    run = trained()
    assert json.loads(about["features"]) == list(run.normaliser.features)
    assert json.loads(about["units"]) == list(run.normaliser.units)
    assert float(about["frame_duration"]) == run.normaliser.frame_duration
    assert (about["condition"], about["until"]) == (str(CONDITION), str(UNTIL))
    assert (about["pgode_version"], about["data_hash"]) == (pgode.__version__, run.data.hash)
    assert len(about["run_hash"]) == 64
    shapes = {each.name: each.shape for each in opened.get_inputs()}
    assert shapes["states"] == ["objects", CONDITION, len(run.normaliser.features)]
    assert shapes["times"] == ["systems", CONDITION]
    assert shapes["senders"] == shapes["receivers"] == ["edges"]
    wanted = {each["name"]: each["shape"] for each in json.loads(about["arrays"])}
    assert wanted == shapes


def test_the_example_runs_where_neither_pgode_nor_torch_can_be_imported(
    exported: Exported,
) -> None:
    blocked = (
        "import runpy, sys\n"
        "class Blocked:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('torch', 'pgode'):\n"
        "            raise ImportError(f'{name} is blocked')\n"
        "sys.meta_path.insert(0, Blocked())\n"
        "sys.argv = sys.argv[1:]\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", blocked, str(EXAMPLE), str(exported.path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"8 objects, {UNTIL} frames" in done.stdout


@pytest.fixture(scope="module")
def recorded() -> ExportedProgram:
    """The program of the run, recorded once for two tests: it takes most of an export's time."""
    return record(trained().model, Signature.of(trained().model, CONDITION, UNTIL))


def test_torch_export_holds_the_same_forecast_and_no_pickle(
    tmp_path: Path, recorded: ExportedProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "record", lambda model, signature: recorded)
    file = tmp_path / "model.pt2"
    written = export_run(trained(), file, data=data_file(), until=UNTIL)
    assert written.comparison.difference <= check.TOLERANCE
    with zipfile.ZipFile(file) as archive:
        pickled = [name for name in archive.namelist() if archive.read(name)[:2] == b"\x80\x02"]
        samples = [name for name in archive.namelist() if "sample_inputs" in name]
        assert not pickled and all(not archive.read(name) for name in samples)
    about = {"pgode.json": ""}
    program = torch.export.load(file, extra_files=about).module()
    assert json.loads(about["pgode.json"])["until"] == UNTIL
    data = of_sizes(3, 1, 2).frames_between(0, CONDITION)
    expected = trained().forecast(data, until=UNTIL, samples=0).mean
    for systems in ([0, 1, 2], [0]):
        arrays = observed_arrays(data, systems, written.signature).values()
        with torch.no_grad():
            found = program(*map(torch.from_numpy, arrays)).numpy()
        rows = np.concatenate([expected[k, : data.n_objects[k]] for k in systems])
        np.testing.assert_allclose(found, rows, atol=1e-5)


def test_an_export_that_differs_is_an_error_and_leaves_the_old_file(
    tmp_path: Path, recorded: ExportedProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "record", lambda model, signature: recorded)
    file = tmp_path / "model.pt2"
    file.write_text("old")
    monkeypatch.setattr(check, "TOLERANCE", -1.0)
    with pytest.raises(InputError, match=r"differs from the model's own by .* Expected at most"):
        export_run(trained(), file, until=UNTIL, overwrite=True)
    assert file.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["model.pt2"]


@pytest.mark.parametrize(
    "options, message",
    [
        ({"output": "model.h5"}, "its ending names no format"),
        ({"until": 0}, "cannot export with --until 0"),
        ({"condition": -1}, "cannot export with --condition -1"),
        ({"condition": 99}, "no system of the data has 99 frames"),
        ({"data": "nowhere.nc"}, "nowhere.nc"),
    ],
)
def test_wrong_options_are_refused(
    options: dict[str, object], message: str, tmp_path: Path
) -> None:
    given = {"output": "model.onnx", **options}
    with pytest.raises(InputError, match=message):
        export_run(trained(), tmp_path / str(given.pop("output")), **given)
    assert not list(tmp_path.iterdir())


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("pgode.runs.export.onnx_file.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r'pip install "pgode\[export\]"'):
        exporting.check_output(tmp_path / "model.onnx")
