"""The window that suits, and data that are too short or too few for it."""

import numpy as np
from tests.data.checkup.made import arrays, built, series, subject

from pgode.data.checkup.checks.window import suitable_window, too_few, too_short


def short(frames: int):
    given = arrays()
    return built(states=given["states"][:, :, :frames], times=given["times"][:, :frames])


def test_the_window_is_that_of_training_as_far_as_the_data_reach():
    assert suitable_window(built()) == (12, 36)
    assert suitable_window(short(40)) == (12, 28)
    assert suitable_window(short(10)) == (5, 5)
    assert suitable_window(short(1)) == (1, 1)


def test_the_window_fits_into_every_split_and_ignores_a_few_short_systems():
    times = arrays()["times"]
    times[34:, 20:] = np.nan  # the test split
    assert suitable_window(built(times=times)) == (10, 10)
    times = arrays()["times"]
    times[:2, 5:] = np.nan
    assert suitable_window(built(times=times)) == (12, 36)


def test_suitable_windows_give_no_finding():
    for frames in (60, 40, 10):
        assert too_short(subject(short(frames))) == []
    assert too_few(subject()) == []


def test_a_horizon_beyond_the_data_is_a_problem_with_the_longest_possible():
    (found,) = too_short(subject(condition=12, horizon=60))
    assert found.severity == "problem" and found.fix.endswith("--horizon 48.")


def test_a_system_that_is_too_short_is_named():
    times = arrays()["times"]
    times[8, 9:] = np.nan
    (found,) = too_short(subject(built(times=times), condition=12, horizon=36))
    assert found.place.system == "walk 8" and "the shortest has 9" in found.text
    assert "window.condition=8" in found.fix


def test_one_frame_is_too_short():
    (found,) = too_short(subject(short(1)))
    assert found.severity == "problem"


def test_one_short_series_is_hardly_enough():
    level = np.random.default_rng(0).random((3, 80))
    (found,) = too_few(series(level))
    assert found.severity == "warning"
    assert "1 training system with 33 windows of 48 frames, of which 1 do not overlap" in found.text
    (found,) = too_few(series(level[:, :52]))
    assert found.severity == "problem"
