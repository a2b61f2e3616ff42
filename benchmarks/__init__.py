"""Measurements behind the figures that pgode promises; run all with `python -m benchmarks`.

Each file measures one thing: `run()` returns what it found as plain numbers, and `figures(found)`
the few of them that have a limit. Times are compared within one run only, because a second of one
machine says nothing about another.
"""

from dataclasses import dataclass
from typing import Any

Found = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """One measured number and the limit it has to keep."""

    what: str
    found: float
    limit: float
    unit: str = ""
    at_least: bool = False

    @property
    def passed(self) -> bool:
        """Whether the limit is kept; a number that could not be measured does not keep it."""
        return self.found >= self.limit if self.at_least else self.found <= self.limit

    @property
    def bound(self) -> str:
        """The limit in words."""
        return f"{'at least' if self.at_least else 'at most'} {self.limit:g} {self.unit}".strip()

    def to_json(self) -> Found:
        """Plain numbers and words."""
        return {
            "what": self.what,
            "found": self.found,
            "limit": self.limit,
            "unit": self.unit,
            "at_least": self.at_least,
            "passed": self.passed,
        }
