"""What killed processes left behind is swept, and nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pgode.runtime.disk import leftovers
from pgode.runtime.disk.identity import Identity, started, this_process
from pgode.runtime.files import replacing, write_text

KILLED = """
import os, signal, sys
from pathlib import Path
from pgode.runtime.files import replacing
with replacing(Path(sys.argv[1])) as temporary:
    if sys.argv[2] == "file":
        temporary.write_text("half")
    else:
        temporary.mkdir()
        (temporary / "half").touch()
    print(temporary.name, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def killed_while_writing(path: Path, kind: str) -> str:
    """The name of the temporary that a killed process leaves."""
    command = [sys.executable, "-c", KILLED, str(path), kind]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.strip()


def left(target: str, writer: Identity, kind: str = "part") -> str:
    return f".{target}.{writer.text}-0a1b2c.{kind}"


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_the_next_command_removes_what_a_killed_one_left(kind: str, tmp_path: Path) -> None:
    name = killed_while_writing(tmp_path / "a", kind)
    assert names(tmp_path)[0] == name
    write_text(tmp_path / "b", "word")
    assert names(tmp_path) == ["b"]


def test_work_of_a_living_process_stays(tmp_path: Path) -> None:
    with replacing(tmp_path / "a") as temporary:
        temporary.write_text("half")
        leftovers._swept.clear()
        write_text(tmp_path / "b", "word")
        assert temporary.read_text() == "half"
    assert names(tmp_path) == ["a", "b"]


def test_a_number_that_another_process_has_now_fools_nobody(tmp_path: Path) -> None:
    own = this_process()
    before = Identity(own.host, own.space, own.pid, str(int(own.start) - 1))
    assert (own.state, before.state) == ("alive", "dead")
    (tmp_path / left("a", own)).touch()
    (tmp_path / left("b", before)).touch()
    leftovers.sweep(tmp_path)
    assert names(tmp_path) == [left("a", own)]


def test_a_process_that_ended_and_was_not_waited_for_is_dead() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        own = this_process()
        found = Identity(own.host, own.space, child.pid, started(child.pid))
        assert found.state == "alive"
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert found.state == "dead"


def test_what_another_machine_writes_stays_until_it_is_old(tmp_path: Path) -> None:
    elsewhere = Identity("0" * 8, "1" * 8, 17, "123")
    new, old = (tmp_path / left(name, elsewhere) for name in ("new", "old"))
    folder = tmp_path / left("folder", elsewhere)
    folder.mkdir()
    for path in (new, old, folder / "chunk"):
        path.write_text("half")
    for path in (old, folder):
        os.utime(path, (1e9, 1e9))
    leftovers.sweep(tmp_path)
    assert names(tmp_path) == sorted([new.name, folder.name, f"{folder.name}/chunk"])


def test_files_of_others_are_never_swept(tmp_path: Path) -> None:
    others = [".film.mp4.download.part", "a.part", ".x.part", ".a.old", ".~lock.a#", ".a.lock"]
    for name in others:
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (1e9, 1e9))
    leftovers.sweep(tmp_path)
    assert names(tmp_path) == sorted(others)


def test_a_folder_that_was_moved_away_is_put_back(tmp_path: Path) -> None:
    own = this_process()
    dead = Identity(own.host, own.space, own.pid, "1")
    away, half = (tmp_path / left("d.zarr", dead, kind) for kind in ("old", "part"))
    for folder, content in ((away, "old"), (half, "new")):
        folder.mkdir()
        (folder / content).touch()
    leftovers.sweep(tmp_path)
    assert names(tmp_path) == ["d.zarr", "d.zarr/old"]


def test_one_that_has_its_successor_is_removed(tmp_path: Path) -> None:
    own = this_process()
    away = tmp_path / left("d.zarr", Identity(own.host, own.space, own.pid, "1"), "old")
    for folder in (away, tmp_path / "d.zarr"):
        folder.mkdir()
        (folder / "x").touch()
    leftovers.sweep(tmp_path)
    assert names(tmp_path) == ["d.zarr", "d.zarr/x"]


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    for name in ("x" * 255, "ä" * 127):
        write_text(tmp_path / name, "word")
        with replacing(tmp_path / name) as temporary:
            assert leftovers.NAME.fullmatch(temporary.name)
            temporary.write_text("next")
        assert (tmp_path / name).read_text() == "next"
    assert len(names(tmp_path)) == 2
