"""Whatever is wrong with what a user gave: one paragraph, exit code 2, nothing half-written."""

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from tests.cli.bad_input_cases import ADVICE, CASES, Case
from tests.trained_runs import CONDITION, FRAMES, data_file, springs, trained

from pgode.cli.app import run_command
from pgode.data import files
from pgode.data.trajectories import Trajectories

NAMES = np.array(["qx", "qy", "vx", "vy"])


def archive(path: Path, **changes: object) -> None:
    """Springs as a numpy archive, with some arrays replaced, left out (None) or added."""
    data = springs()
    edges = np.broadcast_to(1 - np.eye(data.objects), (data.systems, data.objects, data.objects))
    arrays = {
        "states": data.states,
        "times": data.times,
        "edges": edges,
        "feature_names": NAMES,
        "split": data.split,
        **changes,
    }
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})


def with_value(value: float, place: tuple[int, ...]) -> np.ndarray:
    states = springs().states.copy()
    states[place] = value
    return states


def with_times(index: int, source: int) -> np.ndarray:
    times = springs().times.copy()
    times[:, index] = times[:, source]
    return times


def make_archives() -> None:
    data = springs()
    archive(Path("nostates.npz"), states=None)
    archive(Path("misspelt.npz"), feature_names=None, feature_name=NAMES)
    archive(Path("flat.npz"), states=data.states[0])
    archive(Path("clock.npz"), times=data.times[:, :-1])
    archive(Path("pickled.npz"), split=data.split.astype(object))
    archive(Path("nan.npz"), states=with_value(np.nan, (2, 1, 3, 2)))
    archive(Path("inf.npz"), states=with_value(np.inf, (0, 2, 4, 1)))
    archive(Path("unsorted.npz"), times=with_times(5, 3))
    archive(Path("repeated.npz"), times=with_times(5, 4))
    archive(Path("words.npz"), split=np.full(data.systems, "testing"))
    archive(Path("renamed.npz"), feature_names=np.array(["px", "py", "vx", "vy"]))
    archive(Path("narrow.npz"), states=data.states[..., :2], feature_names=NAMES[:2])
    archive(Path("short.npz"), states=data.states[:, :, :5], times=data.times[:, :5])
    archive(Path("six.npz"), states=data.states[:, :, :6], times=data.times[:, :6])
    archive(Path("half.npz"))
    whole = Path("half.npz").read_bytes()
    Path("half.npz").write_bytes(whole[: len(whole) // 2])


def make_datasets() -> None:
    data = springs()
    files.write(data, "springs.nc")
    files.write(data.select(data.split == "test"), "untrained.nc")
    files.write(data.select(np.arange(data.systems)[::-1]), "other.nc")
    whole = Path("springs.nc").read_bytes()
    Path("half.nc").write_bytes(whole[: len(whole) // 2])
    Path("text.nc").write_text("qx qy vx vy\n1 2 3 4\n")
    Path("empty.nc").touch()
    Path("notes.txt").write_text("nothing to see\n")
    Path("table.csv").write_text("id,t,qx\na,0,1\n")
    Path("folder.nc").mkdir()
    Path("folder").mkdir()
    Path("folder/file").touch()
    xr.Dataset({"a": ("x", [1.0])}).to_netcdf("foreign.nc", engine="h5netcdf")
    for name, variable, value in (("edges", "edge_sender", 3), ("self", "edge_sender", 0)):
        edited = data.dataset.drop_attrs().copy(deep=True)
        edited["edge_receiver"][0] = 0
        edited[variable][0] = value
        edited.to_netcdf(f"{name}.nc", engine="h5netcdf")
    wide = data.dataset.isel(edge_attribute=[0, 0]).assign_coords(
        edge_attribute=["weight", "length"]
    )
    files.write(Trajectories.from_dataset(wide), "attribute.nc")


def make_runs() -> None:
    shutil.copytree(trained().folder, "run")
    shutil.copytree("run", "flipped")
    edit(Path("flipped/config.json"), preset="other")
    Path("run/manifest.json").unlink()  # As a run of an earlier version: only the form is checked.
    edit(Path("run/data.json"), source="springs.nc")
    for name in ("unfinished", "damaged", "wider", "unscaled", "blind", "moved", "cut"):
        shutil.copytree("run", name)
    shutil.rmtree("unfinished/checkpoints")
    for weights in Path("damaged/checkpoints").iterdir():
        weights.write_bytes(weights.read_bytes()[:-100])
    settings = json.loads(Path("wider/config.json").read_text())["model"]
    edit(Path("wider/config.json"), model={**settings, "width": 9})
    Path("unscaled/normaliser.json").write_text('{"features": ["qx"]}')
    Path("blind/calibration.json").write_text('{"levels": []}')
    edit(Path("moved/data.json"), source="old.nc", relative="../old.nc")
    with Path("cut/metrics.jsonl").open("a") as log:
        log.write('{"epoch": 4, "tra\n')
    Path("unreadable").mkdir()
    Path("unreadable/config.json").write_text('{"name": "pgo')
    Path("foreign").mkdir()
    Path("foreign/config.json").write_text('{"layers": 3}')


def edit(path: Path, **changes: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def make_configs() -> None:
    Path("key.yaml").write_text("training:\n  epoch: 3\n")
    Path("value.yaml").write_text("training: {batch: -4}\n")
    Path("broken.yaml").write_text("training: {batch: 4\nmodel\n")
    Path("list.yaml").write_text("- training\n- model\n")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with every kind of bad file in it, and a good run and data set."""
    folder = tmp_path_factory.mktemp("place")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for make in (make_datasets, make_archives, make_runs, make_configs):
            make()
        yield folder


def content(folder: Path) -> dict[str, str]:
    """Every path below a folder with a hash of what it holds."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file()
        else "folder"
        for path in sorted(folder.rglob("*"))
    }


def check(message: str, expected: Case) -> None:
    assert message.startswith("Error: ")
    assert "Traceback" not in message
    lines = message.strip().splitlines()
    assert lines[1:] in ([], [ADVICE])  # one paragraph
    assert len(lines[0]) < 600
    for words in expected.says:
        assert words in message


def test_there_are_enough_cases_and_each_has_its_own_name() -> None:
    assert len({each.name for each in CASES}) == len(CASES) >= 25
    assert sum(each.real for each in CASES) == 4


@pytest.mark.parametrize("expected", CASES, ids=lambda each: each.name)
def test_bad_input_is_one_paragraph_and_changes_nothing(
    expected: Case, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = content(place)
    assert run_command(expected.command.split()) == 2
    assert content(place) == before
    check(capsys.readouterr().err, expected)


@pytest.mark.parametrize("expected", [e for e in CASES if e.real], ids=lambda each: each.name)
def test_the_command_itself_says_the_same(expected: Case, place: Path) -> None:
    before = content(place)
    command = [sys.executable, "-m", "pgode.cli", *expected.command.split()]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert content(place) == before
    check(done.stderr, expected)


def test_what_the_cases_start_from_is_good(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """So that a case fails for its own reason: the same commands work on good input."""
    assert (springs().frames, trained().config.window.condition) == (FRAMES, CONDITION)
    assert data_file().is_file()
    before = content(place)
    assert run_command(["forecast", "run", "springs.nc", "-o", "ahead/f.nc", "--samples", "2"]) == 0
    archive(Path("good.npz"))
    assert run_command(["forecast", "run", "good.npz", "-o", "ahead/g.nc", "--samples", "0"]) == 0
    assert sorted(path.name for path in Path("ahead").iterdir()) == ["f.nc", "g.nc"]
    shutil.rmtree("ahead")
    Path("good.npz").unlink()
    assert content(place) == before
    assert "wrote ahead/g.nc" in capsys.readouterr().out
