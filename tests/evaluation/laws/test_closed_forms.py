"""Closed forms are recovered from tables of forces, exact or noisy, or refused."""

import numpy as np
import pytest

from pgode.evaluation.laws.choice import TOLERANCE, choose

DISTANCE = np.geomspace(0.1, 8.0, 100)
SOFT = np.sqrt(DISTANCE**2 + 0.3**2)


def yukawa(s: np.ndarray, length: float) -> np.ndarray:
    return (1 / s**2 + 1 / (length * s)) * np.exp(-s / length)


LAWS = {
    "power": (0.5 * DISTANCE**-2, {"a": 0.5, "b": -2}),
    "linear": (-0.2 * (DISTANCE - 1.5), {"a": -0.2, "c": 0.3}),
    "Yukawa": (-0.8 * yukawa(DISTANCE, 1.2), {"a": -0.8, "l": 1.2}),
    "power times exponential": (
        3 * DISTANCE**-1 * np.exp(-DISTANCE / 2),
        {"a": 3, "b": -1, "l": 2},
    ),
    "softened power": (-0.7 * SOFT**-3 * DISTANCE, {"a": -0.7, "b": -2, "e": 0.3}),
    "softened linear": (-0.2 * (SOFT - 1) * DISTANCE / SOFT, {"a": -0.2, "c": 0.2, "e": 0.3}),
    "softened Yukawa": (yukawa(SOFT, 0.8) * DISTANCE / SOFT, {"a": 1, "l": 0.8, "e": 0.3}),
    "two powers": (
        0.3 * DISTANCE**-5 - 0.9 * DISTANCE**-2,
        {"a": 0.3, "c": -0.9, "b": -5, "d": -2},
    ),
}


@pytest.mark.parametrize("name", LAWS)
def test_an_exact_table_gives_its_form_and_its_parameters(name: str) -> None:
    force, truth = LAWS[name]
    fit = choose(DISTANCE, force, np.zeros_like(force))
    assert (fit.form.name, fit.fits) == (name, True)
    assert dict(zip(fit.form.parameters, fit.values, strict=True)) == pytest.approx(truth, rel=1e-3)
    assert fit.deviation < 1e-3
    np.testing.assert_allclose(fit.force(DISTANCE), force, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("name", ["power", "linear", "softened power"])
def test_errors_of_the_parameters_cover_what_noise_does_to_them(name: str) -> None:
    force, truth = LAWS[name]
    ratios = []
    for seed in range(12):
        random = np.random.default_rng(seed)
        # A law errs smoothly: a few numbers along log r, not one for each point.
        knots = random.standard_normal(10)
        along = np.interp(np.arange(100) / 99, np.arange(10) / 9, knots)
        deviation = 0.01 * np.abs(force) + 1e-4
        fit = choose(DISTANCE, force + deviation * along, deviation)
        assert (fit.form.name, fit.fits) == (name, True)
        values = dict(
            zip(fit.form.parameters, zip(fit.values, fit.errors, strict=True), strict=True)
        )
        ratios += [(values[key][0] - truth[key]) / values[key][1] for key in truth]
    assert np.abs(ratios).max() < 3.5
    assert np.mean(np.abs(ratios) < 2) > 0.85
    assert np.mean(np.abs(ratios) > 0.2) > 0.3  # and are not needlessly large


def test_a_nearly_certain_point_does_not_own_the_fit() -> None:
    force = 0.5 * DISTANCE**-2
    deviation = 0.05 * force
    wrong = force.copy()
    wrong[50] *= 1.1
    deviation[50] = 1e-12
    fit = choose(DISTANCE, wrong, deviation)
    assert fit.values == pytest.approx([0.5, -2], rel=0.02)


def test_a_law_without_a_simple_form_is_said_to_have_none() -> None:
    fit = choose(DISTANCE, np.sin(4 * np.log(DISTANCE)), np.zeros_like(DISTANCE))
    assert not fit.fits
    assert fit.deviation > TOLERANCE


def test_more_parameters_are_taken_only_for_a_much_better_fit() -> None:
    slightly_bent = DISTANCE**-2 * (1 + 0.003 * np.sin(np.log(DISTANCE)))
    assert choose(DISTANCE, slightly_bent, 0.002 * slightly_bent).form.name == "power"
