"""Factors, rates and bounds computed from known norms."""

import numpy as np
import pytest

from pgode.evaluation.robustness.perturbation_growth import (
    bound,
    growth,
    growth_rate,
    statistics,
    system_steps,
)
from pgode.evaluation.robustness.result import Statistics


def test_factors_and_rate_of_an_exact_exponential() -> None:
    norm = 0.02 * np.exp(0.05 * np.arange(25))
    norms = np.stack([norm * 0.8, norm * 1.2])[None, None]  # two objects of mean `norm`
    (row,) = growth(norms, [0.01], [12, 24])
    np.testing.assert_allclose(row.norm, norm)
    assert row.rate == pytest.approx(0.05)
    assert row.factor == pytest.approx({12: 2 * np.exp(0.6), 24: 2 * np.exp(1.2)})


def test_frames_without_a_difference_do_not_count_for_the_rate() -> None:
    assert growth_rate(np.zeros(5)) is None
    assert growth_rate(np.array([0, 1.0, np.e])) == pytest.approx(1)
    steps = system_steps(np.zeros((1, 1, 3, 4)), np.array([0, 0, 1]))
    assert bound(steps, np.ones(2)).fastest_step is None
    assert bound(steps, np.ones(2)).share_within is None


def test_what_is_undefined_is_none() -> None:
    (row,) = growth(np.empty((1, 2, 0, 3)), [0.01], [2])
    assert row.norm == (None, None, None) and row.factor == {2: None} and row.rate is None
    assert statistics(np.array([2.0])) == Statistics(2.0, 2.0, None)
    assert statistics(np.array([1.0, 3.0])) == Statistics(3.0, 2.0, 2.0)
    assert statistics(np.array([np.inf])) == Statistics(None, None, None)
