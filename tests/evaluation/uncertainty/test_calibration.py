"""Calibrated samples: their intervals hold what they promise, on systems that were not seen."""

import json

import numpy as np
import pytest
from tests.evaluation.made import normaliser, predictions

from pgode.evaluation import Calibration, Predictions
from pgode.evaluation.scores.probabilistic import covered, interval
from pgode.evaluation.uncertainty.calibration import LEVELS, _interpolated, _quantile

FRAMES = 4
GROWTH = np.array([0.1, 0.4, 1.0, 2.0])[:, None]


def residuals(objects: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Errors that grow with time, are skewed for m, and of very different size by object."""
    random = np.random.default_rng(seed)
    size = np.exp(random.normal(size=(objects, 1, 1)))
    noise = random.normal(size=(objects, FRAMES, 3))
    noise[..., 2] = random.exponential(size=(objects, FRAMES)) - 0.3
    return size, size * GROWTH * noise


def made(objects: int, seed: int, *, telling: bool):
    """A forecast of zero; its draws know the size of each object's error, or nothing at all."""
    size, truth = residuals(objects, seed)
    draws = np.random.default_rng(seed + 100).normal(size=(8, objects, FRAMES, 3))
    draws = 0.01 * draws * (size * GROWTH if telling else 1.0)
    return predictions(np.zeros_like(truth), truth, draws=draws)


@pytest.mark.parametrize("telling", [True, False])
@pytest.mark.parametrize("count, tolerance", [(100, 0.02), (20, 0.035)])
def test_intervals_hold_their_share_of_new_systems(
    count: int, tolerance: float, telling: bool
) -> None:
    """The ends of a 90 % interval of 20 samples lie among the outermost two: it is a bit wide."""
    calibration = Calibration.fit(made(3000, 1, telling=telling), normaliser())
    new = made(3000, 2, telling=telling)
    drawn = calibration.samples(new.mean, new.draws, new.times, count, seed=0)
    for level in (50, 90):
        inside = covered(interval(drawn, level), new.truth)
        for index in normaliser().variable_features.values():
            shares = inside[:, :, index].mean(axis=(0, 2))
            assert shares.mean() == pytest.approx(level / 100, abs=tolerance)
            np.testing.assert_allclose(shares, level / 100, atol=0.04)  # at each frame


def test_where_the_model_tells_hard_objects_from_easy_ones_intervals_follow() -> None:
    calibration = Calibration.fit(made(4000, 1, telling=True), normaliser())
    new = made(2000, 2, telling=True)
    drawn = calibration.samples(new.mean, new.draws, new.times, 20, seed=0)
    spread, size = drawn.std(0)[:, -1, 0], residuals(2000, 2)[0].ravel()
    assert np.corrcoef(np.log(spread), np.log(size))[0, 1] > 0.8


def test_samples_are_smooth_paths_around_the_mean_and_fixed_by_the_seed() -> None:
    calibration = Calibration.fit(made(3000, 1, telling=False), normaliser())
    mean = np.random.default_rng(5).normal(size=(2, FRAMES, 3))
    times = np.broadcast_to(np.arange(1.0, FRAMES + 1), (2, FRAMES))
    nothing = np.empty((0, *mean.shape))
    drawn = calibration.samples(mean, nothing, times, 9, seed=3)
    again = calibration.samples(mean, nothing, times, 9, seed=3)
    other = calibration.samples(mean, nothing, times, 9, seed=4)
    np.testing.assert_array_equal(drawn, again)
    assert not np.array_equal(drawn, other)
    ranks = (drawn - mean).argsort(0)  # a path keeps its place among the others
    assert (ranks == ranks[:, :, :1]).all()
    assert calibration.samples(mean, nothing, times, 0, seed=3).shape == (0, *mean.shape)


def test_a_few_samples_already_span_the_distribution() -> None:
    """One sample lies in each fifth of the ranks."""
    calibration = Calibration(np.array([1.0]), LEVELS[None, None, :], np.ones((1, 1)))
    drawn = calibration.samples(
        np.zeros((50, 1, 1)), np.empty((0, 50, 1, 1)), np.ones((50, 1)), 5, seed=0
    )
    strata = np.floor(np.sort(drawn, axis=0) * 5)
    assert (strata == np.arange(5)[:, None, None, None]).all()


def test_quantiles_are_interpolated_between_levels_and_kept_at_their_ends() -> None:
    table = np.stack([LEVELS * 10, LEVELS + 1])[:, None, :]  # (object, frame, level)
    ranks = np.array([[0.3, 0.3], [0.3125, 0.3125], [0.0, 0.0], [1.0, 1.0]])
    found = _quantile(table, ranks)[:, :, 0]
    expected = [[3.0, 1.3], [3.125, 1.3125], [0.05, 1.005], [9.95, 1.995]]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_frames_are_interpolated_and_the_last_is_kept() -> None:
    frames, table = np.array([1.0, 2.0, 4.0]), np.array([[0.0, 1.0], [2.0, 1.0], [6.0, 3.0]])
    times = np.array([[0.5, 1.5, 3.0, 9.0]])
    np.testing.assert_allclose(
        _interpolated(times, frames, table)[0], [[0, 1], [1, 1], [4, 2], [6, 3]]
    )
    np.testing.assert_allclose(_interpolated(times, frames[:1], table[:1])[0], [[0, 1]] * 4)


def test_json_gives_back_the_same_calibration() -> None:
    fitted = Calibration.fit(made(500, 1, telling=True), normaliser())
    text = json.dumps(fitted.to_json(), allow_nan=False)
    again = Calibration.from_json(json.loads(text))
    np.testing.assert_array_equal(again.frames, fitted.frames)
    np.testing.assert_array_equal(again.spread, fitted.spread)
    np.testing.assert_allclose(again.quantiles, fitted.quantiles, atol=5e-7)
    assert Calibration.from_json(again.to_json()).to_json() == fitted.to_json()


def test_values_that_are_not_known_do_not_count() -> None:
    good = made(400, 1, telling=False)
    mean, truth = good.mean.repeat(2, 0), good.truth.repeat(2, 0)
    known = np.tile([True, False], 400)[:, None, None] & np.ones(mean.shape, bool)
    truth[1::2] = 1e9
    both = predictions(mean, truth, known=known, draws=good.draws.repeat(2, 1))
    ours, theirs = Calibration.fit(both, normaliser()), Calibration.fit(good, normaliser())
    np.testing.assert_allclose(ours.quantiles, theirs.quantiles)


def test_frames_that_no_system_reaches_are_left_to_the_last_that_one_does() -> None:
    """Systems end early; there the clock stands still and nothing is known."""
    whole = made(1000, 1, telling=False)
    known = np.ones(whole.mean.shape, bool)
    known[:, 2:] = False
    times = np.minimum(whole.times, 2.0)
    short = predictions(whole.mean, whole.truth, known=known, times=times, draws=whole.draws)
    fitted = Calibration.fit(short, normaliser())
    np.testing.assert_array_equal(fitted.frames, [1.0, 2.0])
    drawn = fitted.samples(whole.mean, whole.draws, whole.times, 20, seed=0)
    assert np.isfinite(drawn).all()
    np.testing.assert_allclose(drawn[:, :, 3].std(), drawn[:, :, 1].std(), rtol=0.1)


def test_a_frame_that_few_systems_reach_has_their_time() -> None:
    whole = made(10, 1, telling=False)
    known = np.ones(whole.mean.shape, bool)
    known[:8, 1:] = False
    times = np.where(known[..., 0], whole.times, 1.0)
    uneven = predictions(whole.mean, whole.truth, known=known, times=times, draws=whole.draws)
    np.testing.assert_array_equal(Calibration.fit(uneven, normaliser()).frames, [1, 2, 3, 4])


def test_a_model_without_spread_is_calibrated_by_its_residuals_alone() -> None:
    random = np.random.default_rng(7)
    truth = random.normal(0.5, 0.2, size=(20_000, 1, 1))
    draws = np.zeros((8, *truth.shape))
    single = normaliser(("m",))
    fitted = Calibration.fit(predictions(np.zeros_like(truth), truth, draws=draws), single)
    drawn = fitted.samples(np.zeros((1, 1, 1)), draws[:, :1], np.ones((1, 1)), 2000, seed=0)
    assert drawn.mean() == pytest.approx(0.5, abs=0.01)
    assert drawn.std() == pytest.approx(0.2, abs=0.01)


def test_residuals_as_small_as_rounding_survive_the_file() -> None:
    """A model that is exact but for rounding has draws that do not differ at all."""
    truth = 6e-8 * np.random.default_rng(0).normal(size=(500, FRAMES, 3))
    draws = np.zeros((8, *truth.shape))
    made = predictions(np.zeros_like(truth), truth, draws=draws)
    stored = Calibration.from_json(
        json.loads(json.dumps(Calibration.fit(made, normaliser()).to_json()))
    )
    again = stored.resampled(made, 100, 0)
    low, high = np.quantile(again.draws, [0.05, 0.95], axis=0)
    assert ((truth >= low) & (truth <= high)).mean() == pytest.approx(0.9, abs=0.03)


@pytest.mark.parametrize("level", [50, 90])
def test_exact_intervals_hold_their_share_of_errors_with_heavy_tails(level: int) -> None:
    def made(seed: int) -> Predictions:
        truth = np.random.default_rng(seed).standard_cauchy(size=(3000, FRAMES, 3))
        return predictions(np.zeros_like(truth), truth, draws=np.zeros((8, *truth.shape)))

    new = Calibration.fit(made(0), normaliser()).resampled(made(1), 20, 0)
    inside = covered(new.intervals[level], new.truth).mean()
    assert inside == pytest.approx(level / 100, abs=0.01)
    if level == 90:  # The interval of the samples themselves is too wide here.
        assert covered(interval(new.draws, level), new.truth).mean() > inside + 0.01
