"""What a check reports: how bad it is, where, and how to correct it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

Severity = Literal["problem", "warning", "note"]

SEVERITIES: tuple[Severity, ...] = ("problem", "warning", "note")
"""Worst first. A problem means that training would suffer."""


@dataclass(frozen=True)
class Place:
    """Where a finding was made, by the names of the data; empty where it is not about one."""

    system: str = ""
    object: str = ""
    time: str = ""
    feature: str = ""

    def __str__(self) -> str:
        parts = (self.system, self.object, f"time {self.time}" if self.time else "", self.feature)
        return ", ".join(part for part in parts if part)


NOWHERE = Place()
"""The place of a finding about the whole file."""


@dataclass(frozen=True)
class Finding:
    """One sentence about the data, with its severity, its place and a fix."""

    severity: Severity
    check: str
    text: str
    fix: str = ""
    place: Place = NOWHERE

    def to_json(self) -> dict[str, object]:
        """Plain JSON; parts of the place that are not known are None."""
        place = {part: text or None for part, text in asdict(self.place).items()}
        return {
            "severity": self.severity,
            "check": self.check,
            "text": self.text,
            "place": place,
            "fix": self.fix or None,
        }


def number(value: float) -> str:
    """A number with four digits, as all findings show them."""
    return f"{value:.4g}"


def counted(count: int, noun: str) -> str:
    """A number of things: "1 system", "12,000 systems"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def listed(names: Sequence[str], most: int = 4) -> str:
    """Names separated by commas, the rest of a long list as a number."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
