"""Checking names and numbers given by a user; errors list the choices and suggest a close one."""

from collections.abc import Iterable
from contextlib import suppress
from difflib import get_close_matches
from operator import index
from typing import SupportsIndex

from pgode.runtime.errors import InputError
from pgode.runtime.limits.bounds import COUNT

SIMILAR = 0.55
"""Least similarity (`difflib`) of a suggestion: "verlet" still suggests "velocity-verlet"."""
LONGEST = 60
"""Most characters of a value that a message repeats."""


def closest(name: str, names: Iterable[str], cutoff: float = SIMILAR) -> str | None:
    """The most similar of `names`, ignoring case; None if none is similar."""
    lowered = {each.lower(): each for each in names}
    close = get_close_matches(str(name).lower(), lowered, n=1, cutoff=cutoff)
    return lowered[close[0]] if close else None


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """A sentence that suggests the most similar name; empty if there is none."""
    close = closest(name, names)
    return f'Did you mean "{close}"?' if close else ""


def one_of(what: str, name: str, names: Iterable[str], fix: str = "Choose one of these.") -> str:
    """Return `name` if it is one of `names`; otherwise raise an error that lists them.

    `what` is the noun of the message ("model", "integrator"); `fix` is its last sentence if no
    similar name can be suggested.
    """
    names = tuple(names)
    if name in names:
        return name
    raise InputError(
        f'there is no {what} "{name}". Expected one of {", ".join(names)}. '
        f"{did_you_mean(name, names) or fix}"
    )


def abridged(value: object) -> str:
    """A value for a message: as Python writes it, but no longer than a line.

    Python refuses to write numbers of thousands of digits at all.
    """
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**LONGEST:
        return f"a number of about {int(value.bit_length() * 0.30103) + 1} digits"
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def is_int(value: object) -> bool:
    """Whether a value is a whole number, of Python or numpy, and not true or false."""
    return isinstance(value, SupportsIndex) and type(value).__name__ not in ("bool", "bool_")


def check_int(option: str, value: object, least: int, most: int = COUNT) -> int:
    """Return `value` if it is a whole number from `least` to `most`; otherwise raise an error."""
    number = None
    if isinstance(value, SupportsIndex) and is_int(value):
        # Arrays have `__index__`, but it fails unless they hold one integer.
        with suppress(TypeError):
            number = index(value)
    if number is not None and least <= number <= most:
        return number
    unbounded = most == COUNT and (number is None or number < least)
    limits = f"at least {least}" if unbounded else f"{least} to {most}"
    raise InputError(
        f"{option} is {abridged(value)}. Expected a whole number, {limits}. Give for instance "
        f"{option}={least}."
    )
