"""The report as a person meets it: opened from disk in headless Chromium."""

from pathlib import Path

import pytest
from tests.reports.chromium import Chromium, painted
from tests.reports.fabricate import planar, springs_report

from pgode.reports import write_report

pytestmark = pytest.mark.browser

PIXELS = painted("#player-canvas", "data[i + 3]")


@pytest.fixture(scope="module")
def springs(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report <1>.html"
    write_report(springs_report(each=2), path)
    return path


def set_slider(browser: Chromium, frame: int) -> None:
    browser.run(
        f"""(() => {{ const slider = document.getElementById("player-time");
        slider.value = {frame}; slider.dispatchEvent(new Event("input")); }})()"""
    )


def choose(browser: Chromium, name: str, value: int) -> None:
    browser.run(
        f"""(() => {{ const list = document.getElementById("{name}");
        list.value = "{value}"; list.dispatchEvent(new Event("change")); }})()"""
    )


def word(browser: Chromium, name: str) -> str:
    return browser.run(f'document.getElementById("{name}").textContent')


def test_the_report_opens_without_errors_or_requests_and_the_player_draws(browser, springs):
    browser.open(springs)
    assert browser.requests == [springs.as_uri()]
    set_slider(browser, 2)
    early = browser.run(PIXELS)
    assert word(browser, "player-clock") == "time 0.2 · observed 3 of 12"
    set_slider(browser, 40)
    late = browser.run(PIXELS)
    assert word(browser, "player-clock") == "time 4 · forecast 29 of 36"
    assert early[0] > 2000 and late[0] > 2000 and early[1] != late[1]
    assert "Mean distance between forecast and truth" in word(browser, "player-readout")


def test_the_slider_obeys_the_keyboard_and_play_moves_it_to_the_end(browser, springs):
    browser.open(springs)
    browser.run('document.getElementById("player-time").focus()')
    browser.press("Home")
    browser.press("ArrowRight")
    browser.wait('document.getElementById("player-time").value === "1"')
    spoken = 'document.getElementById("player-time").getAttribute("aria-valuetext")'
    assert browser.run(spoken) == "time 0.1 · observed 2 of 12"
    choose(browser, "player-speed", 25)
    set_slider(browser, 42)
    browser.run('document.getElementById("player-play").click()')
    assert word(browser, "player-play") == "Pause"
    browser.wait('document.getElementById("player-time").value === "47"')
    browser.wait('document.getElementById("player-play").textContent === "Play"')


def test_other_systems_views_and_objects_can_be_chosen(browser, springs):
    browser.open(springs)
    drawn = [browser.run(PIXELS)]
    for name, value in (("player-system", 3), ("player-object", 4), ("player-view", 3)):
        choose(browser, name, value)
        drawn.append(browser.run(PIXELS))
    assert len({total for _, total in drawn}) == 4
    assert word(browser, "player-readout").startswith("Object 4: forecast (")
    assert "Prototype weights: " in word(browser, "player-readout")
    # Edges and tails belong to planes.
    assert browser.run('document.getElementById("show-edges").disabled') is True


def test_switches_hide_what_they_name(browser, springs):
    browser.open(springs)
    before = browser.run(PIXELS)[0]
    browser.run('["edges", "tails"].forEach((n) => document.getElementById(`show-${n}`).click())')
    assert browser.run(PIXELS)[0] < before - 500


def test_charts_and_heat_maps_tell_their_values_under_the_pointer(browser, springs):
    browser.open(springs)
    for where, words in (
        ("svg.chart", "constant velocity: "),
        (".gate rect", "object 0, prototype 0: 0."),
        (".object .ahead", "object 0"),
    ):
        x, y = browser.run(
            f"""(() => {{ const part = document.querySelector("{where}");
            part.scrollIntoView({{ block: "center", behavior: "instant" }});
            let [x, y] = [0, 0];
            if (part.getPointAtLength) {{
              const at = part.getPointAtLength(part.getTotalLength() / 2);
              const on = new DOMPoint(at.x, at.y).matrixTransform(part.getScreenCTM());
              [x, y] = [on.x, on.y];
            }}
            const area = part.getBoundingClientRect();
            return part.getPointAtLength && part.tagName === "path"
              ? [x, y] : [area.left + area.width / 2, area.top + area.height / 2]; }})()"""
        )
        browser.move(x, y)
        browser.wait('!document.getElementById("tip").hidden')
        assert words in word(browser, "tip")


def test_a_change_to_the_dark_scheme_repaints_the_canvas(browser, springs):
    browser.open(springs)
    colour = "getComputedStyle(document.body).backgroundColor"
    light, pixels = browser.run(colour), browser.run(PIXELS)
    browser.scheme("dark")
    browser.wait(f"{colour} !== '{light}'")
    browser.repainted(PIXELS, pixels)


def test_nothing_is_wider_than_a_telephone(browser, springs):
    browser.resize(390, 800)
    browser.open(springs)
    assert browser.run("document.documentElement.scrollWidth - innerWidth") <= 0
    assert browser.run(PIXELS)[0] > 1000


@pytest.mark.parametrize(
    "features, roles",
    [
        (("x",), ("position",)),
        (("x", "y", "z"), ("position",) * 3),
        (("cases", "deaths"), ("value",) * 2),
    ],
)
def test_any_number_of_positions_can_be_played(browser, tmp_path, features, roles):
    write_report(planar(features, roles), tmp_path / "report.html")
    browser.open(tmp_path / "report.html")
    views = browser.run('document.getElementById("player-view").length')
    # Three positions have three planes and a view in three dimensions.
    assert views == len(features) + (4 if len(roles) == 3 else 0)
    for view in range(views):
        choose(browser, "player-view", view)
        set_slider(browser, 5)
        early = browser.run(PIXELS)
        set_slider(browser, 30)
        late = browser.run(PIXELS)
        assert min(early[0], late[0]) > 1000 and early[1] != late[1]
    if len(features) > 1:
        choose(browser, "picture-view", 1)
        shown = "document.querySelector('[data-view]:not([hidden])').dataset.view"
        assert browser.run(shown) == "1"
