import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from tests.reports.fabricate import made_evaluation, planar, springs_report

from pgode.evaluation.evaluation import Training
from pgode.reports import ReportData, render, write_report
from pgode.reports.base import example as example_room
from pgode.reports.run.systems import player
from pgode.runtime.errors import InputError

VOID = {"meta", "input", "br", "link", "img"}


class Balanced(HTMLParser):
    """Checks that every element is closed in order, and gathers text and the script's data."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.tags: set[str] = set()
        self.data = ""
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag if ("id", "data") not in attrs else "data")

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() in (tag, "data")

    def handle_data(self, data):
        if self.open and self.open[-1] == "data":
            self.data += data
        elif not self.open or self.open[-1] not in ("script", "style"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def report() -> ReportData:
    return springs_report(each=3)


@pytest.fixture(scope="module")
def page(report) -> str:
    return render(report)


def test_the_page_needs_nothing_from_outside(page):
    parsed = Balanced(page)
    links = [value for name, value in parsed.attributes if name in ("src", "href", "xlink:href")]
    assert links and all(link.startswith("#") for link in links)
    assert not parsed.tags & {"link", "img", "iframe", "object", "embed", "base"}
    assert "url(" not in page and "@import" not in page and "default-src 'none'" in page


def test_every_section_is_there_and_linked(page):
    wanted = "summary error uncertainty energy trajectories player prototypes training provenance"
    for name in wanted.split():
        assert f'<section id="{name}"' in page and f'href="#{name}"' in page


def test_the_summary_shows_the_errors_of_the_evaluation(report, page):
    text = Balanced(page).text
    error = report.evaluation.mse.at("test", 36, "q")
    naive = report.evaluation.naive_mse("constant-velocity").at("test", 36, "q")
    assert f"{error * 1e4:.2f} × 10⁻⁴" in text and f"{naive * 1e4:.0f}" in text
    assert "Better than the best naive model in all 12 cells" in text
    assert "The 90 % intervals are too narrow: at worst they contain 71 % of q" in text


def test_a_model_worse_than_naive_ones_is_called_so():
    text = Balanced(render(springs_report(each=1, noise=3.0))).text
    assert "Worse than last value for v at" in text  # the same as constant velocity there
    assert "In every cell no better than the best naive model" in text
    assert "above last value" in text and "Better than" not in text


def test_the_data_in_the_page_is_that_of_the_examples(report, page):
    content = json.loads(Balanced(page).data)
    assert content["features"] == ["qx", "qy", "vx", "vy"]
    assert [view["label"] for view in content["views"]][:2] == ["qx, qy", "qx over time"]
    assert len(content["systems"]) == 6
    for system, example in zip(content["systems"], report.examples, strict=True):
        assert system["times"] == pytest.approx(example.times)
        assert system["condition"] == 12 and len(system["gate"]) == 50
        assert system["edges"][:2] == list(example.edges[0][:2])
        for name in ("observed", "forecast", "lower", "upper", "truth"):
            shown = np.reshape(system[name], getattr(example, name).shape)
            step = 1e-4 * np.ptp(example.bounds(), axis=1)
            assert (np.abs(shown - getattr(example, name)) <= step).all()


def test_values_far_from_zero_keep_their_differences():
    report = planar(("x", "y"), ("position",) * 2)
    shift = 5e6
    moved = [
        replace(
            e,
            **{
                n: getattr(e, n) + shift
                for n in ("observed", "forecast", "lower", "upper", "truth")
            },
        )
        for e in report.examples
    ]
    content = json.loads(Balanced(render(replace(report, examples=moved))).data)
    shown = np.reshape(content["systems"][0]["truth"], moved[0].truth.shape)
    np.testing.assert_allclose(shown, moved[0].truth, rtol=0, atol=1e-3)


def test_sixteen_systems_of_ten_objects_fit_in_three_megabytes():
    page = render(springs_report(each=8))
    assert len(json.loads(Balanced(page).data)["systems"]) == 16
    assert len(page.encode()) < 3e6


def test_names_that_are_markup_stay_names():
    evil = '</script><script>alert("x")</script><b>'
    report = planar((f"x{evil}", "y"), ("position",) * 2)
    example = replace(report.examples[0], split=f"s{evil}", parameters={f"p{evil}": 1.0})
    evaluation = made_evaluation(
        evil,
        {evil: {12: {evil: 0.5}}},
        {"last-value": {evil: {12: {evil: 0.6}}}, evil + "2": {}},
        scores={key: {evil: {12: {evil: 0.5}}} for key in ("crps", "coverage_90")},
        horizons=(12,),
        data_hash=evil,
        energy_drift={evil: {"forecast": 0.1, "truth": 0.1}},
        curves={evil: {evil: {evil: [0.1, 0.2]}}},
        training=Training({evil: evil}, evil, 0),
    )
    page = render(
        replace(
            report,
            title=f"t{evil}",
            summary=[(evil, evil)],
            variables=(evil, evil),
            units=(evil, evil),
            time_units=evil,
            examples=[example],
            evaluation=evaluation,
            epochs=[{"epoch": 1, "train": {evil: 0.1}, "val_mse": 0.1, "lr": 0.1, "seconds": 1.0}],
            parameters={evil: {evil: [1.0, 2.0]}},
        )
    )
    assert 'alert("x")</script>' not in page and "<script>alert" not in page
    parsed = Balanced(page)
    assert page.count("<script") == 3 and parsed.text.count(evil) > 10
    assert json.loads(parsed.data)["systems"][0]["name"].startswith(f"s{evil} system 0")


@pytest.mark.parametrize(
    "features, roles",
    [
        (("x",), ("position",)),
        (("x", "y", "z"), ("position",) * 3),
        (("cases", "deaths"), ("value",) * 2),
    ],
)
def test_any_number_of_positions_and_none_can_be_shown(features, roles):
    page = render(planar(features, roles))
    parsed = Balanced(page)
    shown = [value for name, value in parsed.attributes if name == "data-view"]
    # Three planes of three positions; else every feature over time; for two systems each.
    assert shown.count("0") == 2 and len(shown) == 2 * len(features)
    assert ('id="picture-view"' in page) == (len(features) > 1)


def test_missing_values_leave_gaps_and_no_nan():
    report = planar(("x", "y"), ("position",) * 2)
    example = report.examples[0]
    seen, truth = example.observed.copy(), np.full_like(example.truth, np.nan)
    seen[1, 3:5] = np.nan
    page = render(replace(report, examples=[replace(example, observed=seen, truth=truth)]))
    assert not re.search(r"\bnan\b", page.split("<script>")[0], re.IGNORECASE)
    system = json.loads(Balanced(page).data)["systems"][0]
    assert set(system["truth"]) == {None} and system["observed"].count(None) == 4


def test_large_systems_are_cut_and_the_page_says_so(monkeypatch):
    note = "only the first 4 objects are shown"
    monkeypatch.setattr(example_room, "MAX_OBJECTS", 4)
    monkeypatch.setattr(player, "MAX_OBJECTS", 4)
    page = Balanced(render(planar(("x", "y"), ("position",) * 2, objects=5)))
    assert note in page.text
    assert [system["objects"] for system in json.loads(page.data)["systems"]] == [4, 4]
    assert note not in Balanced(render(planar(("x", "y"), ("position",) * 2, objects=4))).text


def test_an_empty_report_still_says_so():
    report = replace(planar(("x",), ("value",)), examples=[])
    text = Balanced(render(report)).text
    assert "There are no errors to report." in text and "There is no training log." in text


def test_single_features_have_a_table_where_they_are_not_the_variables(report, page):
    assert "Each feature separately" in page
    names = report.features
    same = replace(report.evaluation, variables=names)
    assert "Each feature separately" not in render(
        replace(report, evaluation=same, variables=names)
    )


def test_the_report_replaces_an_old_one_in_one_step(report, tmp_path):
    path = tmp_path / "new folder" / "report.html"
    write_report(report, path)
    write_report(report, path, overwrite=True)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [each.name for each in path.parent.iterdir()] == ["report.html"]


def test_a_place_that_cannot_be_written_is_an_error_with_a_fix(report, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="Choose another output path"):
        write_report(report, tmp_path / "file" / "report.html")
