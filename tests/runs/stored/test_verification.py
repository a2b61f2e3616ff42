"""`pgode verify`: what it finds, and how changes are accepted."""

import json
import shutil
from pathlib import Path

import pytest

from pgode.cli.app import run_command
from pgode.data import files
from pgode.data.simulate import simulate
from pgode.runs.folder import PRETRAINED
from pgode.runs.run import Run
from pgode.runs.stored.verification import accept_run, verify_run
from pgode.runtime.errors import InputError
from pgode.runtime.stored.manifest import MANIFEST, Manifest, changes


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(PRETRAINED / "springs-10", "run")
    return Path("run")


def states(path: Path) -> dict[str, str]:
    return {each.name: each.state for each in verify_run(path).files}


@pytest.mark.parametrize("name", sorted(path.name for path in PRETRAINED.glob("*-*")))
def test_models_that_come_with_the_package_are_as_written(name: str) -> None:
    found = verify_run(name)
    assert not found.problems
    assert not found.notes
    assert {each.state for each in found.files} == {"as written"}
    assert len(found.files) == 5


def test_all_problems_of_a_run_are_listed(run: Path) -> None:
    (run / "normaliser.json").write_text("{}")
    (run / "data.json").unlink()
    (run / "metrics.csv").write_text("epoch\n")
    found = verify_run(run)
    wrong = {each.name for each in found.files if each.state == "wrong"}
    assert wrong == {"normaliser.json", "data.json", "metrics.csv"}
    assert [text.partition(" ")[0] for text in found.problems] == [
        str(run / name) for name in ("data.json", "metrics.csv", "normaliser.json")
    ]


def test_a_run_without_a_manifest_is_checked_by_its_form_and_can_get_one(run: Path) -> None:
    (run / MANIFEST).unlink()
    found = verify_run(run)
    assert not found.problems
    assert set(states(run).values()) == {"form only"}
    assert "pgode verify run --accept" in found.notes[0]
    assert set(states_after_accepting(run).values()) == {"as written"}


def states_after_accepting(run: Path) -> dict[str, str]:
    return {each.name: each.state for each in accept_run(run).files}


def test_a_hand_edited_config_is_refused_until_it_is_accepted(run: Path) -> None:
    text = (run / "config.json").read_text()
    (run / "config.json").write_text(text.replace('"seed": 0', '"seed": 1'))
    with pytest.raises(InputError, match=r"config\.json is not as pgode wrote it.*run --accept"):
        Run.open(run)
    accept_run(run)
    assert Run.open(run).config.training.seed == 1


def test_what_has_the_wrong_form_is_not_accepted(run: Path) -> None:
    before = (run / MANIFEST).read_bytes()
    text = (run / "normaliser.json").read_text()
    (run / "normaliser.json").write_text(text.replace("4.988888230742182", "0.0"))
    with pytest.raises(InputError, match=r'normaliser\.json cannot be used: the entry "scale\.0"'):
        accept_run(run)
    assert (run / MANIFEST).read_bytes() == before


def test_a_damaged_manifest_is_named_and_can_be_made_again(run: Path) -> None:
    (run / MANIFEST).write_text((run / MANIFEST).read_text().replace("120064", "120065"))
    assert verify_run(run).problems[0].startswith("run/manifest.json was damaged or edited")
    assert not accept_run(run).problems


def test_models_of_the_package_are_not_accepted_anew() -> None:
    with pytest.raises(InputError, match="is a model that comes with pgode"):
        accept_run("springs-10")


def test_a_run_whose_training_was_killed_says_so(run: Path) -> None:
    manifest = Manifest.read(run)
    assert manifest is not None
    with changes(run, "calibration.json"):
        found = verify_run(run)
        assert accept_run(run).notes == found.notes
    assert not found.problems
    assert found.notes[0].startswith("its training has not ended, or was killed")
    assert {each.name: each.state for each in found.files}["calibration.json"] == "form only"
    assert Manifest.read(run) == manifest


def test_the_command_prints_tables_and_ends_with_0_or_2(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files.write(simulate("springs", objects=3, frames=6, train=2, val=1, test=1, ood=1), "d.nc")
    assert run_command(["verify", "run", "d.nc"]) == 0
    text = capsys.readouterr().out
    assert "model.safetensors" in text
    assert text.count("as written") == 6
    assert text.count("Nothing is wrong.") == 2
    (run / "data.json").write_text("{")
    assert run_command(["verify", "run", "--json"]) == 2
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["path"], found["kind"], found["verified"]) == ("run", "run", False)
    assert [each["name"] for each in found["files"] if each["problem"]] == ["data.json"]
    assert run_command(["verify", "run"]) == 2
    assert "Error: run/data.json is not as pgode wrote it" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words, message",
    [
        ("verify", "nothing to verify"),
        ("verify nowhere", "nowhere does not exist"),
        ("verify d.nc --accept", "is a file, and --accept is for runs"),
    ],
)
def test_the_command_refuses_what_it_cannot_check(
    words: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(words.split()) == 2
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("name", ["d.nc", "d.zarr"])
def test_the_content_of_data_is_compared_with_its_hash(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pgode.data.files.stored.verification import stored_hash, verify_data

    data = simulate("springs", objects=3, frames=6, train=2, val=1, test=1, ood=1)
    files.write(data, tmp_path / name)
    assert stored_hash(tmp_path / name) == data.hash
    found = verify_data(tmp_path / name)
    assert [(each.sha256, each.state) for each in found.files] == [(data.hash, "as written")]
    other = "pgode.data.files.stored.verification.stored_hash"
    monkeypatch.setattr(other, lambda _: "0" * 64)
    assert "the one stored with it 000000000000..." in verify_data(tmp_path / name).problems[0]
    monkeypatch.setattr(other, lambda _: None)
    assert "has no hash" in verify_data(tmp_path / name).notes[0]
    assert "there is no such file" in verify_data(tmp_path / "none.nc").problems[0]
