"""A sample of the attack, of each of its classes; `make attack` tries all of it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.attack import page
from tests.attack.bad_inputs import stays_inside
from tests.attack.cases import TABLE
from tests.attack.cases.case import case
from tests.attack.fingerprint import fingerprint
from tests.attack.flips import TARGETS
from tests.attack.outcome import FAILURES, Outcome

from pgode.runtime.stored.sealed import write_sealed

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """In a process of its own, because the attack forks, which a process with threads must not."""
    result = tmp_path_factory.mktemp("attack") / "outcomes.json"
    command = [sys.executable, "-m", "tests.attack", "--quick", "--jobs", "1", "--json", result]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr[-3000:]
    found: list[dict[str, Any]] = json.loads(result.read_text())
    return found


@pytest.mark.parametrize("failure", FAILURES)
def test_nothing_of_this_kind_happens(failure: str, outcomes: list[dict[str, Any]]) -> None:
    failed = [
        f"{each['name']}: {each['detail']}" for each in outcomes if each["failure"] == failure
    ]
    assert failed == []


def test_every_class_was_tried(outcomes: list[dict[str, Any]]) -> None:
    tried = {each["group"] for each in outcomes}
    assert tried >= {*TABLE, "files may not grow"}
    assert {each["campaign"] for each in outcomes} >= {"bad inputs", "kills", "flipped bytes"}
    assert len(outcomes) > 90


@pytest.mark.parametrize("line", ["train springs.nc -o /", "evaluate run --json /dev/full"])
def test_a_case_that_could_harm_the_machine_is_not_tried(line: str) -> None:
    assert not stays_inside(case(line))
    assert not stays_inside(case("simulate springs -o ../new.nc"))
    assert stays_inside(case("simulate springs -o /proc/new.nc"))


def test_results_that_took_another_time_are_the_same_results(tmp_path: Path) -> None:
    prints = []
    for seconds, error in ((0.066, 0.5), (0.067, 0.5), (0.066, 0.4)):
        write_sealed(tmp_path / "result.json", {"seconds": seconds, "errors": [error]})
        prints.append(fingerprint(tmp_path))
    assert prints[0] == prints[1] != prints[2]


def test_the_whole_attack_is_as_large_as_it_claims() -> None:
    assert sum(map(len, TABLE.values())) >= 300
    assert sum(target.count for target in TARGETS) >= 2000


def test_the_page_counts_what_was_tried_clean_and_failed(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(f"# Attack\n{page.BEGIN}\nold\n{page.END}\nthe end\n")
    made = [
        Outcome("kills", "train", "a"),
        Outcome("kills", "train", "b", "file lost"),
        Outcome("bad inputs", "names", "c", seconds=1.25, megabytes=300.0, refused=True),
        Outcome("disk", "full disk", "d", skipped="needs root and mount"),
    ]
    page.write(path, made)
    text = path.read_text()
    assert "| kills | train | 2 | 1 | 1 | 0 |  |  |" in text
    assert "| bad inputs | names | 1 | 1 | 0 | 0 | 1.2 s | 300 MB |" in text
    assert "| disk | full disk | 0 | 0 | 0 | 1 |  |  |" in text
    assert "- full disk: needs root and mount" in text
    assert "| file lost | " in text and "\nold\n" not in text
    assert text.startswith("# Attack\n") and text.endswith("\nthe end\n")
