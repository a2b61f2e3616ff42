"""Locks between processes that share a folder."""

import errno
import getpass
import os
import re
import select
import shutil
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pgode.runtime.disk.owner import Owner
from pgode.runtime.errors import BusyError, InputError, WriteError
from pgode.runtime.files import write_text
from pgode.runtime.locks import check_free, locked, occupied

fcntl = pytest.importorskip("fcntl")

HOLDER = """
import sys
from pathlib import Path
from pgode.runtime.locks import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
    Path(sys.argv[1]).write_text("finished")
"""


def start(path: Path) -> subprocess.Popen[str]:
    """A process that takes the lock of `path`, says so, and holds it until it is sent a line."""
    command = [sys.executable, "-c", HOLDER, str(path)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def wait_until_held(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"


def test_a_process_waits_until_the_other_has_finished(tmp_path: Path) -> None:
    path = tmp_path / "new" / "data.nc"
    with start(path) as first:
        wait_until_held(first)
        with start(path) as second:
            assert second.stdout is not None
            ready, _, _ = select.select([second.stdout], [], [], 0.5)
            assert not ready and not path.exists()
            first.communicate("\n")
            wait_until_held(second)
            assert path.read_text() == "finished"
            second.communicate("\n")
    assert (first.returncode, second.returncode) == (0, 0)


def test_with_busy_a_held_lock_is_an_error_and_nothing_waits(tmp_path: Path) -> None:
    path = tmp_path / "samples"
    with start(path) as process:
        wait_until_held(process)
        with (
            pytest.raises(InputError, match="another simulation is running"),
            locked(path, busy="another simulation is running"),
        ):
            pytest.fail("two processes hold one lock")
        with locked(tmp_path / "others", busy="another simulation is running"):
            pass  # the lock is of one path only
        process.communicate("\n")
    with locked(path, busy="another simulation is running"):
        assert path.read_text() == "finished"


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    path = tmp_path / "samples"
    with start(path) as process:
        wait_until_held(process)
        process.kill()
        process.wait()
        with locked(path, busy="another simulation is running"):
            assert not path.exists()


def test_the_lock_is_free_after_an_error_in_the_block(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), locked(tmp_path / "samples"):
        raise ZeroDivisionError
    with locked(tmp_path / "samples", busy="another simulation is running"):
        pass


def test_the_error_names_the_owner(tmp_path: Path) -> None:
    path = tmp_path / "samples"
    with start(path) as process:
        wait_until_held(process)
        with pytest.raises(BusyError) as raised, locked(path, busy="it is busy"):
            pytest.fail("two processes hold one lock")
        process.communicate("\n")
    user, host = getpass.getuser(), socket.gethostname()
    assert re.fullmatch(
        rf"it is busy \(-c {re.escape(str(path))}, process {process.pid} of {user} on "
        rf"{re.escape(host)} since [0-9-]+ [0-9:]+\)\. Expected one at a time; nothing was touched"
        rf"\. Wait for it, or stop it: its finished work is kept\.",
        str(raised.value),
    )


def test_nothing_is_left_of_a_lock(tmp_path: Path) -> None:
    with locked(tmp_path / "data.nc"), locked(tmp_path / "other.nc"):
        assert len(list(tmp_path.iterdir())) == 2
    with occupied(tmp_path / "run", "busy"):
        assert [path.name for path in (tmp_path / "run").iterdir()] == [".lock"]
    assert list(tmp_path.iterdir()) == []


def test_a_lock_that_is_a_link_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("word")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".lock").symlink_to(tmp_path / "precious")
    with pytest.raises(InputError, match="cannot write"), occupied(tmp_path / "run", "busy"):
        pass
    assert (tmp_path / "precious").read_text() == "word"


def test_one_process_cannot_take_a_folder_twice(tmp_path: Path) -> None:
    with (
        occupied(tmp_path / "run", "busy"),
        pytest.raises(BusyError),
        occupied(tmp_path / "run", "busy"),
    ):
        pass
    with pytest.raises(BusyError), occupied(tmp_path / "run", "busy"):
        check_free(tmp_path / "run", "busy")
    check_free(tmp_path / "run", "busy")


@pytest.fixture
def without_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(handle: object, operation: int) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(fcntl, "flock", refuse)


@pytest.mark.usefixtures("without_locks")
def test_a_file_system_without_locks_has_them_by_files(tmp_path: Path) -> None:
    with occupied(tmp_path / "run", "busy"):
        assert [path.name for path in (tmp_path / "run").iterdir()] == [".lock-owner"]
        gone = r"If that process is gone, remove .*\.lock-owner\."
        with pytest.raises(BusyError, match=gone), occupied(tmp_path / "run", "busy"):
            pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("without_locks")
def test_there_the_lock_of_a_dead_process_is_taken_over(tmp_path: Path) -> None:
    own = Owner.this()
    process = f"{own.process.rpartition('-')[0]}-1"  # Of one with this number that ran before.
    (tmp_path / ".lock-owner").write_bytes(replace(own, process=process).to_bytes())
    with occupied(tmp_path, "busy"):
        assert len(list(tmp_path.iterdir())) == 1
    elsewhere = f"{'0' * 8}-{'0' * 8}-17-1"
    (tmp_path / ".lock-owner").write_bytes(replace(own, process=elsewhere).to_bytes())
    with pytest.raises(BusyError), occupied(tmp_path, "busy"):
        pass


def test_nothing_is_written_into_a_folder_that_was_moved(tmp_path: Path) -> None:
    run, moved = tmp_path / "run", tmp_path / "elsewhere"
    with occupied(run, "busy"):
        write_text(run / "a", "word")
        run.rename(moved)
        with pytest.raises(WriteError, match=rf"{run} was moved to {moved} while this command"):
            write_text(run / "inner" / "b", "word")
        with pytest.raises(BusyError), occupied(moved, "busy"):
            pass  # The lock moves with the folder.
        run.mkdir()  # Another one of that name is not the one that was moved.
        with pytest.raises(WriteError, match="was moved to"):
            write_text(run / "b", "word")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "elsewhere", "run"]


def test_nothing_is_written_into_a_folder_that_was_deleted(tmp_path: Path) -> None:
    with occupied(tmp_path / "run", "busy"):
        shutil.rmtree(tmp_path / "run")
        with pytest.raises(WriteError, match="was deleted while this command was working in it"):
            write_text(tmp_path / "run" / "b", "word")
    assert list(tmp_path.iterdir()) == []
