"""Dates of frames, and inputs that a date alone decides, such as the day of the week."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from jaxtyping import Float, Int, Shaped

from pgode.runtime.errors import InputError

SECONDS: Mapping[str, float] = MappingProxyType(
    {
        "milliseconds": 1e-3,
        "seconds": 1.0,
        "minutes": 60.0,
        "hours": 3600.0,
        "days": 86400.0,
        "weeks": 604800.0,
    }
)
"""Units of time that have dates, in seconds."""

Dates = Shaped[np.ndarray, "..."]
"""numpy.datetime64, to the millisecond."""


def dates(times: Float[np.ndarray, "..."], origin: str, units: str) -> Dates:
    """The dates of times since an origin; NaT where a time is NaN."""
    start = np.datetime64(origin, "ms")
    known = np.isfinite(times)
    ticks = np.round(np.where(known, times, 0.0) * SECONDS[units] * 1000).astype(np.int64)
    return np.where(known, start + ticks.astype("timedelta64[ms]"), np.datetime64("NaT"))


def times_since(when: Dates, origin: str, units: str) -> Float[np.ndarray, "..."]:
    """Times since an origin, in units; the inverse of `dates`."""
    elapsed = (when.astype("datetime64[ms]") - np.datetime64(origin, "ms")).astype(np.float64)
    return np.where(np.isnat(when), np.nan, elapsed / 1000 / SECONDS[units])


def check_origin(origin: str, units: str, source: str) -> str:
    """The date of time 0 in one form, checked; empty if times have no dates."""
    if not origin:
        return ""
    try:
        start = np.datetime64(origin, "ms")
        valid = not np.isnat(start)
    except ValueError:
        valid = False
    if not valid or units not in SECONDS:
        raise InputError(
            f'times in {source} count from "{origin}" in "{units}". Expected a date such as '
            f"2020-04-12 or 2020-04-12T06:00, and one of the units {', '.join(SECONDS)}. Correct "
            f"them, or leave the origin out."
        )
    return str(start)


def _weekday(when: Dates) -> Int[np.ndarray, "..."]:
    days = when.astype("datetime64[D]").astype(np.int64)
    return np.asarray((days + 3) % 7)  # 1970-01-01 was a Thursday.


def _month(when: Dates) -> Int[np.ndarray, "..."]:
    return np.asarray(when.astype("datetime64[M]").astype(np.int64) % 12)


def _hour(when: Dates) -> Int[np.ndarray, "..."]:
    return np.asarray(when.astype("datetime64[h]").astype(np.int64) % 24)


WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
HOURS = tuple(f"{hour:02d}" for hour in range(24))

CALENDAR: Mapping[str, tuple[Sequence[str], Callable[[Dates], np.ndarray]]] = MappingProxyType(
    {
        "weekday": (WEEKDAYS, _weekday),
        "month": (MONTHS, _month),
        "hour": (HOURS, _hour),
    }
)
"""Categories that follow from a date: their names, and the number of each date's."""


def calendar_names(which: str) -> tuple[str, ...]:
    """Names of the inputs that stand for a category, such as weekday=Mon to weekday=Sun."""
    return tuple(f"{which}={name}" for name in CALENDAR[which][0])


def calendar_input(name: str, when: Dates) -> Float[np.ndarray, "..."] | None:
    """1 where a date is of the category that an input such as weekday=Mon names, else 0.

    None if the input does not follow from a date.
    """
    which, _, category = name.partition("=")
    if which not in CALENDAR or category not in CALENDAR[which][0]:
        return None
    labels, number = CALENDAR[which]
    return np.asarray(number(when) == labels.index(category), dtype=np.float64)
