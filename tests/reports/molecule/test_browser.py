"""The molecule of a report as a person meets it: drawn in space, or a sentence why not."""

from pathlib import Path

import pytest
from tests.reports.chromium import Chromium, painted
from tests.reports.molecules import trained_on, trajectories

from pgode.runs.report import write_run_report

pytestmark = pytest.mark.browser

# Pixels that differ from the corner's.
DIFFERS = " || ".join(f"data[i + {k}] !== data[{k}]" for k in range(3))
DRAWN = painted("#molecule-view canvas", DIFFERS)


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("molecule")
    run = trained_on(trajectories(), folder / "run")
    write_run_report(run, trajectories(), folder / "report.html", examples=2, samples=3, seed=0)
    return folder / "report.html"


def change(browser: Chromium, name: str, value: int, event: str) -> None:
    browser.run(
        f"""(() => {{ const part = document.getElementById("molecule-{name}");
        part.value = "{value}"; part.dispatchEvent(new Event("{event}")); }})()"""
    )


def word(browser: Chromium, name: str) -> str:
    return browser.run(f'document.getElementById("molecule-{name}").textContent')


def flip(browser: Chromium, name: str) -> None:
    browser.run(f'document.getElementById("molecule-{name}").click()')


def test_the_molecule_is_drawn_without_errors_or_requests_and_the_slider_moves_it(browser, report):
    browser.open(report)
    assert browser.requests == [report.as_uri()]
    change(browser, "time", 5, "input")
    assert word(browser, "clock") == "time 0 ps · observed 6 of 6"
    assert word(browser, "readout") == "The model sees these frames."
    seen = browser.run(DRAWN)
    change(browser, "time", 11, "input")
    assert word(browser, "clock") == "time 1.2 ps · forecast 6 of 6"
    assert word(browser, "readout").startswith("RMSD 0.")
    ahead = browser.repainted(DRAWN, seen)
    assert min(seen[0], ahead[0]) > 1000
    change(browser, "system", 3, "change")
    browser.repainted(DRAWN, ahead)
    assert word(browser, "clock").endswith("6 of 6")


def test_switches_hide_what_they_name_and_observed_frames_have_no_forecast(browser, report):
    browser.open(report)
    change(browser, "time", 11, "input")
    both = browser.run(DRAWN)
    flip(browser, "truth")
    one = browser.run(DRAWN)
    flip(browser, "forecast")
    assert both[0] > one[0] > 500 and browser.run(DRAWN)[0] == 0
    flip(browser, "forecast")
    flip(browser, "hydrogens")
    assert browser.run(DRAWN)[0] > one[0] + 100
    change(browser, "time", 3, "input")
    assert browser.run(DRAWN)[0] == 0


def test_keys_move_the_slider_and_turn_the_molecule_and_play_runs_to_the_end(browser, report):
    browser.open(report)
    browser.run('document.getElementById("molecule-time").focus()')
    browser.press("Home")
    browser.press("ArrowRight")
    spoken = 'document.getElementById("molecule-time").getAttribute("aria-valuetext")'
    browser.wait(f"{spoken} === 'time −0.8 ps · observed 2 of 6'")
    before = browser.run(DRAWN)
    browser.run('document.getElementById("molecule-view").focus()')
    browser.press("ArrowRight")
    browser.repainted(DRAWN, before)
    browser.run('document.getElementById("molecule-play").click()')
    browser.wait('document.getElementById("molecule-time").value === "11"')
    browser.wait('document.getElementById("molecule-play").textContent === "Play"')


def test_the_dark_scheme_and_a_telephone_have_their_colours_and_size(browser, report):
    browser.resize(390, 800)
    browser.open(report)
    assert browser.run("document.documentElement.scrollWidth - innerWidth") <= 0
    light = browser.run(DRAWN)
    browser.scheme("dark")
    browser.wait("getComputedStyle(document.body).backgroundColor !== 'rgb(255, 255, 255)'")
    assert min(light[0], browser.repainted(DRAWN, light)[0]) > 500


def test_a_browser_without_webgl_says_so_in_a_sentence(report):
    with Chromium(flags=("--disable-3d-apis",)) as browser:
        browser.open(report)
        assert word(browser, "view").startswith("This browser does not offer WebGL 2")
        change(browser, "time", 11, "input")
        assert word(browser, "readout").startswith("RMSD 0.")
        assert browser.problems == []
