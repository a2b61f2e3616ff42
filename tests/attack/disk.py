"""Campaign: disks that are full, files that may not grow, and folders that nobody may write to."""

import resource
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.attack import files, processes
from tests.attack.bad_inputs import ADVICE, ended_badly
from tests.attack.fingerprint import fingerprint
from tests.attack.outcome import Outcome, Task
from tests.attack.place import NETWORK

NAME = "disk"
SMALL = "--objects 3 --frames 12 --train 60 --val 5 --test 5 --ood 5"

WRITERS = {
    "simulate": (f"simulate springs -o full/new.nc {SMALL}", "new.nc"),
    "simulate over a file": (f"simulate springs -o full/old.nc {SMALL} --overwrite", "old.nc"),
    "simulate zarr": (f"simulate springs -o full/new.zarr {SMALL}", "new.zarr"),
    "import table": ("import table tracks.csv -o full/new.nc --system match", "new.nc"),
    "import mocap": ("import mocap trial_0.bvh trial_1.bvh trial_2.bvh -o full/new.nc", "new.nc"),
    "import md": (
        "import md --trajectory dynamics.dcd --topology top.pdb -o full/new.nc --frames 12 "
        "--frame-time 0.2",
        "new.nc",
    ),
    "forecast": ("forecast run springs.nc -o full/new.nc --samples 5", "new.nc"),
    "forecast a table": ("forecast run springs.nc -o full/new.csv", "new.csv"),
    "evaluate": ("evaluate run --json full/new.json", "new.json"),
    "compare": ("compare run other --json full/new.json", "new.json"),
    "report": ("report run --examples 1 -o full/new.html", "new.html"),
    "laws": ("laws lawful --csv full/new.csv --svg full/new.svg", "new.csv"),
    "robustness": ("robustness run -o full/new.html", "new.html"),
    "export-md": ("export-md atoms.nc -o full/new.dcd", "new.dcd"),
    "convert": ("convert old -o full/new", "new"),
    "train": (f"train springs.nc -o full/new --epochs 1 {NETWORK}", "new"),
    "tune": (
        "tune springs.nc -o full/new --model gru --trials 1 --epochs 1 --horizon 6 "
        "--set window.condition=6 --set model.width=8",
        "new",
    ),
}
"""Commands that write into the folder `full`, and what they write."""

READERS = (
    "info full/run",
    "info full/springs.nc",
    "check full/springs.nc",
    "evaluate full/run --data full/springs.nc --samples 0",
    "forecast full/run full/springs.nc -o new.nc --until 2",
    "report full/run --data full/springs.nc -o new.html --examples 1 --samples 2",
    "verify full/run",
)
"""Commands that only read there, and work even if nobody may write."""

ROOMS = (0, 16, 64, 120)
"""Kilobytes of room: for nothing, for a small file, for a part of a large one."""


def tasks(quick: bool) -> list[Task]:
    """Every writer on every kind of disk; the quick part takes some that need no mount."""
    some = ("simulate over a file", "simulate zarr", "train") if quick else tuple(WRITERS)
    found = [
        Task(NAME, "files may not grow", f"{name}, {room} kB", partial(limited, name, room))
        for name in some
        for room in ((16,) if quick else (8, 16, 60))
    ]
    found += [
        Task(NAME, "full disk", f"{name}, {room} kB", partial(on_full_disk, name, room))
        for name in (some if not quick else ("simulate over a file", "train"))
        for room in ((64,) if quick else ROOMS)
    ]
    if not quick:
        found += [
            Task(NAME, "read-only folder", name, partial(read_only, name)) for name in WRITERS
        ]
        found.append(Task(NAME, "reading where nobody may write", "readers", reading))
    return found


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[str]:
    """A small disk of its own at a folder; yields why there is none, if there is none."""
    folder.mkdir()
    done = (
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)],
            capture_output=True,
            text=True,
            check=False,
        )
        if shutil.which("mount")
        else None
    )
    if done is None or done.returncode != 0:
        yield "needs root and mount"
        return
    try:
        yield ""
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def limited(name: str, room: int, folder: Path) -> list[Outcome]:
    """No file may be longer than so many kilobytes, as `ulimit -f` has it; messages fit in."""
    (folder / "full").mkdir()
    _prepare(folder / "full")
    limits = {resource.RLIMIT_FSIZE: room * 1024}
    return [_attempt("files may not grow", name, room, folder, limits)]


def on_full_disk(name: str, room: int, folder: Path) -> list[Outcome]:
    """A disk on which so many kilobytes are free; then with enough room, where the run goes on."""
    with mounted(folder / "full", "size=4m") as why:
        if why:
            return [Outcome(NAME, "full disk", name, skipped=why)]
        _prepare(folder / "full")
        _fill(folder / "full", room)
        first = _attempt("full disk", name, room, folder, {}, ignore=("full/filler",))
        if first.failure or not first.refused or WRITERS[name][1] != "new":
            return [first]
        (folder / "full/filler").unlink()
        return [first, _continued(name, room, folder)]


