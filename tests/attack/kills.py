"""Campaign: commands are killed at every call that changes a file, then run again."""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NoReturn

from tests.attack import files, processes
from tests.attack.fingerprint import fingerprint
from tests.attack.outcome import Outcome, Task
from tests.attack.place import NETWORK, TINY

NAME = "kills"
SOURCE = Path(__file__).with_name("kill.c")
MOST = 80
"""Kill points of one scene; of more calls these are taken evenly."""
SMALL = "--objects 3 --frames 8 --train 3 --val 1 --test 1 --ood 1"


@dataclass(frozen=True)
class Scene:
    """A command and what it writes; `again` is said instead if the output is there by then."""

    name: str
    command: str
    output: str
    again: str = ""


SCENES = (
    Scene("simulate a new file", f"simulate springs -o new.nc {SMALL}", "new.nc"),
    Scene("simulate over a file", f"simulate springs -o five.nc {SMALL} --overwrite", "five.nc"),
    Scene("simulate a new zarr", f"simulate springs -o new.zarr {SMALL}", "new.zarr"),
    Scene(
        "simulate over a zarr",
        f"simulate springs -o springs.zarr {SMALL} --overwrite",
        "springs.zarr",
    ),
    Scene("import a table", "import wide wide.csv -o five.nc --overwrite", "five.nc"),
    Scene(
        "forecast over a file",
        "forecast run springs.nc -o ahead.nc --until 2 --samples 2 --overwrite",
        "ahead.nc",
    ),
    Scene("forecast a table", "forecast run springs.nc -o new.csv --until 2", "new.csv"),
    Scene("evaluate", "evaluate run --samples 0 --json result.json --overwrite", "result.json"),
    Scene("report", "report run --examples 1 --samples 2 -o new.html", "new.html"),
    Scene("report in the run", "report run --examples 1 --samples 2", "run/report.html"),
    Scene("laws", "laws lawful --csv new.csv", "new.csv"),
    Scene("convert", "convert old -o new", "new", "info new"),
    Scene("train", f"train springs.nc -o new --epochs 2 {NETWORK}", "new", "train --resume new"),
    Scene(
        "train from a run",
        f"train springs.nc -o new --from run --keep-scales --epochs 1 {TINY}",
        "new",
        "train --resume new",
    ),
    Scene(
        "tune",
        f"tune springs.nc -o new --model gru --trials 2 --epochs 1 --set model.width=8 "
        f"{TINY.replace('--set training.threads=1 --processes 1', '')}",
        "new/best",
    ),
)


def tasks(quick: bool) -> list[Task]:
    """One task for each scene; the quick part kills a few commands a few times."""
    scenes = [s for s in SCENES if s.name in ("simulate over a zarr", "train")] if quick else SCENES
    most = 6 if quick else MOST
    return [Task(NAME, each.name, each.name, partial(attempt, each, most)) for each in scenes]


def preload() -> None:
    """Start this program again with the counting library, where one can be compiled.

    It must be there when a process starts, and a process that has it passes it on to its forks.
    """
    if "ATTACK_LIBRARY" in os.environ:
        return
    library = Path(tempfile.mkdtemp(prefix="pgode-attack-")) / "kill.so"
    compiler = shutil.which("cc") or shutil.which("gcc")
    os.environ["ATTACK_LIBRARY"] = ""
    if compiler is not None and sys.platform == "linux":
        command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"]
        if subprocess.run(command, check=False).returncode == 0:
            os.environ["ATTACK_LIBRARY"] = os.environ["LD_PRELOAD"] = str(library)
            os.execv(sys.executable, [sys.executable, "-m", "tests.attack", *sys.argv[1:]])
    shutil.rmtree(library.parent)


def forget() -> None:
    """Remove the library."""
    if os.environ.get("ATTACK_LIBRARY"):
        shutil.rmtree(Path(os.environ["ATTACK_LIBRARY"]).parent, ignore_errors=True)


