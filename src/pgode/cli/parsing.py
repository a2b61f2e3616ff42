"""Parse lists given as one argument, such as 12,24,36."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from math import isfinite, nan
from typing import Any

from cyclopts import Token, convert

from pgode.runtime.choices import LONGEST, abridged, one_of
from pgode.runtime.errors import InputError
from pgode.runtime.limits.bounds import FRAMES


def converted(kind: Any, tokens: Sequence[Token]) -> Any:
    """An option's value as cyclopts reads it, but whole numbers are not rounded.

    Cyclopts would take `--seed 1.5` for 2 without a word.
    """
    for token in tokens if kind is int else ():
        if not _is_whole(token.value):
            text = token.value if len(token.value) <= LONGEST else f"{token.value[:LONGEST]}..."
            raise InputError(f'it is "{text}". Expected a whole number. Correct it.')
    return convert(kind, tokens)


def _is_whole(text: str) -> bool:
    """Whether a text is a whole number, also as 0x1f, 1_000 or 12.0."""
    with suppress(ValueError):
        return float(text).is_integer()
    with suppress(ValueError):
        int(text, 0)
        return True
    return False


def whole_numbers(text: str, option: str) -> list[int]:
    """Whole numbers above 0 separated by commas, sorted and without repeats."""
    try:
        numbers = sorted({int(part) for part in text.split(",")})
    except ValueError:
        numbers = []
    if not numbers or numbers[0] < 1 or numbers[-1] > FRAMES:
        raise InputError(
            f"{option} {abridged(text)} is not a list of whole numbers from 1 to {FRAMES}. "
            f"Expected, for instance, {option} 12,24,36."
        )
    return numbers


def numbers(text: str, option: str) -> list[float]:
    """Finite numbers separated by commas."""
    found = [nan]
    with suppress(ValueError):
        found = [float(part) for part in text.split(",")]
    if not all(map(isfinite, found)):
        raise InputError(
            f"{option} {abridged(text)} is not a list of numbers. Expected, for instance, {option} "
            f"0.5,1.0."
        )
    return found


def words(text: str) -> list[str]:
    """Names separated by commas; none if the text is empty."""
    return [part.strip() for part in text.split(",")] if text.strip() else []


def pairs(text: str, option: str, example: str) -> dict[str, str]:
    """Pairs such as x:m,y:m; none if the text is empty."""
    found = {}
    for part in words(text):
        name, colon, value = part.rpartition(":")
        if not (name and colon and value):
            raise InputError(
                f'{option} has "{part}", which is no pair. Expected, for instance, {option} '
                f"{example}."
            )
        found[name] = value
    return found


def shares(text: str, option: str) -> list[float] | None:
    """Shares separated by commas; None if the text is empty."""
    return numbers(text, option) if text else None


def names(text: str, option: str, what: str, known: Collection[str]) -> list[str]:
    """Known names separated by commas, in the order given and without repeats."""
    found = list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if not found:
        raise InputError(
            f'{option} "{text}" names nothing. Expected one or more of {", ".join(known)}.'
        )
    return [one_of(what, name, known) for name in found]
