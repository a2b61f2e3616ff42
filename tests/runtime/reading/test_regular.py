import os
import socket
import time
from pathlib import Path

import pytest

from pgode.runtime.errors import InputError
from pgode.runtime.reading import check_file, check_folder, open_file, read_bytes


def special(folder: Path, kind: str) -> Path:
    path = folder / kind
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "socket":
            # A path of a socket may have about 100 letters, so it is bound from within its folder.
            before = Path.cwd()
            os.chdir(folder)
            try:
                with socket.socket(socket.AF_UNIX) as opened:
                    opened.bind(kind)
            finally:
                os.chdir(before)
        case "folder":
            path.mkdir()
        case "device":
            path.symlink_to("/dev/zero")
        case "loop":
            path.symlink_to(path)
        case "gone":
            pass
        case "below":
            (folder / "plain").write_text("x")
            path = folder / "plain" / "below"
    return path


@pytest.mark.parametrize(
    "kind, said",
    [
        ("fifo", "named pipe"),
        ("socket", "socket"),
        ("folder", "folder"),
        ("device", "device"),
        ("loop", "leads to itself"),
        ("gone", "no such file"),
        ("below", "no such file"),
    ],
)
@pytest.mark.parametrize("reader", [check_file, open_file, read_bytes])
def test_what_is_no_regular_file_is_refused_before_it_is_opened(
    tmp_path: Path, kind: str, said: str, reader: object
) -> None:
    path = special(tmp_path, kind)
    before = time.monotonic()
    with pytest.raises(InputError, match=said) as caught:
        reader(path, "the config")  # type: ignore[operator]
    assert str(path) in str(caught.value) and "the config" in str(caught.value)
    assert time.monotonic() - before < 60


def test_a_link_to_a_regular_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert read_bytes(tmp_path / "link") == b"text"


def test_a_file_exchanged_for_a_fifo_after_the_check_neither_hangs_nor_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = special(tmp_path, "fifo")
    monkeypatch.setattr("pgode.runtime.reading.regular.check_file", lambda *_: None)
    with pytest.raises(InputError, match="named pipe"):
        open_file(path)


def test_a_larger_file_is_refused_and_one_at_the_limit_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 100)
    assert len(read_bytes(path, limit=100)) == 100
    with pytest.raises(InputError, match="it has 100 bytes, and at most 99 bytes"):
        read_bytes(path, limit=99)


def test_a_sparse_file_of_a_terabyte_is_refused_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(InputError, match="at most"):
        read_bytes(path)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux has such files")
def test_a_file_that_says_it_is_empty_is_read_no_further_than_the_limit() -> None:
    with pytest.raises(InputError, match="larger than it says"):
        read_bytes("/proc/self/status", limit=10)


def test_a_path_with_a_nul_character_is_refused() -> None:
    with pytest.raises(InputError, match="cannot read"):
        read_bytes("a\0b")


def test_a_file_where_a_folder_belongs_is_refused(tmp_path: Path) -> None:
    check_folder(tmp_path)
    with pytest.raises(InputError, match="named pipe"):
        check_folder(special(tmp_path, "fifo"))
    with pytest.raises(InputError, match="no such file"):
        check_folder(tmp_path / "gone")
