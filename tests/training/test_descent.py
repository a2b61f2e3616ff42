"""Learning rates by hand."""

import pytest

from pgode.training.descent import learning_rate


def test_a_constant_rate_stays() -> None:
    assert {learning_rate("constant", 0.3, step, 50) for step in range(50)} == {0.3}


@pytest.mark.parametrize(
    "step, share",
    [(0, 1.0), (25, 0.25 * (2 + 2**0.5) + 1e-4 * (2 - 2**0.5) / 4), (50, 0.50005), (100, 1e-4)],
)
def test_a_cosine_falls_from_its_peak_to_a_ten_thousandth(step: int, share: float) -> None:
    assert learning_rate("cosine", 2.0, step, 100) == pytest.approx(2 * share, rel=1e-12)


@pytest.mark.parametrize(
    "step, share", [(0, 0.04), (5, 0.52), (10, 1.0), (55, 0.50005), (100, 1e-4)]
)
def test_one_cycle_rises_for_a_tenth_of_the_steps_and_then_falls(step: int, share: float) -> None:
    assert learning_rate("one-cycle", 2.0, step, 100) == pytest.approx(2 * share, rel=1e-12)


def test_one_cycle_has_one_top() -> None:
    rates = [learning_rate("one-cycle", 1.0, step, 1000) for step in range(1000)]
    top = rates.index(max(rates))
    assert top == 100
    assert rates[: top + 1] == sorted(rates[: top + 1])
    assert rates[top:] == sorted(rates[top:], reverse=True)
    assert min(rates) > 0


@pytest.mark.parametrize("schedule", ["constant", "cosine", "one-cycle"])
def test_a_single_step_has_a_rate(schedule: str) -> None:
    assert 0 < learning_rate(schedule, 1.0, 0, 1) <= 1
