"""Measurements behind the figures that pgode promises; run all with `python -m benchmarks`.

Each file measures one thing: `run()` returns plain numbers, and `figures(measured)` those that have
a limit. Times are compared within one run only, since machines differ.
"""

from dataclasses import dataclass
from typing import Any

Measurements = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """One measured number and the limit it has to keep."""

    what: str
    measured: float
    limit: float
    unit: str = ""
    at_least: bool = False

    @property
    def passed(self) -> bool:
        """Whether the limit is kept; a number that could not be measured does not keep it."""
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit

    @property
    def bound(self) -> str:
        """The limit as text."""
        return f"{'at least' if self.at_least else 'at most'} {self.limit:g} {self.unit}".strip()

    def to_json(self) -> dict[str, Any]:
        """Plain numbers and text."""
        return {
            "what": self.what,
            "measured": self.measured,
            "limit": self.limit,
            "unit": self.unit,
            "at_least": self.at_least,
            "passed": self.passed,
        }
