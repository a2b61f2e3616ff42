"""CRPS against its closed form and its definition; intervals by hand."""

import math

import numpy as np
import pytest

from pgode.evaluation.scores.probabilistic import covered, crps, interval


def gaussian_crps(mean: float, deviation: float, truth: float) -> float:
    """Gneiting and Raftery (2007), equation 21."""
    z = (truth - mean) / deviation
    density = math.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    below = (1 + math.erf(z / math.sqrt(2))) / 2
    return deviation * (z * (2 * below - 1) + 2 * density - 1 / math.sqrt(math.pi))


@pytest.mark.parametrize("truth", [-3.0, 0.2, 0.5, 2.0])
def test_many_samples_have_the_crps_of_their_distribution(truth: float) -> None:
    drawn = np.random.default_rng(0).normal(0.5, 1.5, size=(200_000, 1))
    found = crps(drawn, np.array([truth]))
    assert found[0] == pytest.approx(gaussian_crps(0.5, 1.5, truth), abs=0.01)


def test_a_few_samples_have_it_on_average() -> None:
    """Fair: the mean over many small ensembles is that of the distribution, with no bias."""
    random = np.random.default_rng(1)
    truth = np.full(100_000, 0.3)
    for count in (2, 5):
        found = crps(random.normal(size=(count, len(truth))), truth).mean()
        assert found == pytest.approx(gaussian_crps(0, 1, 0.3), abs=0.005)


@pytest.mark.parametrize("count", [2, 3, 8])
def test_crps_is_its_definition_over_pairs(count: int) -> None:
    random = np.random.default_rng(2)
    drawn, truth = random.normal(size=(count, 4, 3, 2)), random.normal(size=(4, 3, 2))
    pairs = np.abs(drawn[:, None] - drawn[None]).sum((0, 1)) / (count * (count - 1))
    expected = np.abs(drawn - truth).mean(0) - pairs / 2
    np.testing.assert_allclose(crps(drawn, truth), expected, rtol=1e-12, atol=1e-14)


def test_one_sample_has_its_distance() -> None:
    np.testing.assert_array_equal(crps(np.array([[1.0, 5.0]]), np.array([3.0, 4.0])), [2.0, 1.0])


def test_the_right_distribution_scores_best() -> None:
    random = np.random.default_rng(3)
    truth = random.normal(size=20_000)
    noise = random.normal(size=(20, len(truth)))
    scores = {wide: crps(wide * noise, truth).mean() for wide in (0.0, 0.5, 1.0, 2.0)}
    assert min(scores, key=lambda wide: scores[wide]) == 1.0


def test_an_interval_holds_its_share_of_the_samples() -> None:
    ranks = (np.arange(20) + 0.5) / 20
    low, high = interval(ranks, 50)
    assert (low, high) == pytest.approx((0.25, 0.75))
    low, high = interval(ranks, 90)
    assert (low, high) == pytest.approx((0.05, 0.95))


@pytest.mark.parametrize("level", [50, 90])
def test_intervals_of_stratified_samples_cover_their_share(level: int) -> None:
    random = np.random.default_rng(4)
    order = random.random((20, 50_000)).argsort(0)
    drawn = (order + random.random(order.shape)) / 20
    inside = covered(interval(drawn, level), random.random(50_000)).mean()
    assert inside == pytest.approx(level / 100, abs=0.01)


def test_ends_belong_to_the_interval() -> None:
    same = np.ones((5, 3))
    np.testing.assert_array_equal(
        covered(interval(same, 90), np.array([1.0, 1.1, 0.9])), [True, False, False]
    )
