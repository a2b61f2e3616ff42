"""Numbers as text: few digits, in the same form everywhere in a report."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from jaxtyping import Float

MISSING = "–"
"""Shown in place of a number that is not finite."""

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def finite(value: Any) -> float:
    """`value` as a float; NaN for None and everything else that is not a number."""
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return float(value) if number else math.nan


def significant(value: float, digits: int = 3) -> str:
    """`value` with `digits` significant digits, in plain notation where that is short."""
    if not math.isfinite(value):
        return MISSING
    if value == 0:
        return "0"
    # Rounded first: 9.996 has two digits before the point once it is 10.0.
    exponent = math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}"))))
    if not -4 <= exponent <= 5:
        return f"{value:.{digits - 1}e}"
    return f"{value:.{max(digits - 1 - exponent, 0)}f}"


def power_of_ten(exponent: int) -> str:
    """For instance 10⁻²; 1 and 10 in plain digits."""
    return {0: "1", 1: "10"}.get(exponent, "10" + str(exponent).translate(_SUPERSCRIPTS))


def suitable_exponent(values: Iterable[float]) -> int:
    """The power of ten by which to divide a table so that most of its entries lie near 1."""
    sizes = [math.log10(abs(value)) for value in values if math.isfinite(value) and value != 0]
    if not sizes:
        return 0
    exponent = math.floor(float(np.median(sizes)))
    # Numbers from 0.1 to 1000 are read most easily without a power of ten.
    return 0 if -1 <= exponent <= 2 else exponent


def in_units(exponent: int) -> str:
    """Text for the title of a table whose entries are divided by a power of ten."""
    return "" if exponent == 0 else f", in units of {power_of_ten(exponent)}"


def times(factor: float) -> str:
    """A ratio with two digits: "1.3 ×", "93 ×", "1.6e+12 ×"."""
    rounded = float(f"{factor:.1e}")
    if rounded >= 1e7:
        return f"{factor:.1e} ×"
    return f"{rounded:,.0f} ×" if rounded >= 10 else f"{significant(factor, 2)} ×"


def excess(ratio: float) -> str:
    """By how much a ratio is above 1: "1.3 ×", or "+2.1 %" where the factor would read 1.0."""
    return times(ratio) if ratio >= 1.095 else f"+{100 * (ratio - 1):.1f} %"


def percent(share: float) -> str:
    """A share in percent, without decimals."""
    return f"{100 * share:.0f} %" if math.isfinite(share) else MISSING


def short_list(values: Float[np.ndarray, " n"], digits: int = 4) -> list[float | None]:
    """Values for JSON with a few significant digits; None where not finite."""
    return [float(f"{value:.{digits}g}") if math.isfinite(value) else None for value in values]
