"""The page, the picture and the tables of a search."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

from rich.console import Console
from tests.tuning.fabricated import fabricated

from pgode.tuning.output.files import write_outputs
from pgode.tuning.output.page import render_tuning
from pgode.tuning.output.points import best_so_far
from pgode.tuning.output.sentences import counted, verdict
from pgode.tuning.output.terminal import best_table, importance_table


class Tips(HTMLParser):
    """Tool tips by the element that has them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str, str]] = []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if "data-tip" in given:
            self.found.append((tag, given.get("class", ""), given["data-tip"]))


def test_the_page_shows_every_trial_with_its_settings(searched):
    page = render_tuning(searched)
    tips = Tips()
    tips.feed(page)
    dots = [tip for tag, _, tip in tips.found if tag == "circle"]
    for trial in searched.trials:
        own = [tip for tip in dots if tip.startswith(f"trial {trial.plan.index}:")]
        assert len(own) == 3  # against the trial, and against each of two settings
        assert f"width: {trial.plan.values['model.width']}" in own[0]
    best = {tip for tag, kind, tip in tips.found if tag == "circle" and kind == "trial best"}
    assert len(best) == 1 and best.pop().startswith(f"trial {searched.best.plan.index}:")
    lines = [kind for tag, kind, _ in tips.found if tag == "path"]
    assert len(lines) == 2 * len(searched.trials) + 1  # curves, parallel lines, the best on top
    assert "NaN" not in page and "nan" not in re.findall(r' d="([^"]*)"', page)
    assert "default-src 'none'" in page


def test_the_numbers_are_in_the_page_and_in_a_file(searched):
    content = json.loads((searched.folder / "results.json").read_text())
    assert content == searched.to_json()
    assert content["best"] == searched.best.plan.index
    assert [each["index"] for each in content["trials"]] == list(range(10))
    assert (searched.folder / "report.html").read_text() == render_tuning(searched)


def test_the_picture_is_written_as_png_and_svg(searched):
    assert (searched.folder / "tuning.png").read_bytes().startswith(b"\x89PNG")
    assert "</svg>" in (searched.folder / "tuning.svg").read_text()


def test_the_best_so_far_never_rises(searched):
    _, lowest = best_so_far(searched)
    assert (lowest[1:] <= lowest[:-1]).all() and lowest[-1] == searched.best.error


def test_tables_have_the_best_first(searched):
    console = Console(width=200, record=True, file=None, quiet=False, force_terminal=False)
    with console.capture() as captured:
        console.print(best_table(searched))
        console.print(importance_table(searched))
    lines = captured.get().splitlines()
    rows = [line.split() for line in lines if re.match(r"\s*\d+ ", line)]
    assert [int(row[0]) for row in rows] == [t.plan.index for t in searched.ranked[:5]]
    assert any("training.learning_rate" in line and "%" in line for line in lines)
    assert verdict(searched).startswith(f"Trial {searched.best.plan.index} has the lowest")
    assert counted(searched).endswith("pruned")


def test_failures_are_escaped_and_infinite_errors_leave_gaps(tmp_path):
    tuning = fabricated(tmp_path)
    page = render_tuning(tuning)
    assert "&lt;b&gt;everything&lt;/b&gt;" in page and "<b>everything" not in page
    assert not re.search(r'[" ](nan|inf)[" ]', page)
    assert tuning.counts == {"complete": 14, "pruned": 9, "failed": 1}
    assert counted(tuning) == "14 complete, 9 pruned, 1 failed"
    write_outputs(tuning)
    assert json.loads((tmp_path / "results.json").read_text())["trials"][3]["errors"][0] is None


def test_the_gain_is_said_beside_the_preset(tmp_path):
    tuning = fabricated(tmp_path)
    gain = 1 - tuning.best.error / tuning.trials[0].error
    assert f"{100 * gain:.0f} % below the" in verdict(tuning)
    assert "no trial was better" in verdict(replace(tuning, preset=tuning.best))
    assert "nothing to compare with" in verdict(replace(tuning, preset=None))


def test_a_search_of_one_trial_has_a_page_too(tmp_path):
    tuning = fabricated(tmp_path, 1)
    write_outputs(tuning)
    assert "Too few trials" in (tmp_path / "report.html").read_text()
    assert importance_table(tuning) is None
