"""The page of `pgode robustness`, from numbers made by hand."""

import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from tests.reports.chromium import Chromium
from tests.reports.robustness.results import HORIZON, many_pairs, observed, result, run, usual
from tests.reports.run.test_page import Balanced

from pgode.evaluation.robustness.result import Robustness
from pgode.reports.robustness.page import render_robustness, write_robustness


def test_page_draws_every_run_and_magnitude() -> None:
    text = render_robustness(usual())
    charts = [json.loads(unescape(c)) for c in re.findall(r'data-chart="([^"]*)"', text)]
    assert len(charts) == 4
    names = [row["name"] for row in charts[0]["rows"]]
    assert names == [
        *("k1 (K = 1), 0.001", "k1 (K = 1), 0.1", "k5 (K = 2), 0.001", "k5 (K = 2), 0.1"),
        *("lstm, 0.001", "lstm, 0.1"),
    ]
    assert charts[0]["x"] == list(range(HORIZON + 1))
    np.testing.assert_allclose(charts[0]["rows"][3]["y"][-1], 0.1 * np.exp(0.72), rtol=1e-3)
    # Growth of the smallest magnitude starts at 1.
    assert [row["y"][0] for row in charts[1]["rows"]] == [1, 1, 1]
    assert [row["name"] for row in charts[3]["rows"]] == ["k1 (K = 1), 0.001", "k5 (K = 2), 0.001"]
    kinds = {row["name"].split(",")[0]: row["kind"] for row in charts[0]["rows"]}
    assert len(set(kinds.values())) == 3


def test_page_has_its_title_sections_and_numbers() -> None:
    page = Balanced(render_robustness(usual()))
    assert "pgode robustness" in page.text and "training report" not in page.text
    assert json.loads(page.data) == {"systems": []}
    for part in ("L of prototype 1", "bound of Theorem 3.1", "20 systems", "K = 2"):
        assert part in page.text
    assert "0.875 ×" in Balanced(render_robustness(many_pairs())).text


def test_page_without_bounds_has_no_section_of_them() -> None:
    assert "Bounds" not in Balanced(render_robustness(result(observed("lstm")))).text


def test_numbers_on_the_page_are_the_whole_result() -> None:
    (numbers,) = re.findall("<pre>(.*?)</pre>", render_robustness(usual()))
    assert Robustness.from_json(json.loads(unescape(numbers))) == usual()


def test_names_are_no_markup() -> None:
    text = render_robustness(result(run("<b>k1[red]", [2.0])))
    assert "<b>k1" not in text and "&lt;b&gt;k1[red]" in text


@pytest.mark.browser
def test_page_opens_without_complaint_and_answers_the_pointer(tmp_path: Path) -> None:
    path = tmp_path / "robustness.html"
    write_robustness(usual(), path)
    with Chromium() as browser:
        browser.open(path)
        place = browser.run(
            """(() => { const chart = document.querySelector("svg[data-chart]");
            chart.scrollIntoView({block: "center", behavior: "instant"});
            const box = chart.getBoundingClientRect();
            return [box.left + box.width * 0.6, box.top + box.height / 2]; })()"""
        )
        browser.move(*place)
        browser.wait('!document.getElementById("tip").hidden')
        tip = browser.run('document.getElementById("tip").textContent')
        assert "k5 (K = 2), 0.001" in tip and tip.startswith("frames ahead")
        assert browser.problems == [] and browser.requests == [path.resolve().as_uri()]
