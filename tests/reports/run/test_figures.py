import json
import re
from html import unescape

import numpy as np
from tests.reports.fabricate import springs_report, training_log

from pgode.reports.base.charts import MOST_POINTS, Chart, Series, draw
from pgode.reports.run.figures import error_figures, error_legend, training_figures


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
        content["rows"][0]["y"], evaluation["curve"]["pgode"]["ood"]["q"], rtol=1e-3
    )
    assert "constant velocity" in error_legend(evaluation)


def test_panels_of_one_variable_share_their_axis():
    panels = error_figures(springs_report(each=2).evaluation, ["q"])
    ticks = [re.findall(r'class="tick end">([^<]*)<', panel) for panel in panels]
    assert ticks[0] == ticks[1] and len(ticks[0]) >= 3


def test_curves_beyond_the_trained_horizon_are_marked():
    evaluation = {
        "model": "m",
        "horizons": [2],
        "curve": {"m": {"test": {"q": [0.1, 0.2, 0.3, 0.4]}}, "last-value": {"test": {"q": [1.0]}}},
    }
    (panel,) = error_figures(evaluation, ["q", "unknown"])
    assert "trained up to 2" in panel
    # A naive curve of another length cannot be compared frame by frame.
    assert [row["name"] for row in readout(panel)["rows"]] == ["m"]


def test_no_curves_no_panels():
    assert error_figures({}, ["q"]) == [] and training_figures([]) == []


def test_training_terms_of_either_sign_get_a_linear_panel_of_their_own():
    panels = training_figures(training_log(12, np.random.default_rng(0)))
    names = [[row["name"] for row in readout(panel)["rows"]] for panel in panels]
    assert names == [
        ["validation error"],
        ["total", "mse", "kl"],
        ["mutual_information"],
        ["learning rate"],
    ]
    assert "best: " in panels[0]


def test_epochs_with_failed_or_missing_values_are_drawn_as_gaps():
    log = training_log(4, np.random.default_rng(0))
    log[1]["val_mse"] = float("nan")
    log[2] = {"epoch": 3}
    panels = training_figures(log)
    assert readout(panels[0])["rows"][0]["y"][1:3] == [None, None]
    assert "nan" not in panels[0]


def test_one_epoch_is_drawn():
    assert len(training_figures(training_log(1, np.random.default_rng(0)))) == 4


def test_long_logs_are_thinned_but_keep_their_last_point():
    x = np.arange(1.0, 2.5 * MOST_POINTS)
    content = readout(draw(Chart("t", x, [Series("s", "own", x)], "x", "y")))
    assert len(content["x"]) <= MOST_POINTS and content["x"][-1] == x[-1]


def test_a_band_that_touches_zero_reaches_the_bottom_of_a_logarithmic_axis():
    x = np.array([1.0, 2.0])
    series = [Series("s", "own", np.array([0.1, 0.2]))]
    panel = draw(Chart("t", x, series, "x", "y", band=("b", np.zeros(2), np.array([0.3, 0.4]))))
    outline = re.search(r'class="band" d="([^"]*)"', panel)[1]
    assert outline.count("228") == 2  # HEIGHT - BOTTOM
