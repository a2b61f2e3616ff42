"""Radial laws: splines, the numbers of laws, and how they go on beyond the range seen."""

import numpy as np
import pytest
import torch

from pgode.models.pgode.laws.motion.table import Cells
from pgode.models.pgode.laws.radial import (
    SPLINES,
    RadialLaws,
    basis,
    evaluate,
    law_numbers,
    range_of,
    spacing_of,
)

LOW, HIGH = -2.0, 1.0
SPACING = spacing_of(LOW, HIGH)


def test_splines_add_up_to_one_and_their_slopes_to_nothing() -> None:
    values, slopes = basis(np.linspace(LOW - 1, HIGH + 1, 301), LOW, SPACING, SPLINES)
    np.testing.assert_allclose(values.sum(1), 1, rtol=1e-14)
    np.testing.assert_allclose(slopes.sum(1), 0, atol=1e-12)
    assert (values >= 0).all()
    assert ((values > 0).sum(1) <= 4).all()


def test_slopes_of_splines_are_their_derivatives() -> None:
    x = np.linspace(LOW + 0.01, HIGH - 0.01, 57)
    nudge = 1e-6
    high, low = (basis(x + sign * nudge, LOW, SPACING, SPLINES)[0] for sign in (1, -1))
    np.testing.assert_allclose(
        basis(x, LOW, SPACING, SPLINES)[1], (high - low) / (2 * nudge), atol=1e-6
    )


def test_splines_reproduce_a_line() -> None:
    x = np.linspace(LOW, HIGH, 101)
    places = LOW + SPACING * (np.arange(SPLINES) - 1)
    np.testing.assert_allclose(basis(x, LOW, SPACING, SPLINES)[0] @ places, x, atol=1e-12)


@pytest.mark.parametrize("exponent", [-2.0, 1.0, 0.3])
def test_law_goes_on_as_its_power_beyond_the_range(exponent: float) -> None:
    distance = np.geomspace(1e-3, 1e3, 61)
    factor, slope = evaluate(
        torch.tensor([exponent]).double(),
        torch.full((1, SPLINES), 2.5).double(),
        *(LOW, SPACING, distance),
    )
    power = (torch.tensor([exponent]).double().item() - 1) / 2
    exact = 2.5 * distance ** (2 * power)
    np.testing.assert_allclose(factor[0], exact, rtol=1e-12)
    np.testing.assert_allclose(slope[0], power * exact / distance**2, rtol=1e-12, atol=1e-12)


def test_law_that_ends_in_another_power_goes_on_as_that() -> None:
    """The correction r^0.5 changes the power of the law from -2 to -1.5, inside and beyond."""
    places = LOW + SPACING * (np.arange(SPLINES) - 1)
    coefficients = torch.from_numpy(np.exp(0.5 * places))[None]
    exponents = torch.tensor([-2.0]).double()
    beyond = np.exp(HIGH) * np.array([2.0, 4.0])
    factor, _ = evaluate(exponents, coefficients, LOW, SPACING, beyond)
    assert float(factor[0, 1] / factor[0, 0]) == pytest.approx(2**-2.5, rel=1e-3)


def test_law_about_to_change_sign_goes_on_in_proportion_to_the_distance() -> None:
    coefficients = torch.linspace(1, 0, SPLINES - 1).double()
    coefficients = torch.cat([coefficients, -coefficients[-2:-1]])[None]
    beyond = np.exp(HIGH) * np.array([1.5, 3.0])
    factor, _ = evaluate(torch.tensor([-2.0]).double(), coefficients, LOW, SPACING, beyond)
    assert float((factor[0, 1] - factor[0, 0]).abs()) < 1e-12


def test_numbers_of_laws_with_the_third_law_are_symmetric_and_nested() -> None:
    numbers = law_numbers(4, third_law=True)
    np.testing.assert_array_equal(numbers, numbers.T)
    assert sorted(set(numbers.ravel())) == list(range(10))
    for used in range(1, 5):
        assert set(numbers[:used, :used].ravel()) == set(range(used * (used + 1) // 2))


def test_numbers_of_laws_without_it_all_differ() -> None:
    numbers = law_numbers(4, third_law=False)
    assert sorted(numbers.ravel()) == list(range(16))
    for used in range(1, 5):
        assert set(numbers[:used, :used].ravel()) == set(range(used * used))


def test_table_of_a_model_reproduces_its_law() -> None:
    laws = RadialLaws(2, Cells.covering(2.0**-6, 2.0**4))
    laws.keep(np.array([-2.0]), np.full((1, SPLINES), 0.7), 1)
    table = laws.table()
    edges = laws.cells.edges
    np.testing.assert_allclose(table[:, 0, 0], 0.7 * edges[:-1] ** -1.5, rtol=1e-12)
    np.testing.assert_array_equal(table[:, 1], 0)


def test_range_leaves_out_the_very_nearest_distances_only() -> None:
    low, high = range_of(np.append(np.full(999, 2.0), 1e-9))
    assert (low, high) == (pytest.approx(np.log(2.0)), pytest.approx(np.log(2.0)))


def test_table_is_kept_until_a_law_changes() -> None:
    laws = RadialLaws(2, Cells.covering(2.0**-4, 2.0**2))
    laws.coefficients.fill_(1.0)
    with torch.inference_mode():
        first = laws.table()
    assert laws.table() is first and not first.is_inference()
    laws.scale(2.0)
    assert torch.equal(laws.table(), 2 * first)
    laws.load_state_dict({**laws.state_dict(), "exponents": torch.tensor([1.0, 2.0]).double()})
    changed = laws.table()
    assert not torch.equal(changed, 2 * first)
    laws.coefficients = torch.zeros_like(laws.coefficients)
    assert not laws.table().any()
