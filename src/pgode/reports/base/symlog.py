"""An axis for values of both signs over many powers of ten: linear around zero, then by log."""

import math
from dataclasses import dataclass

import numpy as np

from pgode.reports.base.numbers import power_of_ten
from pgode.reports.base.svg import Axis, Values


@dataclass(frozen=True)
class SymlogAxis(Axis):
    """Places a value v by sign(v) log(1 + |v| / linear)."""

    linear: float = 1.0
    """Size below which the axis is about linear."""

    @classmethod
    def spanning(cls, values: Values, start: float, stop: float) -> "SymlogAxis":
        """An axis for all values, linear below the tenth part of their median size."""
        known = values[np.isfinite(values) & (values != 0)]
        if not len(known):
            return cls(-1.0, 1.0, start, stop)
        linear = 10.0 ** math.floor(math.log10(float(np.median(np.abs(known))) / 10))
        low, high = min(float(known.min()), 0.0), max(float(known.max()), 0.0)
        return cls(1.3 * low - linear, 1.3 * high + linear, start, stop, linear=linear)

    def place(self, values: Values) -> Values:
        """Pixels of values."""
        low, high = self._bent(np.array([self.low, self.high]))
        share = (self._bent(np.asarray(values, dtype=float)) - low) / (high - low)
        clipped: Values = np.clip(self.start + share * (self.stop - self.start), -9999, 9999)
        return clipped

    def ticks(self, most: int = 6) -> list[tuple[float, str]]:
        """Zero and powers of ten of both signs, at most about `most` of them."""
        first = round(math.log10(self.linear))
        ends = [math.floor(math.log10(max(abs(end), self.linear))) for end in (self.low, self.high)]
        stride = max(math.ceil((sum(ends) - 2 * first + 1) / most), 1)
        down = [-(10.0**k) for k in range(first + 1, ends[0] + 1, stride)][::-1]
        up = [10.0**k for k in range(first + 1, ends[1] + 1, stride)]
        shown = [value for value in (*down, 0.0, *up) if self.low <= value <= self.high]
        return [(value, self._label(value)) for value in shown]

    @property
    def exponent(self) -> int:
        """Labels have their own powers of ten."""
        return 0

    def _label(self, value: float) -> str:
        sign = "−" if value < 0 else ""
        return f"{sign}{power_of_ten(round(math.log10(abs(value))))}" if value else "0"

    def _bent(self, values: Values) -> Values:
        return np.asarray(np.sign(values) * np.log1p(np.abs(values) / self.linear))
