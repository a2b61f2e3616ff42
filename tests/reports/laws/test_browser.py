"""The section of force laws in headless Chromium."""

import pytest
from tests.reports.laws.test_section import report_with_laws

from pgode.reports import write_report

pytestmark = pytest.mark.browser


def test_the_laws_are_drawn_within_their_panels(browser, tmp_path):
    write_report(report_with_laws(), tmp_path / "laws.html")
    browser.open(tmp_path / "laws.html")
    assert browser.run("document.querySelector('section').id") == "laws"
    places = browser.run(
        """[...document.querySelectorAll("#laws svg.law")].map((each) => {
        const panel = each.getBoundingClientRect();
        const inner = [".own", ".form", ".range"].map((name) =>
          each.querySelector(name).getBoundingClientRect());
        return [panel.width, Math.min(...inner.map((b) => b.width)),
          Math.max(...inner.map((b) => b.right)) - panel.right,
          Math.min(...inner.map((b) => b.top)) - panel.top]; })"""
    )
    assert len(places) == 2
    for width, drawn, beyond, below in places:
        assert width > 300 and drawn > 100 and beyond < 3 and below > 0
    dashes = 'getComputedStyle(document.querySelector("#laws .line.form")).strokeDasharray'
    assert browser.run(dashes) != "none"
    width = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    browser.resize(400, 800)
    assert browser.run(width) == 0
