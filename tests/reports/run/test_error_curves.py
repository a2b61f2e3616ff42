import json
import re
from html import unescape

import numpy as np
from tests.reports.fabricate import made_evaluation, springs_report

from pgode.reports.run.error_curves import error_figures, error_legend


def readout(panel: str) -> dict:
    return json.loads(unescape(re.search(r'data-chart="([^"]*)"', panel)[1]))


def test_error_panels_hold_model_naive_models_and_band_for_each_variable_and_split():
    evaluation = springs_report(each=2).evaluation
    panels = error_figures(evaluation, ["q", "v"])
    titles = [re.search(r'class="title start">([^<]*)<', panel)[1] for panel in panels]
    assert titles == [
        "q, in distribution",
        "q, out of distribution",
        "v, in distribution",
        "v, out of distribution",
    ]
    content = readout(panels[1])
    assert [row["name"] for row in content["rows"]] == [
        "pgode",
        "last value",
        "constant velocity",
        "10 to 90 % of systems",
    ]
    assert content["x"] == list(range(1, 37))
    np.testing.assert_allclose(
        content["rows"][0]["y"], evaluation.curves["pgode"]["ood"]["q"], rtol=1e-3
    )
    assert "constant velocity" in error_legend(evaluation)


def test_panels_of_one_variable_share_their_axis():
    panels = error_figures(springs_report(each=2).evaluation, ["q"])
    ticks = [re.findall(r'class="tick end">([^<]*)<', panel) for panel in panels]
    assert ticks[0] == ticks[1] and len(ticks[0]) >= 3


def test_no_curves_no_panels():
    assert error_figures(made_evaluation(), ["q"]) == []
