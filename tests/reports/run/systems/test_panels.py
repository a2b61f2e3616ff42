"""Panels of single objects: which are shown, under which names, with which dates."""

import json
import re
from dataclasses import replace

import numpy as np
from tests.reports.fabricate import planar
from tests.reports.run.test_page import Balanced

from pgode.reports import Example, ReportData, render
from pgode.reports.run.systems.dated import DatedAxis
from pgode.reports.run.systems.panels import PANELS, chosen_objects

SERIES = (("cases", "deaths"), ("value", "value"))
EVIL = '</script><script>alert("x")</script><b>'


def many(objects: int, **changes: object) -> ReportData:
    """Series of many named objects; object k has an error that grows with k."""
    report = planar(*SERIES, objects=objects)
    growth = np.arange(objects)[:, None, None] * 0.01
    examples = [
        replace(
            each,
            forecast=each.truth + growth,
            labels=[f"State {k}" for k in range(objects)],
            **changes,
        )
        for each in report.examples
    ]
    return replace(report, examples=examples)


def panels(page: str) -> list[str]:
    return re.findall(r'<svg class="panel".*?aria-label="([^"]*)"', page)


def test_many_objects_are_the_worst_the_best_and_some_between_by_name() -> None:
    report = many(77)
    chosen = chosen_objects(report.examples[0])
    assert len(chosen) == PANELS
    assert (chosen[0], chosen[-1]) == (76, 0)
    assert (np.diff(chosen) < 0).all() and np.diff(chosen).max() - np.diff(chosen).min() <= 1
    page = render(report)
    text = Balanced(page).text
    assert "State 76 (1)" in text and "State 0 (77)" in text
    assert "test system 0 · 12 of 77 objects" in text
    # Two systems, two features, twelve objects.
    assert len(panels(page)) == 2 * 2 * PANELS


def test_few_objects_without_positions_are_all_shown_with_their_interval() -> None:
    page = render(many(4))
    assert len(panels(page)) == 2 * 2 * 4
    assert page.count('<path class="band" d="M') == 2 * 2 * 4 + 1  # and in the legend
    assert "of 4 objects" not in page


def test_few_objects_in_a_plane_stay_one_picture_and_many_do_not() -> None:
    places = (("x", "y"), ("position",) * 2)
    assert panels(render(planar(*places, objects=12))) == []
    labels = panels(render(planar(*places, objects=13)))
    # The plane, and both positions over time, of twelve objects of two systems.
    assert len(labels) == 3 * 12 * 2
    assert any("x, y: observed" in label for label in labels)


def test_an_object_without_truth_is_never_the_worst() -> None:
    example = many(20).examples[0]
    truth = example.truth.copy()
    truth[19] = np.nan
    assert chosen_objects(replace(example, truth=truth))[0] == 18
    unknown = replace(example, truth=np.full_like(truth, np.nan))
    np.testing.assert_array_equal(chosen_objects(unknown), np.arange(PANELS))


def test_an_object_that_rests_has_no_panel_of_rounding_errors() -> None:
    report = planar(("x", "y"), ("position",) * 2, objects=13)
    example = report.examples[0]
    still = {
        name: np.where(
            np.arange(13)[:, None, None] == 5, 1e-9 * getattr(example, name), getattr(example, name)
        )
        for name in ("observed", "forecast", "lower", "upper", "truth")
    }
    page = render(replace(report, examples=[replace(example, **still)]))
    assert "10⁻" not in Balanced(page).text.split("Player")[0]


def test_dates_and_names_are_in_pictures_and_in_the_player() -> None:
    frames = len(planar(*SERIES).examples[0].times)
    dates = [f"2021-03-{1 + k % 31:02d}" for k in range(frames)]
    report = many(4, dates=dates, system="Ohio", period="observed from 2021-03-01, forecast ...")
    page = render(report)
    parsed = Balanced(page)
    assert "test Ohio · observed from 2021-03-01" in parsed.text
    drawn = page.split('<section id="trajectories"')[1].split("<section")[0]
    assert re.search(r'class="tick mid">2021-03-\d\d<', drawn) and "time (s)" not in drawn
    system = json.loads(parsed.data)["systems"][0]
    assert system["dates"] == dates
    assert system["labels"] == [f"State {k}" for k in range(4)]
    assert system["worst"] == 3


def test_hostile_names_of_systems_objects_and_dates_stay_names() -> None:
    frames = len(planar(*SERIES).examples[0].times)
    example = replace(
        many(13).examples[0],
        system=EVIL,
        period=EVIL,
        labels=[f"{k}{EVIL}" for k in range(13)],
        dates=[EVIL] * frames,
        gate=np.full((13, 2), 0.5),
    )
    page = render(replace(many(13), examples=[example]))
    assert "<script>alert" not in page and page.count("<script") == 3
    assert json.loads(Balanced(page).data)["systems"][0]["labels"][0] == f"0{EVIL}"


def test_figures_of_a_single_split_lie_side_by_side() -> None:
    report = planar(("x", "y"), ("position",) * 2)
    one = [replace(report.examples[0], number=k) for k in range(2)]
    page = render(replace(report, examples=one))
    assert re.search(r'<h3>In distribution</h3><div class="columns"><div><figure>', page)
    assert page.count("<div><h3>") == 0
    assert render(report).count("<div><h3>") == 2


def test_one_object_one_feature_and_one_frame_can_be_shown() -> None:
    report = planar(("load",), ("value",), objects=1)
    example = report.examples[0]
    names = ("forecast", "lower", "upper", "truth")
    short = {name: getattr(example, name)[:, :1] for name in names}
    one: Example = replace(example, forecast_times=example.forecast_times[:1], **short)
    page = render(replace(report, examples=[one]))
    assert len(panels(page)) == 1
    assert page.count('<path class="band" d="M') == 2
    assert not re.search(r"\bnan\b", page.split("<script>")[0], re.IGNORECASE)


def test_dates_on_an_axis_have_room() -> None:
    times = np.arange(100.0)
    dates = [f"2021-{1 + k // 28:02d}-{1 + k % 28:02d}" for k in range(100)]
    axis = DatedAxis.of(times, dates, 0.0, 230.0)
    found = axis.ticks(9)
    assert 2 <= len(found) <= 3
    assert all(dates[int(time)] == text for time, text in found)
    assert DatedAxis.of(times[:1], dates[:1], 0.0, 230.0).ticks() == [(0.0, dates[0])]
