"""Parse lists given as one argument, such as 12,24,36."""

from collections.abc import Collection

from pgode.runtime.choices import one_of
from pgode.runtime.errors import InputError


def whole_numbers(text: str, option: str) -> list[int]:
    """Whole numbers above 0 separated by commas, sorted and without repeats."""
    try:
        numbers = sorted({int(part) for part in text.split(",")})
    except ValueError:
        numbers = []
    if not numbers or numbers[0] < 1:
        raise InputError(
            f"{option} {text} is not a list of whole numbers. Expected, for instance, "
            f"{option} 12,24,36."
        )
    return numbers


def numbers(text: str, option: str) -> list[float]:
    """Numbers separated by commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(
            f"{option} {text} is not a list of numbers. Expected, for instance, {option} 0.5,1.0."
        ) from None


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