def _prepare(full: Path) -> None:
    for path in ("old.nc", "precious.txt"):
        (full / path).write_text("from before\n" * 40)
    shutil.copy(full.parent / "five.nc", full / "old.nc")


def _fill(full: Path, room: int) -> None:
    """Leave this much room on the disk."""
    free = shutil.disk_usage(full).free
    (full / "filler").write_bytes(bytes(max(free - room * 1024, 0)))


def _attempt(
    group: str,
    name: str,
    room: int,
    folder: Path,
    limits: dict[int, int],
    ignore: tuple[str, ...] = (),
) -> Outcome:
    """Success, or exit code 2 with a sentence, and what was there before; nothing half-written.

    Of two outputs the first may be there, if the command says that it wrote it.
    """
    command, output = WRITERS[name]
    before = files.content(folder)
    ran = processes.started(command.split(), folder, limits=limits)
    after = files.content(folder)
    lost = [path for path in files.lost(before, after) if path not in ignore]
    new = files.appeared(before, after)
    left = [path for path in new if files.is_leftover(path)]
    lines = f"{ran.output}\n{ran.errors}".splitlines()
    told = {path for path in new if f"wrote {path}" in lines}
    resumable = output == "new"  # What a run or a search has written so far, it goes on from.
    failure, detail = "", ran.last_words
    if ran.hung:
        failure = "hang"
    elif ended_badly(ran) or "Exception ignored" in ran.errors:
        failure = "traceback"
    elif ran.code not in (0, 2):
        failure = "accepted"
    elif lost and not (ran.code == 0 and lost == [f"full/{output}"]):
        failure, detail = "file lost", ", ".join(lost[:5])
    elif left or ran.children:
        failure, detail = "leftover", ", ".join(left[:5]) or "a process"
    elif ran.code == 2 and set(new) - told and not resumable:
        failure, detail = "leftover", ", ".join(new[:5])
    elif ran.code == 2 and not _says_so(ran.errors):
        failure = "message"
    said = f"{detail}  [pgode {command}]" if failure else ""
    label = f"{name}, {room} kB"
    return Outcome(
        NAME, group, label, failure, said, ran.seconds, ran.megabytes, refused=ran.code == 2
    )


def _says_so(errors: str) -> bool:
    """The last paragraph is the error; lines of progress may come before it."""
    lines = [line for line in errors.strip().splitlines() if line != ADVICE]
    return bool(lines) and lines[-1].startswith("Error: ")


def _continued(name: str, room: int, folder: Path) -> Outcome:
    """With room again, the next command ends where an undisturbed one does."""
    command = WRITERS[name][0]
    again = "train --resume full/new" if name == "train" else command
    lines = [again, command] if name == "train" else [f"{command} --overwrite", command]
    for line in lines if (folder / "full/new").exists() else [command]:
        ran = processes.started(line.split(), folder)
        if ran.code == 0:
            break
    label = f"{name}, {room} kB, then with room"
    if ran.code != 0:
        said = f"exit code {ran.code}: {ran.last_words}  [pgode {line}]"
        return Outcome(NAME, "full disk", label, "resume", said)
    if name != "train":
        return Outcome(NAME, "full disk", label)
    got = fingerprint(folder / "full/new")
    shutil.rmtree(folder / "full/new")
    processes.started(command.split(), folder)
    same = got == fingerprint(folder / "full/new")
    return Outcome(NAME, "full disk", label, "" if same else "silent difference")


def read_only(name: str, folder: Path) -> list[Outcome]:
    """A disk that is mounted read-only, which stops root as well."""
    with mounted(folder / "full", "size=4m") as why:
        if why:
            return [Outcome(NAME, "read-only folder", name, skipped=why)]
        _prepare(folder / "full")
        _remount(folder / "full")
        found = _attempt("read-only folder", name, 0, folder, {})
        if not found.failure and not found.refused:
            found = Outcome(NAME, "read-only folder", name, "accepted", "wrote where it cannot")
        return [found]


def reading(folder: Path) -> list[Outcome]:
    """A run and data on a read-only disk can be used, with outputs elsewhere."""
    group, found = "reading where nobody may write", []
    with mounted(folder / "full", "size=8m") as why:
        if why:
            return [Outcome(NAME, group, "readers", skipped=why)]
        shutil.copytree(folder / "run", folder / "full/run")
        shutil.copy(folder / "springs.nc", folder / "full")
        _remount(folder / "full")
        for line in READERS:
            ran = processes.started(line.split(), folder)
            works = ran.code == 0 or (line.startswith("check") and ran.code == 1)
            said = "" if works else f"exit code {ran.code}: {ran.last_words}  [pgode {line}]"
            found.append(Outcome(NAME, group, line, "" if works else "accepted", said))
            for path in ("new.nc", "new.html"):
                (folder / path).unlink(missing_ok=True)
    return found


def _remount(full: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(full)], check=True)
