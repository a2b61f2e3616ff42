"""Files are written completely or not at all; paths that cannot be written are refused early."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from pgode.runtime import files
from pgode.runtime.errors import InputError, WriteError
from pgode.runtime.files import replacing, writable_file, writable_folder, write_json, write_text


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_file_is_there_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "c.txt"
    with replacing(path) as temporary:
        temporary.write_text("half")
        assert not path.exists()
        assert temporary.parent == path.parent
        temporary.write_text("whole")
    assert path.read_text() == "whole"
    assert names(tmp_path) == ["a", "a/b", "a/b/c.txt"]


@pytest.mark.parametrize("error", [ValueError("wrong"), OSError("odd"), KeyboardInterrupt()])
def test_a_failed_write_leaves_what_was_there(error: BaseException, tmp_path: Path) -> None:
    path = tmp_path / "c.txt"
    write_text(path, "old")

    def fail() -> None:
        with replacing(path) as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(type(error)):
        fail()
    assert path.read_text() == "old"
    assert names(tmp_path) == ["c.txt"]


def test_a_full_disk_is_an_error_with_a_fix(tmp_path: Path) -> None:
    path = tmp_path / "c.txt"
    with pytest.raises(InputError) as raised, replacing(path):
        raise OSError(28, "No space left on device")
    text = re.sub(r"[0-9.]+ [kMGT]?B are free", "1 GB are free", str(raised.value))
    assert text == (
        f"cannot write {path}: there is no room left on its disk (1 GB are free). Nothing was "
        f"written there. Expected enough room. Make room there, or choose another output path."
    )
    assert isinstance(raised.value, WriteError)
    assert names(tmp_path) == []


def test_a_folder_replaces_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "d.zarr"
    for content in ("old", "new"):
        with replacing(path) as temporary:
            temporary.mkdir()
            (temporary / content).touch()
    assert names(tmp_path) == ["d.zarr", "d.zarr/new"]


def test_a_folder_that_cannot_move_in_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "d.zarr"
    path.mkdir()
    (path / "old").touch()

    def refuse(self: Path, target: Path) -> Path:
        raise OSError(16, "Device or resource busy")

    def move_in() -> None:
        with replacing(path) as temporary:
            temporary.mkdir()
            (temporary / "new").touch()

    monkeypatch.setattr(files, "exchanged", lambda first, second: False)
    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(InputError, match="busy"):
        move_in()
    assert names(tmp_path) == ["d.zarr", "d.zarr/old"]


def test_a_folder_replaces_a_folder_where_the_system_cannot_swap_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "exchanged", lambda first, second: False)
    test_a_folder_replaces_a_folder(tmp_path)


def test_a_file_within_a_folder_that_cannot_be_written_is_an_error_of_the_folder(
    tmp_path: Path,
) -> None:
    path = tmp_path / "made" / "run"

    def fail() -> None:
        with replacing(path) as temporary, replacing(temporary / "inner.json"):
            raise OSError(28, "No space left on device")

    with pytest.raises(WriteError, match=f"cannot write {path}: there is no room"):
        fail()
    assert names(tmp_path) == []  # Nor the folders above it.


def test_others_may_read_what_is_written(tmp_path: Path) -> None:
    write_text(tmp_path / "c.txt", "word")
    assert (tmp_path / "c.txt").stat().st_mode & 0o777 == 0o644


def test_json_is_indented_and_has_no_nan(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    write_json(path, {"a": [1.5, None]})
    assert path.read_text().endswith("}\n")
    assert json.loads(path.read_text()) == {"a": [1.5, None]}
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(path, {"a": float("nan")})
    assert json.loads(path.read_text()) == {"a": [1.5, None]}


def test_a_check_makes_nothing(tmp_path: Path) -> None:
    writable_folder(tmp_path / "a" / "b" / "c.txt")
    writable_file(tmp_path / "a" / "c.txt")
    writable_folder(tmp_path)
    assert names(tmp_path) == []


def test_relative_paths_are_checked_where_the_user_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    writable_file(Path("c.txt"))
    write_text(Path("c.txt"), "word")
    with pytest.raises(InputError, match=r"cannot write c.txt/d.txt: Not a directory"):
        writable_file(Path("c.txt/d.txt"))


@pytest.mark.parametrize("inner", ["d.txt", "e/d.txt", "e/f/d.txt"])
def test_a_file_where_a_folder_should_be_is_found_before_any_work(
    inner: str, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    for check in (writable_folder, writable_file, lambda path: write_text(path, "")):
        with pytest.raises(InputError, match="Not a directory"):
            check(tmp_path / "file" / inner)
    assert names(tmp_path) == ["file"]


def test_a_folder_where_a_file_should_be_is_found_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "d.nc").mkdir()
    with pytest.raises(InputError, match="a folder of that name is in the way"):
        writable_file(tmp_path / "d.nc")
    with pytest.raises(InputError, match="Is a directory"):
        write_text(tmp_path / "d.nc", "word")
    assert names(tmp_path) == ["d.nc"]


@pytest.mark.parametrize("linked", [False, True])
def test_a_pipe_or_a_device_is_never_replaced(linked: bool, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    path = tmp_path / "pipe"
    if linked:
        path = tmp_path / "link"
        path.symlink_to("pipe")
    for write in (writable_folder, writable_file, lambda path: write_text(path, "word")):
        with pytest.raises(InputError, match="it is a device or a pipe"):
            write(path)
    assert (tmp_path / "pipe").is_fifo() and path.is_symlink() == linked
    with pytest.raises(InputError, match="it is a device or a pipe"):
        writable_file(Path(os.devnull))


def test_a_name_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="File name too long"):
        write_text(tmp_path / ("x" * 300), "word")
    assert names(tmp_path) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_refused(tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    with pytest.raises(InputError, match="Permission denied"):
        writable_file(locked / "c.txt")
    locked.chmod(0o700)
    shutil.rmtree(locked)
