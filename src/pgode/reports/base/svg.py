"""Axes and paths of inline SVG; colours come from the style sheet, for light and dark schemes."""

import math
from dataclasses import dataclass
from html import escape

import numpy as np
from jaxtyping import Float

from pgode.reports.base.numbers import power_of_ten

Values = Float[np.ndarray, " n"]


@dataclass(frozen=True)
class Axis:
    """Maps `low`..`high` to the pixels `start`..`stop`, evenly or by logarithm."""

    low: float
    high: float
    start: float
    stop: float
    log: bool = False
    whole: bool = False
    """Whether values are counts, so that ticks are whole numbers."""

    @classmethod
    def around(
        cls, values: Values, start: float, stop: float, *, log: bool = False, margin: float = 0.05
    ) -> "Axis":
        """An axis that spans all finite values (on a logarithmic one: all positive values)."""
        known = values[np.isfinite(values) & ((values > 0) | (not log))]
        if not len(known):
            return cls(0.1 if log else 0.0, 1.0, start, stop, log)
        scaled = np.log10(known) if log else known
        low, high = float(scaled.min()), float(scaled.max())
        least = 0.5 if log else 1e-6 * max(abs(low), abs(high), 1e-300)
        if high - low < least:
            room = least if log else max(0.05 * abs(low), least, 1e-9)
            low, high = low - room, high + room
        low, high = low - margin * (high - low), high + margin * (high - low)
        return cls(10**low if log else low, 10**high if log else high, start, stop, log)

    def place(self, values: Values) -> Values:
        """Pixels of values; NaN where undefined, such as zero on a logarithmic axis."""
        scaled = np.asarray(values, dtype=float)
        low, high = self.low, self.high
        if self.log:
            scaled = np.log10(np.where(scaled > 0, scaled, np.nan))
            low, high = math.log10(low), math.log10(high)
        placed = self.start + (scaled - low) / (high - low) * (self.stop - self.start)
        # Far outside the picture the exact place does not matter, and short numbers save space.
        clipped: Values = np.clip(placed, -9999, 9999)
        return clipped

    def ticks(self, most: int = 6) -> list[tuple[float, str]]:
        """Round values on the axis, at most about `most` of them, with their labels."""
        return self._log_ticks(most) if self.log else self._even_ticks(most)

    @property
    def exponent(self) -> int:
        """The power of ten that is in the axis's name instead of the labels, for extreme values."""
        largest = max(abs(self.low), abs(self.high))
        power = math.floor(math.log10(largest)) if largest > 0 else 0
        return 0 if self.log or -4 <= power <= 4 else power

    def named(self, label: str) -> str:
        """The axis's name with that power of ten."""
        factor = f"× {power_of_ten(self.exponent)}" if self.exponent else ""
        return f"{label} ({factor})" if label and factor else label + factor

    def _even_ticks(self, most: int) -> list[tuple[float, str]]:
        rough = (self.high - self.low) / most
        size = 10.0 ** math.floor(math.log10(rough))
        step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough * 0.999)
        step = max(step, 1.0) if self.whole else step
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        # As many digits as the step has, so that the label of 3 * 0.1 is 0.3.
        digits = max(self.exponent - math.floor(math.log10(step)), 0)
        values = [index * step for index in range(first, last + 1)]
        labels = [f"{value / 10.0**self.exponent + 0.0:.{digits}f}" for value in values]
        return [(value, _short(label)) for value, label in zip(values, labels, strict=True)]

    def _log_ticks(self, most: int) -> list[tuple[float, str]]:
        low, high = math.log10(self.low), math.log10(self.high)
        decades = range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)
        if len(decades) >= 3:
            stride = math.ceil(len(decades) / most)
            return [(10.0**decade, power_of_ten(decade)) for decade in decades[::stride]]
        steps = (
            (decade, lead)
            for decade in range(math.floor(low), math.ceil(high))
            for lead in (1, 2, 5)
        )
        ticks = [(lead * 10.0**decade, _times_power(lead, decade)) for decade, lead in steps]
        return [tick for tick in ticks if self.low <= tick[0] <= self.high]


def _short(label: str) -> str:
    """A label without trailing zeros: 0.5 instead of 0.50."""
    return label.rstrip("0").rstrip(".") if "." in label else label


def _times_power(lead: int, decade: int) -> str:
    plain = 10.0**decade * lead
    if 1e-3 <= plain < 1e4:
        return f"{plain:.3g}"
    return power_of_ten(decade) if lead == 1 else f"{lead}×{power_of_ten(decade)}"


def number(value: float) -> str:
    """A coordinate to a tenth of a pixel, without a trailing zero."""
    return f"{value:.1f}".removesuffix(".0")


def path(x: Values, y: Values) -> str:
    """The `d` of a line through the points, broken where one is not finite.

    A single point between two gaps is a line of zero length, which round caps show as a dot.
    """
    known = np.isfinite(x) & np.isfinite(y)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], known, [False]]).astype(int)))
    parts = []
    for start, stop in edges.reshape(-1, 2):
        points = [
            f"{number(a)} {number(b)}" for a, b in zip(x[start:stop], y[start:stop], strict=True)
        ]
        parts.append("M" + " ".join(points) + ("h0" if stop - start == 1 else ""))
    return "".join(parts)


def band(x: Values, low: Values, high: Values) -> str:
    """The `d` of the area between two lines where both are known."""
    known = np.isfinite(x) & np.isfinite(low) & np.isfinite(high)
    if not known.any():
        return ""
    return path(
        np.concatenate([x[known], x[known][::-1]]), np.concatenate([high[known], low[known][::-1]])
    )


def text(x: float, y: float, content: str, kind: str, extra: str = "") -> str:
    """A text element; `kind` is its class."""
    return f'<text x="{number(x)}" y="{number(y)}" class="{kind}"{extra}>{escape(content)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A straight line; `kind` is its class."""
    ends = f"M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}"
    return f'<path class="{kind}" d="{ends}"/>'


def frame(x_axis: Axis, y_axis: Axis, x_label: str, y_label: str, *, grid: bool) -> str:
    """Ticks and names of two axes. `y_axis` runs upwards: its start is the larger pixel."""
    left, right, bottom, top = x_axis.start, x_axis.stop, y_axis.start, y_axis.stop
    parts = []
    most_x, most_y = max(int((right - left) / 70), 3), max(int((bottom - top) / 45), 3)
    for value, label in y_axis.ticks(most_y):
        at = float(y_axis.place(np.array([value]))[0])
        parts.append(line(left if grid else left - 4, at, right if grid else left, at, "rule"))
        parts.append(text(left - 7, at + 3.5, label, "tick end"))
    for value, label in x_axis.ticks(most_x):
        at = float(x_axis.place(np.array([value]))[0])
        parts.append(line(at, bottom, at, bottom + 4, "rule"))
        parts.append(text(at, bottom + 16, label, "tick mid"))
    parts.append(text((left + right) / 2, bottom + 33, x_axis.named(x_label), "axis mid"))
    middle = (top + bottom) / 2
    turn = f' transform="rotate(-90 11 {number(middle)})"'
    parts.append(text(11, middle + 3, y_axis.named(y_label), "axis mid", turn))
    return "".join(parts)
