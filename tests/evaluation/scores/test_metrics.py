"""The table of metrics: values by hand, and how one more is added."""

import numpy as np
import pytest
from tests.evaluation.made import normaliser, small_errors
from tests.trained_runs import HORIZON, springs, trained

from pgode.evaluation.predictions import Predictions
from pgode.evaluation.scores import METRICS, Metric
from pgode.evaluation.scores.metrics import columns, known_mean


def test_columns_are_the_variables_and_then_the_features() -> None:
    assert columns(normaliser()) == {"q": [0, 1], "m": [2], "qx": [0], "qy": [1]}


def test_errors_are_means_over_objects_and_the_first_frames() -> None:
    rows = METRICS["mse"].rows(small_errors(), normaliser(), [1, 2])
    assert list(rows) == [1, 2]
    assert rows[1] == pytest.approx(
        {"q": (1 + 4 + 0 + 1) / 4, "m": 4 / 2, "qx": 1 / 2, "qy": 5 / 2}
    )
    assert rows[2] == pytest.approx(
        {
            "q": (1 + 4 + 9 + 0 + 0 + 1 + 4 + 16) / 8,
            "m": (0 + 1 + 4 + 9) / 4,
            "qx": (1 + 9 + 0 + 4) / 4,
            "qy": (4 + 0 + 1 + 16) / 4,
        }
    )


def test_values_that_are_not_known_count_for_nothing() -> None:
    known = np.ones((2, 2, 3), bool)
    known[1, 1, 1] = known[0, 0, 0] = False
    known[:, 0, 2] = False
    rows = METRICS["mse"].rows(small_errors(known), normaliser(), [1, 2])
    assert rows[1]["q"] == pytest.approx((4 + 0 + 1) / 3)
    assert rows[2]["q"] == pytest.approx((4 + 9 + 0 + 0 + 1 + 4) / 6)
    assert rows[1]["m"] is None
    assert rows[2]["m"] == pytest.approx((1 + 9) / 2)


def test_the_mean_of_nothing_is_none() -> None:
    assert known_mean(np.array([np.nan, 2.0, 4.0])) == 3.0
    assert known_mean(np.array([np.nan])) is None
    assert known_mean(np.array([])) is None


def test_metrics_of_samples_score_them_by_column_and_only_where_the_truth_is_known() -> None:
    known = np.ones((2, 2, 3), bool)
    known[:, :, 2] = False
    forecast = small_errors(known)
    # Nine samples in steps of 1 around the truth: the inner half reaches 2.25, nine tenths 4.05.
    spread = np.arange(-4.0, 5.0)[:, None, None, None]
    off = forecast.with_draws(forecast.truth + spread + np.array([3.0, 5.0, 0.0]))
    rows = {name: METRICS[name].rows(off, normaliser(), [1]) for name in METRICS}
    assert rows["coverage_50"] == {1: {"q": 0.0, "m": None, "qx": 0.0, "qy": 0.0}}
    assert rows["coverage_90"] == {1: {"q": 0.5, "m": None, "qx": 1.0, "qy": 0.0}}
    assert list(rows["crps"][1]) == ["q", "m", "qx", "qy"] and rows["crps"][1]["m"] is None


def test_a_metric_is_one_line_in_the_table_and_reaches_every_evaluation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def absolute_errors(predictions: Predictions) -> np.ndarray:
        return np.sqrt(predictions.squared_errors())

    monkeypatch.setitem(METRICS, "mine", Metric(absolute_errors))
    monkeypatch.setitem(
        METRICS, "root", Metric(Predictions.squared_errors, lambda x: float(np.nanmean(x)) ** 0.5)
    )
    result = trained().evaluate(springs(), splits=["test"], samples=0)
    for scores in (result.scores, *result.naive.values()):
        mse, mae, rmse = (scores[name].row("test", HORIZON) for name in ("mse", "mine", "root"))
        assert scores["mae"].row("test", HORIZON) == pytest.approx(mae)
        assert scores["rmse"].row("test", HORIZON) == pytest.approx(rmse)
        assert mae.keys() == rmse.keys() == mse.keys()
        for column in mse:
            assert 0 < mae[column] <= rmse[column] == pytest.approx(mse[column] ** 0.5)
