"""The player of named objects, in three dimensions and over time, in headless Chromium."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.reports.chromium import Chromium, painted
from tests.reports.fabricate import planar

from pgode.reports import write_report

pytestmark = pytest.mark.browser

PIXELS = painted("#player-canvas", "data[i + 3]")
CANVAS = 'document.getElementById("player-canvas")'


def word(browser: Chromium, name: str) -> str:
    return browser.run(f'document.getElementById("{name}").textContent')


def switch(browser: Chromium, name: str) -> None:
    browser.run(f'document.getElementById("{name}").click()')


def middle(browser: Chromium) -> tuple[float, float]:
    x, y = browser.run(
        f"""(() => {{ {CANVAS}.scrollIntoView({{ block: "center", behavior: "instant" }});
        const area = {CANVAS}.getBoundingClientRect();
        return [area.left + area.width / 2, area.top + area.height / 2]; }})()"""
    )
    return x, y


@pytest.fixture(scope="module")
def body(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A chain of 20 named joints in space."""
    report = planar(("x", "y", "z"), ("position",) * 3, objects=20)
    chain = [(k, k + 1, 1.0) for k in range(19)] + [(k + 1, k, 1.0) for k in range(19)]
    names = [f"<b>joint {k}</b>" for k in range(20)]
    examples = [replace(each, edges=chain, labels=names, system="walk") for each in report.examples]
    path = tmp_path_factory.mktemp("report") / "body.html"
    write_report(replace(report, examples=examples), path)
    return path


def test_dragging_turns_the_body_and_playing_moves_it(browser: Chromium, body: Path) -> None:
    browser.open(body)
    assert browser.requests == [body.as_uri()]
    x, y = middle(browser)
    before = browser.run(PIXELS)
    assert before[0] > 1500
    browser.drag((x, y), (x + 120, y + 30))
    turned = browser.repainted(PIXELS, before)
    assert turned[0] > 1500
    # A drag is no click: no object is singled out.
    assert browser.run('document.getElementById("player-object").value') == "-1"
    frame = browser.run('document.getElementById("player-time").value')
    switch(browser, "player-play")
    browser.wait(f'document.getElementById("player-time").value !== "{frame}"')
    browser.repainted(PIXELS, turned)


def test_arrow_keys_turn_the_body_and_plus_zooms(browser: Chromium, body: Path) -> None:
    browser.open(body)
    browser.run(f"{CANVAS}.focus()")
    assert browser.run(f"document.activeElement === {CANVAS}")
    drawn = [browser.run(PIXELS)[1]]
    for key in ("ArrowRight", "ArrowUp", "+"):
        browser.run(f'{CANVAS}.dispatchEvent(new KeyboardEvent("keydown", {{ key: "{key}" }}))')
        drawn.append(browser.run(PIXELS)[1])
    assert len(set(drawn)) == 4


def test_switches_hide_bones_and_truth_and_put_them_side_by_side(
    browser: Chromium, body: Path
) -> None:
    browser.open(body)
    apart = browser.run(PIXELS)[0]
    switch(browser, "show-beside")
    switch(browser, "show-truth")
    alone = browser.run(PIXELS)[0]
    switch(browser, "show-edges")
    assert browser.run(PIXELS)[0] < alone < apart + 5000
    assert browser.run('document.getElementById("player-keys").hidden') is False
    browser.run(
        """(() => { const list = document.getElementById("player-view");
        list.value = "1"; list.dispatchEvent(new Event("change")); })()"""
    )
    assert browser.run('document.getElementById("show-beside").parentElement.hidden') is True
    assert browser.run(f"{CANVAS}.hasAttribute('tabindex')") is False


def test_nothing_is_wider_than_a_telephone(browser: Chromium, body: Path) -> None:
    browser.resize(390, 800)
    browser.open(body)
    assert browser.run("document.documentElement.scrollWidth - innerWidth") <= 0
    assert browser.run(PIXELS)[0] > 500


def test_objects_go_by_their_names(browser: Chromium, body: Path) -> None:
    browser.open(body)
    names = browser.run('[...document.getElementById("player-object").options].map((o) => o.text)')
    assert names[:3] == ["all", "<b>joint 0</b>", "<b>joint 1</b>"]
    browser.run(
        """(() => { const list = document.getElementById("player-object");
        list.value = "4"; list.dispatchEvent(new Event("change")); })()"""
    )
    assert word(browser, "player-readout").startswith("<b>joint 4</b>: forecast (")


def test_many_series_single_out_the_worst_and_the_clock_shows_dates(
    browser: Chromium, tmp_path: Path
) -> None:
    report = planar(("cases",), ("value",), objects=40)
    dates = [str(np.datetime64("2021-03-01") + k) for k in range(len(report.examples[0].times))]
    examples = []
    for each in report.examples:
        forecast = each.forecast.copy()
        forecast[7] += 0.5
        examples.append(replace(each, forecast=forecast, dates=dates))
    write_report(replace(report, examples=examples), tmp_path / "series.html")
    browser.open(tmp_path / "series.html")
    assert browser.run('document.getElementById("player-object").value') == "7"
    assert word(browser, "player-clock").startswith("2021-03-31 · forecast")
    assert browser.run(PIXELS)[0] > 2000
