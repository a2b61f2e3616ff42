"""What values a setting may take in a search: one of a few, or any within a range."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

Value = str | int | float | bool | None
Assignment = Mapping[str, Value]
"""Values of settings by their full name ("training.batch")."""


@dataclass(frozen=True)
class Choice:
    """One of these values."""

    values: tuple[Value, ...]

    @property
    def text(self) -> str:
        """The values, separated by commas."""
        return ", ".join(shown(value) for value in self.values)

    def to_json(self) -> Any:
        """As in a file of `--space`."""
        return list(self.values)

    def position(self, value: Value) -> float:
        """Where a value lies between the first (0) and the last (1); NaN if it is none of them."""
        places = [k for k, each in enumerate(self.values) if same(each, value)]
        return places[0] / max(len(self.values) - 1, 1) if places else math.nan


@dataclass(frozen=True)
class Range:
    """Any number from `low` to `high`, whole if both are; drawn by its logarithm if `log`."""

    low: int | float
    high: int | float
    log: bool = False

    @property
    def whole(self) -> bool:
        """Whether only whole numbers count."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    @property
    def text(self) -> str:
        """The ends, and how numbers are drawn."""
        scale = ", logarithmic" if self.log else ""
        return f"{shown(self.low)} to {shown(self.high)}{scale}"

    def to_json(self) -> Any:
        """As in a file of `--space`."""
        return {"low": self.low, "high": self.high, "log": self.log}

    def position(self, value: Value) -> float:
        """Where a value lies between the low end (0) and the high end (1)."""
        if not isinstance(value, int | float) or (self.log and value <= 0):
            return math.nan
        low, at, high = float(self.low), float(value), float(self.high)
        if self.log:
            low, at, high = math.log(low), math.log(at), math.log(high)
        return (at - low) / (high - low)


Domain = Choice | Range
Space = Mapping[str, Domain]
"""Domains by the full name of their setting."""


def contains(domain: Domain, value: Value) -> bool:
    """Whether a search could draw this value."""
    at = domain.position(value)
    # The logarithm of an end may be off by a rounding.
    return not math.isnan(at) and -1e-9 <= at <= 1 + 1e-9


def same(first: Value, second: Value) -> bool:
    """Whether two values are equal; true and 1 are not."""
    return first == second and isinstance(first, bool) == isinstance(second, bool)


def combinations(space: Space) -> Iterator[dict[str, Value]] | None:
    """All assignments of a space; None if it has ranges of numbers that are not whole."""
    lists: list[list[Value]] = []
    for domain in space.values():
        if isinstance(domain, Choice):
            lists.append(list(domain.values))
        elif domain.whole:
            lists.append(list(range(int(domain.low), int(domain.high) + 1)))
        else:
            return None
    return (dict(zip(space, values, strict=True)) for values in product(*lists))


def space_json(space: Space) -> dict[str, Any]:
    """A space as plain JSON."""
    return {name: domain.to_json() for name, domain in space.items()}


def space_from_json(content: Mapping[str, Any]) -> dict[str, Domain]:
    """Read back what `space_json` made."""
    return {
        name: Choice(tuple(each)) if isinstance(each, list) else Range(**each)
        for name, each in content.items()
    }


def shown(value: Value) -> str:
    """A value as in YAML, numbers with four digits."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def short_names(space: Space) -> dict[str, str]:
    """Each setting by its last word, or by as many as tell it from the others."""
    short = {}
    for name in space:
        words = name.split(".")
        for count in range(1, len(words) + 1):
            tail = ".".join(words[-count:])
            if sum(each == tail or each.endswith(f".{tail}") for each in space) == 1:
                break
        short[name] = tail
    return short
