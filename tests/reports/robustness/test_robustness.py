"""The tables, sentences and page of `pgode robustness`, from numbers made by hand."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from tests.reports.chromium import Chromium
from tests.reports.run.test_page import Balanced

from pgode.evaluation.robustness.perturbation_growth import comparisons
from pgode.reports.robustness.findings import (
    bound_table,
    comparison_table,
    growth_table,
    label,
    verdicts,
)
from pgode.reports.robustness.page import render, write_robustness

HORIZON = 24


def over(largest: float, variance: float | None = 0.5) -> dict[str, float | None]:
    return {"largest": largest, "mean": largest / 2, "variance": variance}


def curves(rate: float) -> list[dict[str, Any]]:
    frames = np.arange(HORIZON + 1)
    return [
        {
            "magnitude": magnitude,
            "norm": (magnitude * np.exp(rate * frames)).tolist(),
            "factor": {"12": float(np.exp(12 * rate)), "24": float(np.exp(24 * rate))},
            "rate": rate,
        }
        for magnitude in (0.001, 0.1)
    ]


def run(name: str, constants: list[float], rate: float = 0.05, **changes: Any) -> dict[str, Any]:
    """A run whose right-hand side has the mean of the constants."""
    mixture = float(np.mean(constants))
    each = [{"weight": 1 / len(constants), **over(value)} for value in constants]
    return {
        "name": name,
        "run": f"runs/{name}",
        "model": "pgode",
        "prototypes": len(constants),
        "perturbed": "state",
        "forecast": curves(rate),
        "state": curves(rate / 2),
        "lipschitz": {"in_use": len(constants), "mixture": over(mixture), "prototypes": each},
        "bound": {
            "fastest": 0.07,
            "mixture": over(mixture),
            "theorem": over(3 * mixture),
            "holds": 1.0,
            **changes.pop("bound", {}),
        },
        **changes,
    }


def observed(name: str, model: str = "lstm", prototypes: int | None = None) -> dict[str, Any]:
    nothing = {"state": None, "lipschitz": None, "bound": None, "perturbed": "observation"}
    made = run(name, [1.0], rate=0.01)
    return {**made, **nothing, "model": model, "prototypes": prototypes}


def result(*runs: dict[str, Any]) -> dict[str, Any]:
    return {
        "data": "springs.nc",
        "data_hash": "0" * 64,
        "split": "test",
        "systems": 20,
        "horizon": HORIZON,
        "horizons": [12, 24],
        "magnitudes": [0.001, 0.1],
        "draws": 4,
        "seed": 0,
        "runs": list(runs),
        "comparisons": comparisons(runs),
    }


def printed(table: Any) -> str:
    console = Console(width=100)
    with console.capture() as captured:
        console.print(table)
    return captured.get()


@pytest.fixture
def usual() -> dict[str, Any]:
    return result(run("k1", [2.0]), run("k5", [1.0, 1.5], rate=0.03), observed("lstm"))


def test_runs_are_named_by_folder_and_prototypes_or_model(usual) -> None:
    assert [label(each) for each in usual["runs"]] == ["k1 (K = 1)", "k5 (K = 2)", "lstm"]
    assert label(observed("other")) == "other (lstm)"


def test_growth_table_has_factors_and_rates(usual) -> None:
    lines = [line.split() for line in printed(growth_table(usual)).splitlines()]
    assert ["k1", "(K", "=", "1)", "forecast", "0.001", "1.82", "3.32", "0.0500"] in lines
    assert ["state", "0.1", "1.20", "1.43", "0.0150"] in lines
    assert ["lstm", "forecast", "0.001", "1.13", "1.27", "0.0100"] in lines


def test_bound_table_has_constants_of_runs_with_a_state(usual) -> None:
    text = printed(bound_table(usual))
    assert re.search(r"k1 \(K = 1\) +1.0 of 1 +0.0700 +2.00 +6.00", text)
    assert re.search(r"k5 \(K = 2\) +2.0 of 2 +0.0700 +1.25 +3.75 +1.00, 1.50", text)
    assert "lstm" not in text
    assert bound_table(result(observed("lstm"))) is None


def test_sentences_say_what_holds_and_what_does_not(usual) -> None:
    measured, theorem, *bounds, left_out = verdicts(usual)
    far = np.exp((0.03 - 0.05) * HORIZON)
    assert measured.good and f"k5 (K = 2) {far:.3f} times as far as that of k1" in measured.text
    # L is 1 and 1.5 against 2, but each variance is 0.5.
    assert not theorem.good
    assert "single one: in mean yes, in variance no (over systems)" in theorem.text
    assert "1.88 against 3.00 per frame, lower: in mean yes" in theorem.text
    assert "right-hand side: 0.625 against 1.00" in theorem.text
    assert "by a factor of about 10³¹ in 24 frames; measured was 1.82" in bounds[0].text
    assert "lstm: perturbed in the last observed frame" in left_out.text
    assert "perturbed alike" in left_out.text


def test_what_is_wrong_is_said() -> None:
    used = {**run("k2", [1.0, 1.0])["lipschitz"], "in_use": 1.02}
    found = verdicts(result(run("k2", [1.0, 1.0], bound={"holds": 0.98}, lipschitz=used)))
    bad = [verdict.text for verdict in found if not verdict.good]
    assert "2 % of the measured steps of k2 (K = 2) are above the bound" in bad[0]
    assert "nearly one prototype alone (1.02 in use)" in bad[1]


def test_without_constants_the_measurement_is_still_compared() -> None:
    found = result(observed("a", "pgode", 1), observed("b", "pgode", 5))
    measured, left_out = verdicts(found)
    assert "b (K = 5) 1.00 times as far as that of a (K = 1)" in measured.text
    assert "a (K = 1), b (K = 5): perturbed" in left_out.text
    assert "alike" not in left_out.text


def test_many_comparisons_are_a_table(usual) -> None:
    assert comparison_table(usual) is None
    several = [run(f"k5-{n}", [1.0, 2.5], rate=0.05) for n in range(3)]
    found = result(run("k1", [2.0]), *several)
    text = printed(comparison_table(found))
    assert re.search(r"k5-2 \(K = 2\) +k1 \(K = 1\) +1.00 × +0.875 × +no, no +yes, no", text)
    assert not any("times as far" in verdict.text for verdict in verdicts(found))
    assert "0.875 ×" in Balanced(render(found)).text


def test_page_draws_every_run_and_magnitude(usual) -> None:
    text = render(usual)
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


def test_page_is_whole_and_says_what_it_is(usual) -> None:
    page = Balanced(render(usual))
    assert "pgode robustness" in page.text and "training report" not in page.text
    assert json.loads(page.data) == {"systems": []}
    for words in ("L of prototype 1", "bound of Theorem 3.1", "20 systems", "K = 2"):
        assert words in page.text
    # No bounds, no section of them.
    assert "Bounds" not in Balanced(render(result(observed("lstm")))).text


def test_names_cannot_be_markup() -> None:
    text = render(result(run("<b>k1[red]", [2.0])))
    assert "<b>k1" not in text and "&lt;b&gt;k1[red]" in text
    assert "<b>k1[red]" in printed(growth_table(result(run("<b>k1[red]", [2.0]))))


@pytest.mark.browser
def test_page_opens_without_complaint_and_answers_the_pointer(usual, tmp_path: Path) -> None:
    path = tmp_path / "robustness.html"
    write_robustness(usual, path)
    with Chromium() as browser:
        browser.open(path)
        place = browser.run(
            """(() => { const chart = document.querySelector("svg[data-chart]");
            chart.scrollIntoView({block: "center", behavior: "instant"});
            const box = chart.getBoundingClientRect();
            return [box.left + box.width * 0.6, box.top + box.height / 2]; })()"""
        )
        browser.move(*place)
        tip = browser.run('document.getElementById("tip").textContent')
        assert "k5 (K = 2), 0.001" in tip and tip.startswith("frames ahead")
        assert browser.problems == [] and browser.requests == [path.resolve().as_uri()]
