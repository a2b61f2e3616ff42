"""Default horizons, and horizons that are refused."""

import pytest
from tests.trained_runs import springs, trained

from pgode.evaluation import evaluate
from pgode.evaluation.horizons import default_horizons
from pgode.runtime.errors import InputError


@pytest.mark.parametrize(
    "trained, expected",
    [
        (1, [1]),
        (6, [6]),
        (12, [12]),
        (18, [12, 18]),
        (24, [12, 24]),
        (36, [12, 24, 36]),
        (60, [24, 48, 60]),
        (96, [36, 72, 96]),
    ],
)
def test_default_horizons_are_multiples_of_twelve_up_to_the_trained_one(
    trained: int, expected: list[int]
) -> None:
    assert default_horizons(trained) == expected


@pytest.mark.parametrize(
    "condition, horizons, message",
    [
        (6, [0, 3], "cannot score horizons \\[0, 3\\] on the split test"),
        (6, [13], "Expected horizons from 1 to 12"),
        (18, [1], "at most 18 frames, and the model sees 18 before it forecasts"),
        (20, [1], "Expected at least 21 frames"),
    ],
)
def test_horizons_that_no_system_reaches_are_refused(
    condition: int, horizons: list[int], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        evaluate(
            trained().model, springs(), splits=["test"], condition=condition, horizons=horizons
        )
