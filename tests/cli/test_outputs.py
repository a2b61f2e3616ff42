"""No command replaces what should stay: the same rule for every option that names an output."""

import hashlib
import inspect
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from cyclopts import App
from tests.cli.output_cases import CONTINUED, FILES, FOLDERS, READ, Output
from tests.trained_runs import data_file, trained

from pgode.cli.app import app, run_command
from pgode.cli.parameters import Overwrite
from pgode.data import files
from pgode.runs.run import Run

Captured = pytest.CaptureFixture[str]
KEPT = b"somebody's work"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a run, its data and files to import, of which commands read no more than that
    they exist before they have looked at their output."""
    shutil.copytree(trained().folder, tmp_path / "run")
    shutil.copyfile(data_file(), tmp_path / "springs.nc")
    for name in ("table.csv", "edges.csv", "run.xtc", "top.pdb", "walk.bvh"):
        (tmp_path / name).write_bytes(KEPT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def content(place: Path) -> dict[str, str]:
    """Every file, folder and link below a folder, with what is in it."""
    found = {}
    for path in sorted(place.rglob("*")):
        held = str(path.readlink()) if path.is_symlink() else ""
        if path.is_file() and not path.is_symlink():
            held = hashlib.sha256(path.read_bytes()).hexdigest()
        found[str(path.relative_to(place))] = held
    return found


def refused(case: Output, out: str, capsys: Captured, *options: str) -> str:
    """Run the command; it must be refused in one paragraph, and change nothing at all."""
    before = content(Path.cwd())
    capsys.readouterr()
    words = [word if word != "{out}" else out for word in case.line.split()]
    assert run_command([*words, *options]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("Error: ")
    assert captured.err.count("\n") == 1
    assert content(Path.cwd()) == before
    return captured.err


def commands(parent: App, above: str = "") -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in parent:
        if name.startswith("-"):
            continue
        each, whole = parent[name], f"{above}{name}"
        if each.default_command is not None:
            yield whole, each.default_command
        yield from commands(each, f"{whole} ")


def test_every_path_of_every_command_is_known_as_input_or_output() -> None:
    """A new option with a path has to be entered in the tables, and then is tested below."""
    found = {
        (name, option)
        for name, function in commands(app)
        for option, hint in get_type_hints(function).items()
        if option != "return" and "Path" in str(hint)
    }
    written = {(each.command, each.option) for each in (*FILES, *FOLDERS)}
    assert found == READ | CONTINUED | written


def test_every_command_that_writes_a_file_has_the_same_option_to_replace_it() -> None:
    functions = dict(commands(app))
    for name in sorted({each.command for each in FILES}):
        parameter = inspect.signature(functions[name]).parameters["overwrite"]
        assert parameter.annotation is Overwrite, name
        assert parameter.default is False, name
    others = functions.keys() - {each.command for each in FILES}
    assert not [n for n in others if "overwrite" in inspect.signature(functions[n]).parameters]


@pytest.mark.parametrize("case", FILES, ids=lambda each: each.name)
def test_an_existing_output_is_kept(case: Output, place: Path, capsys: Captured) -> None:
    out = place / f"precious{case.ending}"
    if case.ending == ".zarr":
        out.mkdir()
        (out / "thesis.txt").write_bytes(KEPT)
        refused(case, out.name, capsys)
        assert "no data set that pgode wrote" in refused(case, out.name, capsys, "--overwrite")
    else:
        out.write_bytes(KEPT)
        text = refused(case, out.name, capsys)
        assert f"cannot write {out.name}: it exists and is kept" in text
        assert "--overwrite" in text


@pytest.mark.parametrize("case", FILES, ids=lambda each: each.name)
def test_an_input_is_never_replaced_however_it_is_spelt(
    case: Output, place: Path, capsys: Captured
) -> None:
    (place / "sub").mkdir()
    for number, name in enumerate(case.inputs):
        link, hard = f"link{number}{case.ending}", f"hard{number}{case.ending}"
        (place / link).symlink_to(place / name)
        (place / hard).hardlink_to(place / name)
        spellings = [link, hard, f"sub/../{link}"]
        if name.endswith(case.ending):
            spellings += [name, f"sub/../{name}"]
        for out in spellings:
            text = refused(case, out, capsys, "--overwrite")
            assert f"cannot write {out}: it" in text
            assert "exists and is kept" not in text


@pytest.mark.parametrize("case", FILES, ids=lambda each: each.name)
def test_nothing_in_a_run_is_replaced(case: Output, place: Path, capsys: Captured) -> None:
    shutil.copytree(place / "run", place / "other")
    (place / "other" / f"notes{case.ending}").write_bytes(KEPT)
    (place / "alias").symlink_to(place / "other")
    for out in ("other/notes", "alias/notes", "other/checkpoints/../notes"):
        text = refused(case, f"{out}{case.ending}", capsys, "--overwrite")
        assert f"the run {place / 'other'}" in text
    if case.ending == ".json":  # Names of a run are its own, whether they exist or not.
        (place / "other" / "data.json").unlink()
        for name in ("config", "normaliser", "data", "calibration", "noise_floor"):
            refused(case, f"other/{name}.json", capsys, "--overwrite")


@pytest.mark.parametrize("case", FILES, ids=lambda each: each.name)
def test_links_pipes_and_devices_are_never_replaced(
    case: Output, place: Path, capsys: Captured
) -> None:
    (place / "target").write_bytes(KEPT)
    (place / f"link{case.ending}").symlink_to("target")
    (place / f"dangling{case.ending}").symlink_to("nowhere")
    (place / f"loop{case.ending}").symlink_to(f"loop{case.ending}")
    (place / f"device{case.ending}").symlink_to("/dev/null")
    os.mkfifo(place / f"pipe{case.ending}")
    for name in ("link", "dangling", "loop", "device", "pipe"):
        text = refused(case, f"{name}{case.ending}", capsys, "--overwrite")
        assert "link" in text or "a pipe" in text


@pytest.mark.parametrize("case", FOLDERS, ids=lambda each: each.name)
def test_folders_to_work_in_are_new_or_empty(case: Output, place: Path, capsys: Captured) -> None:
    (place / "folder").mkdir()
    (place / "folder" / "thesis.txt").write_bytes(KEPT)
    (place / "file").write_bytes(KEPT)
    (place / "dangling").symlink_to("nowhere")
    assert "thesis.txt" in refused(case, "folder", capsys)
    for out in ("file", "dangling"):
        assert f"cannot write {out}" in refused(case, out, capsys)
    refused(case, "run", capsys)


@pytest.mark.parametrize("name", ["a" * 300, "file/inside", "\udcff\udcfe" * 130])
@pytest.mark.parametrize("case", FILES, ids=lambda each: each.name)
def test_names_that_no_file_can_have_are_refused(
    case: Output, name: str, place: Path, capsys: Captured
) -> None:
    (place / "file").write_bytes(KEPT)
    text = refused(case, f"{name}{case.ending}", capsys)
    assert len(text) < 600


def test_overwrite_replaces_a_file_and_a_store_of_pgode(place: Path, capsys: Captured) -> None:
    line = FILES[0].line
    for name in ("new.nc", "new.zarr"):
        for seed in ("1", "2"):
            words = [*line.replace("{out}", name).split(), "--seed", seed, "--overwrite"]
            assert run_command(words) == 0
        first = files.read(place / name).hash
        assert run_command(words) == 0
        assert files.read(place / name).hash == first
        assert run_command(words[:-1]) == 2
    (place / "new.zarr" / "states" / "notes.txt").write_bytes(KEPT)
    capsys.readouterr()
    assert run_command(words) == 2
    assert "states/notes.txt" in capsys.readouterr().err
    assert (place / "new.zarr" / "states" / "notes.txt").read_bytes() == KEPT


def test_overwrite_without_a_file_to_write_is_refused(place: Path, capsys: Captured) -> None:
    assert run_command(["evaluate", "run", "--overwrite"]) == 2
    assert "--overwrite was given, but no file is to be written" in capsys.readouterr().err


def test_results_are_replaced_when_asked_for(place: Path) -> None:
    line = ["evaluate", "run", "--samples", "0", "--split", "test", "--json", "scores.json"]
    assert run_command(line) == 0
    (place / "scores.json").write_bytes(KEPT)
    assert run_command(line) == 2
    assert (place / "scores.json").read_bytes() == KEPT
    assert run_command([*line, "--overwrite"]) == 0
    assert json.loads((place / "scores.json").read_bytes())["model"] == "pgode"


def test_the_page_of_a_run_is_made_again_but_only_if_pgode_wrote_it(
    place: Path, capsys: Captured
) -> None:
    line = ["report", "run", "--examples", "0", "--samples", "0"]
    page = place / "run" / "report.html"
    assert run_command(line) == 0
    assert run_command(line) == 0
    assert run_command([*line, "-o", "run/../run/report.html"]) == 0
    page.write_bytes(KEPT)
    for options in ([], ["--overwrite"]):
        assert run_command([*line, *options]) == 2
        assert page.read_bytes() == KEPT


def test_a_new_file_in_a_run_is_allowed_and_does_not_harm_it(place: Path) -> None:
    line = ["forecast", "run", "springs.nc", "--samples", "0", "--until", "2"]
    assert run_command([*line, "-o", "run/forecast.nc"]) == 0
    assert Run.open(place / "run").config == trained().config
    assert run_command([*line, "-o", "run/forecast.nc", "--overwrite"]) == 2


def test_folders_without_files_hold_nothing(place: Path, capsys: Captured) -> None:
    """A command that is killed before its first file leaves them, and has to begin again there."""
    case = next(each for each in FOLDERS if each.command == "train")
    (place / "new" / "checkpoints").mkdir(parents=True)
    (place / "new" / "checkpoints" / ".last.safetensors.1.part").write_bytes(b"")
    words = case.line.replace("{out}", "new").split()
    assert run_command(words) == 0
    (place / "other" / "checkpoints").mkdir(parents=True)
    (place / "other" / "checkpoints" / "thesis.txt").write_bytes(KEPT)
    assert "the folder holds checkpoints" in refused(case, "other", capsys)
