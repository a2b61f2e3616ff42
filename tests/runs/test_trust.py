"""The sentence that says how long forecasts can be trusted."""

import numpy as np
import pytest
import xarray as xr

from pgode.runs.forecasts import Forecasts


def forecasts(until: list[float], pairs: list[tuple[int, ...]]) -> Forecasts:
    flags = np.zeros((len(until), 5, 1))
    for row, pair in zip(flags, pairs, strict=True):
        row[list(pair)] = 1
    flags[:, 4] = np.nan  # An object that is not there.
    return Forecasts(
        xr.Dataset(
            {
                "times": (("system", "time"), np.ones((len(until), 1)), {"units": "ps"}),
                "system_trusted": (("system", "one"), np.array(until)[:, None]),
                "untrusted_pair": (("system", "object", "one"), flags),
            }
        )
    )


def test_systems_are_listed_from_the_shortest_trust_on() -> None:
    text = forecasts([2.0, 0.5, 0.25], [(), (0, 3), (1, 2)]).trust()
    assert text.startswith("1 of 3 systems can be trusted to the end; an error of the start grows")
    listed = "in ps: system 2 until 0.25 (objects 1 and 2), system 1 until 0.5 (objects 0 and 3)"
    assert text.endswith(listed)


def test_of_many_systems_a_few_are_listed() -> None:
    text = forecasts([1.0] * 8, [(0, 1)] * 8).trust()
    assert text.count("until") == 5
    assert text.endswith(", and 3 more")


@pytest.mark.parametrize("count", [1, 3])
def test_regular_motion_is_trusted(count: int) -> None:
    text = forecasts([1.0] * count, [()] * count).trust()
    assert text == f"{count} of {count} systems can be trusted to the end"


def test_models_that_do_not_know_say_nothing() -> None:
    assert Forecasts(xr.Dataset()).trust() == ""
