"""The windows that are scored: those of the published line, and whole weeks beside them.

Three of the published windows called a week have six days, and the first of three weeks has
eleven. They are kept for the comparison with published numbers. Whole weeks, from Sunday to
Saturday after four Saturdays, are what a forecast would be asked for.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from types import MappingProxyType

from pgode.data.files.covid.days import day_number

HORIZONS = (7, 14, 21)
"""Days, as the tables name them."""
PUBLISHED_CONDITIONS = MappingProxyType({7: 14, 14: 21, 21: 42})
"""Days of the condition in the published line, by horizon."""


@dataclass(frozen=True)
class Window:
    """Days whose deaths are forecast together: the first, and how many."""

    first: int
    """In days since the first report; the day before is the last that is observed."""
    days: int


def _window(first: tuple[int, int], last: tuple[int, int]) -> Window:
    begin, end = date(2020, *first), date(2020, *last)
    return Window(day_number(begin), (end - begin).days + 1)


def _weeks(weeks: int) -> tuple[Window, ...]:
    """After each Saturday whose weeks end in 2020."""
    saturdays = [date(2020, 11, 28) + timedelta(weeks=n) for n in range(4)]
    ends = [(day, day + timedelta(weeks=weeks)) for day in saturdays]
    return tuple(
        Window(day_number(day) + 1, 7 * weeks) for day, end in ends if end <= date(2020, 12, 31)
    )


WINDOWS = MappingProxyType(
    {
        "test": MappingProxyType(
            {
                7: (
                    _window((11, 29), (12, 5)),
                    _window((12, 7), (12, 12)),
                    _window((12, 14), (12, 19)),
                    _window((12, 21), (12, 26)),
                ),
                14: (
                    _window((12, 2), (12, 15)),
                    _window((12, 10), (12, 22)),
                    _window((12, 17), (12, 29)),
                ),
                21: (_window((11, 29), (12, 9)), _window((12, 6), (12, 26))),
            }
        ),
        "weeks": MappingProxyType({7 * n: _weeks(n) for n in (1, 2, 3)}),
    }
)
"""By protocol ("test": the published line's) and horizon."""
