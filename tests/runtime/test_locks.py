"""Locks between processes that share a folder."""

import select
import subprocess
import sys
from pathlib import Path

import pytest

from pgode.runtime.errors import InputError
from pgode.runtime.locks import locked

pytest.importorskip("fcntl")

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
