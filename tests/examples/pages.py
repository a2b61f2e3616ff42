"""The pages of the worked examples: what they show, and the commands they tell a reader to type."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

from tests.examples.made_up.bodies import bodies
from tests.examples.made_up.crowds import matches, pedestrians
from tests.examples.made_up.epidemic import epidemic
from tests.examples.made_up.molecule import molecule
from tests.examples.made_up.walker import walk

FOLDER = Path(__file__).parents[2] / "docs/examples"
FENCE = re.compile(r"(?:^`([\w.]+)`:\n\n)?^```(\w*)\n(.*?)^```$", re.M | re.S)
"""A block of code, after the name of the file that it shows, if it shows one."""
MADE_UP: dict[str, Callable[[Path], None]] = {
    "pedestrians": pedestrians,
    "matches": matches,
    "epidemic": epidemic,
    "motion-capture": walk,
    "n-body": bodies,
    "molecule": molecule,
}
"""The examples, and what writes the file of each."""


def text_of(name: str) -> str:
    """The page of an example."""
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8")


def commands(name: str) -> list[list[str]]:
    """The words of each command of a page, in order, without `pgode`."""
    blocks = [code for _, language, code in FENCE.findall(text_of(name)) if language == "sh"]
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("pgode ")]


def typed(words: list[str], folder: Path) -> list[str]:
    """The words as a shell passes them on: patterns become the names of files."""
    found: list[str] = []
    for word in words:
        names = sorted(path.name for path in folder.glob(word)) if "*" in word else []
        found += names or [word]
    return found


def until_report(name: str) -> list[list[str]]:
    """The commands from the raw file to the report."""
    listed = commands(name)
    return listed[: 1 + [words[0] for words in listed].index("report")]


def files_shown(name: str) -> dict[str, list[str]]:
    """The first lines of files that a page shows, by the name of the file."""
    return {
        file: [line for line in code.splitlines() if line != "..."]
        for file, _, code in FENCE.findall(text_of(name))
        if file
    }


def import_shown(name: str) -> list[str]:
    """What a page shows as printed by its import: the first block that is no file."""
    blocks = [
        code
        for file, language, code in FENCE.findall(text_of(name))
        if language == "text" and not file
    ]
    return blocks[0].splitlines()
