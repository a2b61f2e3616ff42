"""A time axis whose ticks are dates."""

from collections.abc import Sequence
from dataclasses import dataclass

from pgode.reports.base.svg import Axis, Values


@dataclass(frozen=True)
class DatedAxis(Axis):
    """An axis of times that have dates: ticks are at times of the data and show their dates."""

    times: tuple[float, ...] = ()
    dates: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, times: Values, dates: Sequence[str], start: float, stop: float, margin: float = 0.02
    ) -> "DatedAxis":
        """An axis that spans the times."""
        plain = Axis.around(times, start, stop, margin=margin)
        known = tuple(map(float, times))
        return cls(plain.low, plain.high, start, stop, times=known, dates=tuple(dates))

    def ticks(self, most: int = 6) -> list[tuple[float, str]]:
        """Evenly chosen times with their dates, as many as have room."""
        longest = max(map(len, self.dates), default=1)
        room = max(int(abs(self.stop - self.start) / (6.5 * longest + 12)), 1)
        stride = -(-len(self.times) // max(min(most, room), 1))
        first = (len(self.times) - 1) % stride // 2
        return list(zip(self.times[first::stride], self.dates[first::stride], strict=True))

    @property
    def exponent(self) -> int:
        """Dates have no power of ten."""
        return 0
