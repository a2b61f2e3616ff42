"""The page of a search in headless Chromium."""

import pytest
from tests.reports.chromium import Chromium
from tests.tuning.fabricated import fabricated

from pgode.tuning.output.page import render_tuning

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_trials_can_be_read_and_nothing_leaves_its_panel(tmp_path, scheme):
    tuning = fabricated(tmp_path)
    page = tmp_path / "report.html"
    page.write_text(render_tuning(tuning))
    with Chromium(scheme=scheme) as browser:
        browser.open(page)
        x, y = browser.run(
            """(() => { const dot = document.querySelector("#search circle.best");
            dot.scrollIntoView({ block: "center", behavior: "instant" });
            const box = dot.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2]; })()"""
        )
        browser.move(x, y)
        browser.wait("!document.getElementById('tip').hidden")
        said = browser.run("document.getElementById('tip').textContent")
        assert said.startswith(f"trial {tuning.best.plan.index}: ") and "width: " in said
        beyond = browser.run(
            """Math.max(...[...document.querySelectorAll("svg.trials")].flatMap((svg) => {
            const panel = svg.getBoundingClientRect();
            return [...svg.querySelectorAll("circle, path, rect")].map((each) => {
              const box = each.getBoundingClientRect();
              return Math.max(box.right - panel.right, panel.left - box.left,
                box.bottom - panel.bottom, panel.top - box.top); }); }))"""
        )
        assert beyond < 3
        # Lines and points have the colours of the page, not black.
        fill = "getComputedStyle(document.querySelector('#search circle.best')).fill"
        paper = "getComputedStyle(document.body).backgroundColor"
        assert browser.run(fill) not in ("rgb(0, 0, 0)", browser.run(paper))
        browser.resize(400, 800)
        width = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert browser.run(width) == 0
        assert browser.problems == [] and len(browser.requests) == 1
