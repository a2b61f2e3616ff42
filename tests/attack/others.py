"""Campaigns that have programs of their own: signals, and fuzzing of the readers."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from tests.attack.outcome import Outcome, Task

ROOT = Path(__file__).parents[2]
SIGNALS = 210
FUZZ = "fuzz"
"""Part of the path of tests that try any bytes, any JSON and any YAML."""
KINDS = {"traceback": "traceback", "left behind": "leftover", "not a word": "message"}


def tasks_of_signals(quick: bool) -> list[Task]:
    """Signals at random moments of all commands. Their quick part is in the tests of signals."""
    return [] if quick else [Task("signals", "signals", "signals", signalled)]


def signalled(folder: Path) -> list[Outcome]:
    """Send signals to commands at moments of all their stages."""
    words = [sys.executable, "-m", "tests.attack.signals.campaign", "--count", str(SIGNALS)]
    told = folder / "signals.json"
    # In a process of its own: its imports would count as memory of all that this one tries later.
    done = subprocess.run([*words, "--json", told], cwd=ROOT, capture_output=True, check=False)
    if not told.exists():
        said = done.stderr.decode(errors="backslashreplace")[-500:]
        return [Outcome("signals", "signals", "signals", "traceback", said)]
    found = []
    for name, said in json.loads(told.read_text()):
        clean = said in ("clean", "ended first")
        kind = next((KINDS[word] for word in KINDS if said.startswith(word)), "hang")
        group = name.partition(", signal")[0]
        found.append(
            Outcome("signals", group, name, "" if clean else kind, "" if clean else said[-500:])
        )
    return found


def tasks_of_fuzzing(quick: bool) -> list[Task]:
    """Many examples for each of the tests that run with few within the suite."""
    if quick:
        return []
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    fuzzing = [path for path in paths if FUZZ in str(path.relative_to(ROOT))]
    return [
        Task("fuzzing", str(path.relative_to(ROOT / "tests")), path.name, Fuzzing(path))
        for path in fuzzing
    ]


class Fuzzing:
    """The tests of one file, each with the examples of the profile "attack"."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, folder: Path) -> list[Outcome]:
        """Run pytest in a process of its own."""
        group = str(self.path.relative_to(ROOT / "tests"))
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rN",
             "--hypothesis-show-statistics", str(self.path)],
            cwd=ROOT,
            env={**os.environ, "HYPOTHESIS_PROFILE": "attack"},
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip
        examples = sum(int(n) for n in re.findall(r"- (\d+) passing\b", done.stdout))
        failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
        if done.returncode == 0:
            return [Outcome("fuzzing", group, self.path.name, tries=max(examples, 1))]
        said = "; ".join(failed) or done.stdout[-300:]
        return [Outcome("fuzzing", group, self.path.name, "traceback", said)]
