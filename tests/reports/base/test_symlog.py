import numpy as np

from pgode.reports.base.symlog import SymlogAxis

VALUES = np.array([-300.0, -2.0, -0.01, 0.0, 0.01, 4.0, 50.0])


def test_values_keep_their_order_and_zero_lies_between_the_signs() -> None:
    axis = SymlogAxis.spanning(VALUES, 200.0, 0.0)
    places = axis.place(VALUES)
    assert (np.diff(places) < 0).all()
    assert places.max() <= 200 and places.min() >= 0


def test_small_values_are_linear_and_large_ones_logarithmic() -> None:
    axis = SymlogAxis(-1000.0, 1000.0, 0.0, 100.0, linear=1.0)
    small = np.diff(axis.place(np.array([0.0, 0.01, 0.02])))
    large = np.diff(axis.place(np.array([1e1, 1e2, 1e3])))
    np.testing.assert_allclose(small[0], small[1], rtol=0.02)
    np.testing.assert_allclose(large[0], large[1], rtol=0.05)


def test_ticks_are_zero_and_powers_of_ten_of_both_signs() -> None:
    labels = [label for _, label in SymlogAxis(-1000.0, 1000.0, 0.0, 100.0, linear=1.0).ticks(8)]
    assert labels == ["−10³", "−10²", "−10", "0", "10", "10²", "10³"]


def test_there_is_an_axis_for_nothing() -> None:
    assert SymlogAxis.spanning(np.zeros(0), 10.0, 0.0).ticks()
