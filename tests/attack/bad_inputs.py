"""Campaign: every row of the table is refused in one paragraph and leaves everything as it was."""

import shlex
from functools import partial
from itertools import pairwise
from pathlib import Path

from tests.attack import files
from tests.attack.cases import TABLE
from tests.attack.cases.case import Case
from tests.attack.outcome import MOST_MEGABYTES, MOST_SECONDS, Outcome, Task
from tests.attack.place import inside
from tests.attack.processes import Finished, forked, started

NAME = "bad inputs"
ADVICE = "See pgode --help, or --help after a command."
OUTPUTS = ("-o", "--output", "--json", "--csv", "--svg", "--folder", "--samples", "--resume")
LONGEST = 1200
"""Letters of a refusal; more is no paragraph, but a dump."""


def tasks(quick: bool) -> list[Task]:
    """One task for each case; the quick part takes every so many of each group."""
    found = []
    for group, cases in TABLE.items():
        assert len({each.name for each in cases}) == len(cases), _twice(cases)
        assert all(stays_inside(each) for each in cases), "a case reaches out of its folder"
        chosen = cases[:: max(len(cases) // 8, 1)] if quick else cases
        found += [Task(NAME, group, each.name, partial(attempt, group, each)) for each in chosen]
    return found


def stays_inside(tried: Case) -> bool:
    """Whether a command that wrongly obeys could only harm the folder it is tried in.

    Folders are restored after each case, but nothing else is: no case may name an output elsewhere,
    however sure it is to be refused. Nobody can create a file in /proc.
    """
    safe = ("/proc/", "/dev/stdin")
    named = [word.partition("=")[2] or word for word in tried.words]
    outside = [word for word in named if word.startswith("/") and not word.startswith(safe)]
    outputs = [b for a, b in pairwise(tried.words) if a in OUTPUTS]
    return not outside and not any(path.startswith("..") for path in outputs)


def _twice(cases: list[Case]) -> list[str]:
    names = [each.name for each in cases]
    return sorted({name for name in names if names.count(name) > 1})


def attempt(group: str, tried: Case, folder: Path) -> list[Outcome]:
    """Spoil the folder as the case says, run its command, and judge."""
    if tried.make is not None:
        with inside(folder):
            tried.make()
    before = files.content(folder)
    ran = (started if tried.real else forked)(tried.words, folder)
    failure, detail = judged(tried, ran, before, files.content(folder))
    return [
        Outcome(
            NAME,
            group,
            tried.name,
            failure,
            f"{detail}  [pgode {_line(tried.words)}]" if failure else "",
            ran.seconds,
            ran.megabytes,
            refused=ran.code == 2,
        )
    ]


def _line(words: tuple[str, ...]) -> str:
    """A line that can be typed, if it is not too long for that."""
    text = ascii(shlex.join(words))[1:-1]
    return text if len(text) < 200 else f"{text[:200]}..."


def judged(
    tried: Case, ran: Finished, before: files.Content, after: files.Content
) -> tuple[str, str]:
    """The worst failure, and what shows it; empty if there is none."""
    lost = [path for path in files.lost(before, after) if not _within(path, tried.replaces)]
    new = [path for path in files.appeared(before, after) if not _within(path, tried.writes)]
    left = new if ran.code == 0 else files.appeared(before, after)
    if ran.hung:
        return "hang", ran.last_words
    if ended_badly(ran):
        return "traceback", ran.last_words
    if lost or (ran.code == 2 and files.lost(before, after)):
        return "file lost", ", ".join(files.lost(before, after)[:5])
    if ran.code not in tried.codes:
        return "accepted", f"exit code {ran.code}: {ran.last_words}"
    if left or ran.children:
        return "leftover", ", ".join(left[:5]) or "a process"
    if ran.code == 2 and (fault := not_a_paragraph(ran.errors)):
        return "message", f"{fault}: {ran.last_words!a}"
    if ran.seconds > MOST_SECONDS:
        return "too slow", f"{ran.seconds:.1f} s"
    if ran.megabytes > MOST_MEGABYTES:
        return "too large", f"{ran.megabytes:.0f} MB"
    return "", ""


def ended_badly(ran: Finished) -> bool:
    """A traceback, a signal, or a code that no command documents."""
    said = ran.output + ran.errors
    return "Traceback (most recent call last)" in said or ran.code not in (0, 1, 2, 130, 143)


def _within(path: str, places: tuple[str, ...]) -> bool:
    return any(path == place or path.startswith(f"{place}/") for place in places)


def not_a_paragraph(message: str) -> str:
    """Why a refusal is no single paragraph of plain text; empty if it is."""
    lines = message.strip("\n").split("\n")
    if not lines[0].startswith("Error: "):
        return "does not begin with Error"
    if lines[1:] not in ([], [ADVICE]):
        return f"{len(lines)} lines"
    if len(lines[0]) > LONGEST:
        return f"{len(lines[0])} letters"
    if any(ord(letter) < 32 or 127 <= ord(letter) < 160 for letter in lines[0]):
        return "control characters"
    return ""
