"""Schemas of stored JSON: strict types, no unknown entries, only finite numbers."""

from collections.abc import Mapping, Sized
from itertools import pairwise
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pgode.runtime.errors import InputError


class Stored(BaseModel):
    """Base of the form that a stored file must have.

    A validator that raises a ValueError says what is wrong with entries that belong together.
    """

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


Form = TypeVar("Form", bound=Stored)

Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""A SHA-256 in hexadecimal digits."""
Count = Annotated[int, Field(ge=0)]
AtLeastOne = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]


def parsed(form: type[Form], content: Any, where: str, fix: str) -> Form:
    """Content in a form, or an error that names the file (`where`), the entry, and the fix."""
    try:
        return form.model_validate(content)
    except ValidationError as error:
        raise InputError(f"{where} cannot be used: {_reason(error, content)} {fix}") from None


def check_lengths(expected: str, number: int, found: Mapping[str, Sized]) -> None:
    """Refuse lists that do not have one value for each of something."""
    for name, values in found.items():
        count = len(values)
        if count != number:
            raise ValueError(
                f'the entry "{name}" has {count} values. Expected {number}, one for each of '
                f'"{expected}".'
            )


def check_increasing(name: str, values: list[float]) -> None:
    """Refuse numbers that are not in order, each larger than the one before."""
    for index, (before, after) in enumerate(pairwise(values), 1):
        if not before < after:
            raise ValueError(
                f'the entry "{name}" has {after:g} after {before:g} at number {index + 1}. '
                f"Expected numbers that increase."
            )


def _reason(error: ValidationError, content: Any) -> str:
    """The first problem: which entry, what it is, and what was expected."""
    first = error.errors(include_url=False)[0]
    entry = ".".join(str(part) for part in first["loc"])
    kind, message = first["type"], str(first["msg"])
    if kind == "value_error":
        reason = message.removeprefix("Value error, ")
        return f'the entry "{entry}" is wrong: {reason}' if entry else reason
    if kind == "missing":
        return f'it lacks the entry "{entry}". Expected all that pgode writes there.'
    if kind == "extra_forbidden":
        return f'it has the unknown entry "{entry[:80]}". Expected only what pgode writes there.'
    expected = message.removeprefix("Input should be ").replace("a valid ", "a ").rstrip(".")
    if not entry:
        return f"it holds {_shown(content)}. Expected keys and values."
    return f'the entry "{entry}" is {_shown(first["input"])}. Expected {expected}.'


def _shown(value: Any, most: int = 60) -> str:
    if value is None:
        return "null"
    if isinstance(value, dict | list):
        kind = "keys and values" if isinstance(value, dict) else "a list"
        return f"{kind} ({len(value)})"
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]}..."
