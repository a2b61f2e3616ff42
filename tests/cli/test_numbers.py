"""Numbers and dates that no command can work with: one paragraph, exit code 2, at once."""

import resource
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.number_cases import CASES, Case
from tests.cli.number_files import make_files

from pgode.cli.app import run_command

ADVICE = "See pgode --help, or --help after a command."
SECONDS, GIGABYTES = 5.0, 1.0


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with good data and runs; each command plans with two gigabytes."""
    folder = tmp_path_factory.mktemp("place")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("PGODE_MEMORY", "2GB")
        make_files()
        yield folder


def peak() -> float:
    """Most memory that this process ever had, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def test_there_are_enough_cases_and_none_is_there_twice() -> None:
    assert len({each.command for each in CASES}) == len(CASES) >= 250
    commands = {each.command.split()[0] for each in CASES}
    assert commands >= {"simulate", "train", "forecast", "evaluate", "compare", "report"}
    assert commands >= {"robustness", "export", "tune", "reproduce", "import", "data", "check"}


@pytest.mark.parametrize("expected", CASES, ids=lambda each: each.command[:90])
def test_a_number_out_of_bounds_is_one_paragraph(
    expected: Case, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, began, most = sorted(place.iterdir()), time.process_time(), peak()
    code = run_command(expected.command.split())
    spent, grown = time.process_time() - began, peak() - most
    said = capsys.readouterr().err
    left = [path for path in place.iterdir() if path not in before]
    for path in left:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert code == 2
    assert "Traceback" not in said
    assert said.count("Error: ") == 1
    first, *others = said[said.index("Error: ") :].strip().splitlines()
    assert others in ([], [ADVICE])
    assert len(first) < 900
    assert any(word in first for word in ("xpected", "Input should", "Invalid value", "Correct"))
    for words in expected.says:
        assert words in first
    assert not left
    # CPU time: a busy machine does not count. The first of a kind also imports what it needs.
    assert spent < SECONDS
    assert grown < GIGABYTES
