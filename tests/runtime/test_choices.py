"""Names and numbers given by a user: what is accepted, and what an error suggests."""

import numpy as np
import pytest

from pgode.runtime.choices import check_int, closest, did_you_mean, one_of
from pgode.runtime.errors import InputError

NAMES = ("published", "velocity-verlet", "RK4")


@pytest.mark.parametrize(
    "name, expected",
    [("publised", "published"), ("verlet", "velocity-verlet"), ("rk5", "RK4"), ("zzz", None)],
)
def test_the_closest_name_ignores_case_and_is_none_where_nothing_is_similar(name, expected):
    assert closest(name, NAMES) == expected
    assert did_you_mean(name, NAMES) == (f'Did you mean "{expected}"?' if expected else "")


def test_one_of_returns_the_name_or_lists_all_of_them():
    assert one_of("integrator", "RK4", NAMES) == "RK4"
    with pytest.raises(InputError) as refused:
        one_of("integrator", "verlet", NAMES)
    assert str(refused.value) == (
        'there is no integrator "verlet". Expected one of published, velocity-verlet, RK4. '
        'Did you mean "velocity-verlet"?'
    )
    with pytest.raises(InputError, match=r"Take another\.$"):
        one_of("integrator", "zzz", NAMES, fix="Take another.")


@pytest.mark.parametrize("value", [3, np.int32(3), np.array(3)])
def test_whole_numbers_of_any_type_become_int(value):
    number = check_int("frames", value, 2, 5)
    assert number == 3 and type(number) is int


@pytest.mark.parametrize("value", [1, 6, 2.5, "3", True, None, np.array([3, 4])])
def test_other_values_are_refused_with_the_limits(value):
    with pytest.raises(InputError, match=r"^frames is .*\. Expected a whole number, 2 to 5\."):
        check_int("frames", value, 2, 5)
