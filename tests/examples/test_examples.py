"""Each worked example: the page shows the file, and its commands lead to a report and a verdict."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.examples import pages

from pgode.cli.app import run_command
from pgode.data import files
from pgode.evaluation.evaluation import Evaluation
from pgode.runs.folder import source_of
from pgode.runs.run import Run

MOST_COMMANDS = 3
"""From the raw file to the report."""
WORST = 1.5
"""Largest root-mean-square error, as a multiple of that of the best naive model."""


def ratios(result: Evaluation) -> Iterator[float]:
    """The model's error over that of the best naive model, for each variable at each horizon."""
    for horizon in result.horizons:
        for variable in result.variables:
            best = result.best_naive("test", horizon, variable)
            mine, bar = (
                table.at("test", horizon, variable)
                for table in (result.mse, result.naive_mse(str(best)))
            )
            assert mine is not None and bar is not None
            yield float(np.sqrt(mine / bar))


def same(line: str) -> str:
    """A line without its spaces, which depend on the width of the terminal."""
    return " ".join(line.split())


@pytest.mark.parametrize("name", pages.MADE_UP)
def test_a_page_leads_from_the_raw_file_to_a_report(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if name == "molecule":
        pytest.importorskip("mdtraj")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    pages.MADE_UP[name](tmp_path)
    for file, lines in pages.files_shown(name).items():
        assert (tmp_path / file).read_text().splitlines()[: len(lines)] == lines
    printed = ""
    for words in pages.commands(name):
        assert run_command(pages.typed(words, tmp_path)) == 0, words
        printed += capsys.readouterr().out
    found = {same(line) for line in printed.splitlines()}
    shown = [same(line) for line in pages.import_shown(name)]
    assert [line for line in shown if not any(each.startswith(line) for each in found)] == []
    (folder,) = (tmp_path / "runs").iterdir()
    assert (folder / "report.html").stat().st_size > 50_000
    run = Run.open(folder)
    result = run.evaluate(files.read(source_of(folder)), samples=0)
    found_ratios = list(ratios(result))
    assert found_ratios and np.isfinite(found_ratios).all()
    assert np.exp(np.mean(np.log(found_ratios))) < WORST, found_ratios
    if name == "n-body":
        law = re.search(r"attraction, \((\S+) ± \S+\) r\^\((\S+) ±", printed)
        assert law is not None
        assert [float(number) for number in law.groups()] == pytest.approx([-1, -2], abs=0.02)


@pytest.mark.parametrize("name", pages.MADE_UP)
def test_a_page_needs_few_commands_and_no_python(name: str) -> None:
    assert len(pages.until_report(name)) <= MOST_COMMANDS
    assert "```python" not in pages.text_of(name)


def test_the_table_of_examples_counts_the_commands_of_each_page() -> None:
    rows = re.findall(
        r"^\| \[[^]]+\]\(([\w-]+)\.md\) \|.*\| (\d) \| 0 \|$", pages.text_of("index"), re.M
    )
    assert {name: int(count) for name, count in rows} == {
        name: len(pages.until_report(name)) for name in pages.MADE_UP
    }
