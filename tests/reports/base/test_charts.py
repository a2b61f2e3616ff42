import re

import numpy as np
from tests.reports.run.test_error_curves import readout

from pgode.reports.base.charts import MAX_POINTS, Chart, Series, draw


def test_long_logs_are_thinned_but_keep_their_last_point():
    x = np.arange(1.0, 2.5 * MAX_POINTS)
    content = readout(draw(Chart("t", x, [Series("s", "own", x)], "x", "y")))
    assert len(content["x"]) <= MAX_POINTS and content["x"][-1] == x[-1]


def test_a_band_that_touches_zero_reaches_the_bottom_of_a_logarithmic_axis():
    x = np.array([1.0, 2.0])
    series = [Series("s", "own", np.array([0.1, 0.2]))]
    panel = draw(Chart("t", x, series, "x", "y", band=("b", np.zeros(2), np.array([0.3, 0.4]))))
    outline = re.search(r'class="band" d="([^"]*)"', panel)[1]
    assert outline.count("228") == 2  # HEIGHT - BOTTOM


def test_a_single_point_is_a_short_line_that_can_be_seen():
    chart = Chart("t", np.array([1.0]), [Series("a", "own", np.array([0.5]))], "x", "y")
    path = re.search(
        r'<path class="line own" d="M([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+)"', draw(chart)
    )
    assert path is not None
    x1, y1, x2, y2 = map(float, path.groups())
    assert x2 - x1 == 36 and y1 == y2
