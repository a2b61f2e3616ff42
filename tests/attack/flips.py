"""Campaign: one changed byte in a file is refused, or changes nothing that is computed from it."""

import random
import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.attack import processes
from tests.attack.bad_inputs import ended_badly, not_a_paragraph
from tests.attack.fingerprint import fingerprint
from tests.attack.outcome import MOST_MEGABYTES, MOST_SECONDS, Outcome, Task

NAME = "flipped bytes"
BLOCK = 20
"""Flips of one task, so that two workers share the files."""
FORECAST = "forecast run springs.nc -o new.csv --until 4"


@dataclass(frozen=True)
class Target:
    """A file, or all files below a folder, a command that reads it, and what tells its result."""

    path: str
    command: str
    result: str = "new.csv"
    count: int = 200


TARGETS = (
    Target("run/config.json", FORECAST),
    Target("run/normaliser.json", FORECAST),
    Target("run/calibration.json", FORECAST, count=300),
    Target("run/checkpoints/best.safetensors", FORECAST, count=300),
    Target("lawful", "forecast lawful five.nc -o new.csv --until 2", count=100),
    Target("run/data.json", "info run --json", "", 150),
    Target("run/metrics.jsonl", "info run --json", "", 150),
    Target("run/manifest.json", FORECAST, count=100),
    Target("springs.nc", FORECAST, count=300),
    Target("springs.zarr", FORECAST.replace(".nc -o", ".zarr -o"), count=300),
    Target("springs.npz", FORECAST.replace(".nc -o", ".npz -o"), count=300),
    Target("ahead.nc", "verify ahead.nc", "", 100),
    Target("half/checkpoints/last.safetensors", "train --resume half", "half", 60),
)


def tasks(quick: bool) -> list[Task]:
    """Blocks of flips of each target."""
    found = []
    for target in TARGETS:
        blocks = 1 if quick else -(-target.count // BLOCK)
        size = 2 if quick else BLOCK
        found += [
            Task(NAME, target.path, f"{target.path} {k}", partial(attempt, target, k, size))
            for k in range(blocks)
        ]
    return found


def attempt(target: Target, block: int, size: int, folder: Path) -> list[Outcome]:
    """Change bytes of the target, one at a time, and compare with the undisturbed result."""
    place = folder / target.path
    members = sorted(p for p in place.rglob("*") if p.is_file()) if place.is_dir() else [place]
    members = [each for each in members if each.is_file() and "tensorboard" not in each.parts]
    if not members:
        return [Outcome(NAME, target.path, target.path, skipped="there is no such file")]
    wanted, ran = _result(target, folder)
    if ran.code != 0:
        said = f"without a flip: exit code {ran.code}: {ran.last_words}"
        return [Outcome(NAME, target.path, target.path, "accepted", said)]
    draw = random.Random(f"{target.path} {block}")
    found = []
    for number in range(size):
        # Small files are as likely as large ones: they say what the others mean.
        file = draw.choice(members)
        whole = file.read_bytes()
        at = draw.randrange(len(whole)) if whole else 0
        change = 1 << draw.randrange(8) if number % 2 else draw.randrange(1, 256)
        file.write_bytes(
            whole[:at] + bytes([whole[at] ^ change]) + whole[at + 1 :] if whole else b"x"
        )
        name = f"{file.relative_to(folder)}, byte {at} xor {change}"
        found.append(_judged(target, name, wanted, *_result(target, folder)))
        file.write_bytes(whole)
    return found


def _goes_on(target: Target) -> bool:
    """Whether the command changes the very folder that the target is in."""
    return target.path.startswith(f"{target.result}/")


def _result(target: Target, folder: Path) -> tuple[object, processes.Finished]:
    """What the command gives: its output file, a run folder, or what it prints."""
    if _goes_on(target):  # Training goes on in a copy, so that each begins alike.
        shutil.copytree(folder / target.result, folder / "kept")
    ran = processes.forked(target.command.split(), folder)
    result: object = ran.output if not target.result else fingerprint(folder / target.result)
    if _goes_on(target):
        shutil.rmtree(folder / target.result)
        (folder / "kept").rename(folder / target.result)
    elif target.result:
        (folder / target.result).unlink(missing_ok=True)
    return result, ran


def _judged(
    target: Target, name: str, wanted: object, result: object, ran: processes.Finished
) -> Outcome:
    failure, detail = "", ""
    if ran.hung:
        failure = "hang"
    elif ended_badly(ran):
        failure, detail = "traceback", ran.last_words
    elif ran.code == 2:
        detail = not_a_paragraph(ran.errors) if not _goes_on(target) else ""
        failure = "message" if detail else ""
    elif result != wanted and not _warned(ran):
        failure = "silent difference"
    if not failure and ran.code == 2 and ran.seconds > MOST_SECONDS:
        failure, detail = "too slow", f"{ran.seconds:.1f} s"
    if not failure and ran.code == 2 and ran.megabytes > MOST_MEGABYTES:
        failure, detail = "too large", f"{ran.megabytes:.0f} MB"
    said = f"{detail}  [pgode {target.command}]" if failure else ""
    return Outcome(
        NAME, target.path, name, failure, said, ran.seconds, ran.megabytes, refused=ran.code == 2
    )


def _warned(ran: processes.Finished) -> bool:
    """Whether a word was said: what a damaged log loses is no forecast, but its reader is told."""
    said = (ran.output + ran.errors).lower()
    return any(word in said for word in ("warning", "damaged", "cannot be read", "differs"))
