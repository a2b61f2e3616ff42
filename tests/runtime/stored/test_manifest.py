"""The manifest of a folder: what it lists, and that no kill makes a good folder look damaged."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from tests.flips import flips, refusal
from tests.killed import killed_at

from pgode.runtime.errors import InputError
from pgode.runtime.files import write_text
from pgode.runtime.stored.checking import (
    DamagedFileError,
    check_listed,
    is_present,
    read_listed,
    unlisted,
)
from pgode.runtime.stored.manifest import MANIFEST, Manifest, announce, changes
from pgode.runtime.stored.sealed import sealed

ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
"""SHA-256 of the three letters abc."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "checkpoints").mkdir()
    for name in ("config.json", "data.json", "checkpoints/best.safetensors", "notes.txt"):
        (tmp_path / name).write_text("abc")
    Manifest.of(tmp_path).write(tmp_path)
    return tmp_path


def test_a_manifest_lists_size_and_hash_of_the_files_of_a_run(folder: Path) -> None:
    content = json.loads((folder / MANIFEST).read_text())
    names = ["checkpoints/best.safetensors", "config.json", "data.json"]
    assert content["files"] == {name: {"sha256": ABC, "size": 3} for name in names}
    assert content["changing"] == []
    assert read_listed(folder, "config.json") == b"abc"
    assert check_listed(folder, "checkpoints/best.safetensors")


@pytest.mark.parametrize(
    "text, words",
    [
        ("abd", "its SHA-256 is a52d159f262b..."),
        ("abcd", "lists 3 bytes"),
        ("", "lists 3 bytes"),
    ],
)
def test_a_changed_file_is_named_with_the_way_out(folder: Path, text: str, words: str) -> None:
    (folder / "config.json").write_text(text)
    for check in (read_listed, check_listed):
        with pytest.raises(DamagedFileError) as raised:
            check(folder, "config.json")
        message = str(raised.value)
        assert message.startswith(f"{folder / 'config.json'} is not as pgode wrote it")
        assert words in message
        assert message.endswith(f"pgode verify {folder} --accept.")
    with unlisted():
        assert read_listed(folder, "config.json") == (folder / "config.json").read_bytes()


def test_a_file_that_is_gone_or_was_added_is_named(folder: Path) -> None:
    (folder / "data.json").unlink()
    with pytest.raises(DamagedFileError, match=r"data\.json is missing: manifest\.json .* lists"):
        is_present(folder, "data.json")
    assert not is_present(folder, "calibration.json")
    (folder / "calibration.json").write_text("abc")
    with pytest.raises(DamagedFileError, match=r"calibration\.json is not listed"):
        read_listed(folder, "calibration.json")


def test_a_folder_without_a_manifest_is_read_as_it_is(folder: Path) -> None:
    (folder / MANIFEST).unlink()
    (folder / "config.json").write_text("other")
    assert read_listed(folder, "config.json") == b"other"
    assert not check_listed(folder, "config.json")
    with changes(folder, "config.json"):
        (folder / "config.json").write_text("new")
    assert not (folder / MANIFEST).exists()
    with changes(folder, "config.json", adopt=True):
        (folder / "config.json").write_text("abc")
    assert Manifest.read(folder) == Manifest.of(folder)


def test_changes_are_listed_after_them_also_if_they_fail(folder: Path) -> None:
    with changes(folder, "config.json", "calibration.json"):
        write_text(folder / "config.json", "new")
        assert read_listed(folder, "config.json") == b"new"
        assert not check_listed(folder, "config.json")
    assert Manifest.read(folder) == Manifest.of(folder)
    with suppress(KeyError), changes(folder, "data.json"):
        (folder / "data.json").unlink()
        raise KeyError
    assert Manifest.read(folder) == Manifest.of(folder)
    assert not is_present(folder, "data.json")


@pytest.mark.parametrize("number", range(5))
def test_a_kill_between_any_two_renames_leaves_a_folder_that_opens(
    folder: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    with killed_at(number, monkeypatch) as done, changes(folder, "config.json", "data.json"):
        write_text(folder / "config.json", "new")
        write_text(folder / "data.json", "new")
    order = ["manifest.json", "config.json", "data.json", "manifest.json"]
    assert done == order[: number + 1]
    found = [read_listed(folder, name) for name in ("config.json", "data.json")]
    assert found == [b"new" if number > 1 else b"abc", b"new" if number > 2 else b"abc"]
    # Whoever goes on lists them again.
    with changes(folder, "config.json", "data.json"):
        pass
    assert Manifest.read(folder) == Manifest.of(folder)


def test_a_run_has_its_manifest_before_it_is_one(tmp_path: Path) -> None:
    (tmp_path / "data.json").write_text("abc")
    (tmp_path / "temporary").write_text("abc")
    announce(tmp_path, {"config.json": tmp_path / "temporary"}, ["metrics.csv"])
    (tmp_path / "temporary").rename(tmp_path / "config.json")
    found = Manifest.read(tmp_path)
    assert found is not None
    assert found.files == Manifest.of(tmp_path).files
    assert found.changing == {"metrics.csv"}


def test_files_that_are_replaced_while_they_are_read_are_read_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stale = Manifest.read(folder)
    with changes(folder, "config.json"):
        (folder / "config.json").write_text("newer")
    answers = [stale, *[Manifest.read(folder)] * 3]
    monkeypatch.setattr(Manifest, "read", lambda _: answers.pop(0))
    assert read_listed(folder, "config.json") == b"newer"


def test_every_flipped_byte_of_a_manifest_is_noticed(folder: Path) -> None:
    expected = Manifest.read(folder)
    messages = []
    for _ in flips(folder / MANIFEST, 300):
        message = refusal(lambda: Manifest.read(folder))
        assert message or Manifest.read(folder) == expected
        messages.append(message)
    assert all(MANIFEST in message for message in messages if message)
    assert sum(bool(message) for message in messages) > 290


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "a/../../b", "C:\\x"])
def test_a_manifest_lists_no_files_elsewhere(folder: Path, name: str) -> None:
    content = {"format": 1, "files": {name: {"sha256": ABC, "size": 3}}, "changing": []}
    (folder / MANIFEST).write_text(json.dumps(sealed(content)))
    with pytest.raises(InputError, match="Expected files of the run folder alone"):
        Manifest.read(folder)