def attempt(scene: Scene, most: int, folder: Path) -> list[Outcome]:
    """Count the calls of an undisturbed run, then kill one at each of them."""
    if not os.environ.get("ATTACK_LIBRARY"):
        reason = "needs Linux and a C compiler, to count system calls"
        return [Outcome(NAME, scene.name, scene.name, skipped=reason)]
    good = folder.with_name(f"{folder.name}-before")
    shutil.copytree(folder, good, symlinks=True)
    try:
        before = files.content(good)
        calls, ran = counted(scene.command.split(), folder, 0)
        if ran.code != 0:
            said = f"without a kill: exit code {ran.code}: {ran.last_words}"
            return [Outcome(NAME, scene.name, scene.name, "accepted", said)]
        wanted = fingerprint(folder / scene.output)
        points = sorted({1 + calls * k // min(calls, most) for k in range(min(calls, most))})
        found = []
        for point in points:
            files.restore(folder, good, before)
            failure, detail = killed_at(point, scene, folder, before, wanted)
            name = f"{scene.name} at call {point} of {calls}"
            said = f"{detail}  [pgode {scene.command}]" if failure else ""
            found.append(Outcome(NAME, scene.name, name, failure, said))
        return found
    finally:
        shutil.rmtree(good)


def counted(words: Sequence[str], folder: Path, at: int) -> tuple[int, processes.Finished]:
    """Run a command that is killed at the call of that number; the number of calls it made."""
    counter = folder.with_name(f"{folder.name}.calls")
    counter.write_bytes(bytes(8))
    armed = {"ATTACK_FOLDER": str(folder), "ATTACK_COUNTER": str(counter), "ATTACK_AT": str(at)}

    def command() -> NoReturn:
        os.environ["ATTACK_GROUP"] = str(os.getpgrp())
        ctypes.CDLL(None).attack_arm()
        processes.run(words)

    ran = processes.measured(command, folder, environment=armed)
    calls = int.from_bytes(counter.read_bytes(), sys.byteorder)
    counter.unlink()
    return calls, ran


def killed_at(
    point: int, scene: Scene, folder: Path, before: files.Content, wanted: dict[str, str]
) -> tuple[str, str]:
    """Kill the command at a call: nothing is lost, and the next command ends as undisturbed."""
    old = fingerprint(folder / scene.output)
    _, ran = counted(scene.command.split(), folder, point)
    if ran.code != -signal.SIGKILL:
        return "hang", f"was not killed, but ended with {ran.code}: {ran.last_words}"
    lost = [p for p in files.lost(before, files.content(folder)) if not _part_of(p, scene.output)]
    if lost:
        return "file lost", ", ".join(lost[:5])
    now = fingerprint(folder / scene.output)
    goes_on = scene.again.startswith("train --resume") or scene.name == "tune"
    if now not in (old, wanted) and not goes_on:
        return "file lost", f"{scene.output} is neither the old nor the new one"
    for line in _next(scene, folder):
        ran = processes.forked(line.split(), folder)
        if ran.code == 0:
            break
    if ran.code != 0:
        return "resume", f"exit code {ran.code} of pgode {line}: {ran.last_words}"
    after = files.content(folder)
    got = fingerprint(folder / scene.output)
    if got != wanted:
        differ = sorted(name for name in {*got, *wanted} if got.get(name) != wanted.get(name))
        return "silent difference", f"{', '.join(differ[:5])} of {scene.output} after pgode {line}"
    left = [path for path in files.appeared(before, after) if files.is_leftover(path)]
    if left:
        return "leftover", f"after pgode {line}: {', '.join(left[:3])}"
    lost = [p for p in files.lost(before, after) if not _part_of(p, scene.output)]
    return ("file lost", ", ".join(lost[:5])) if lost else ("", "")


def _next(scene: Scene, folder: Path) -> list[str]:
    """What a user would say next; a run that was killed very early may have to start again."""
    if not (folder / scene.output).exists() or scene.name == "tune":
        return [scene.command]
    if scene.again:
        return [scene.again, scene.command]
    return [scene.command.removesuffix(" --overwrite") + " --overwrite"]


def _part_of(path: str, output: str) -> bool:
    return Path(output.split("/")[0] if output.startswith("new") else output) in (
        Path(path),
        *Path(path).parents,
    )
