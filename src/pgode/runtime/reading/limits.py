"""What a file of settings or results may hold at most, and the check of a content against it."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

from pgode.runtime.errors import InputError


@dataclass(frozen=True)
class Limits:
    """Bounds for a text file.

    The defaults are far above what people write by hand. A list or number takes up to 70 bytes in
    memory, so that a million of them stay below 100 MB.
    """

    size: int = 2**24
    """Bytes of the file."""
    depth: int = 64
    """Groups within groups."""
    nodes: int = 1_000_000
    """Keys, values, lists and groups, with YAML's aliases counted as often as they are used."""


DEFAULT = Limits()


def check_content(content: Any, where: str, limits: Limits, allow_nan: bool = False) -> None:
    """Refuse a parsed content that is too deep or too large, or that no file can hold.

    Numbers such as 1e999 are read as infinite, and half of a surrogate pair (a Unicode escape) is
    text that cannot be written again.
    """
    count = 0
    level: list[tuple[Any, Any]] = [(None, content)]
    depth = 0
    while level:
        depth += 1
        lists = [value for _, value in level if depth <= limits.depth and _are_numbers(value)]
        count += len(level) + sum(map(len, lists))
        if depth > limits.depth + 1:
            raise too_deep(where, limits)
        if count > limits.nodes:
            raise too_many(where, limits)
        for key, value in level:
            _check_value(key, value, where, allow_nan)
        known = set(map(id, lists))
        level = [pair for _, value in level if id(value) not in known for pair in _members(value)]


def too_deep(where: str, limits: Limits) -> InputError:
    """The error for content that is nested too deeply."""
    return InputError(
        f"{where} has more than {limits.depth} groups or lists within each other. Expected at "
        f"most {limits.depth}. Remove the nesting, or check that it is the right file."
    )


def too_many(where: str, limits: Limits) -> InputError:
    """The error for content with too many values."""
    return InputError(
        f"{where} holds more than {limits.nodes:,} keys and values. Expected at most that many. "
        f"Shorten it, or check that it is the right file."
    )


def _are_numbers(value: Any) -> bool:
    """Whether a value is a list of finite numbers, which are most of a large file: quickly."""
    return type(value) is list and set(map(type, value)) == {float} and all(map(isfinite, value))


def _members(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list | tuple | set | frozenset):
        yield from enumerate(value)


def _check_value(key: Any, value: Any, where: str, allow_nan: bool) -> None:
    if isinstance(value, float) and not allow_nan and not isfinite(value):
        raise InputError(
            f"{where} holds the number {value}{_at(key)}. Expected finite numbers. Correct it."
        )
    for text in (key, value):
        if isinstance(text, str) and not text.isascii() and not _is_writable(text):
            raise InputError(
                f"{where} holds text with half of a surrogate pair, {text[:40]!r}{_at(key)}. "
                f"Expected text that UTF-8 can hold. Correct it."
            )


def _at(key: Any) -> str:
    if key is None:
        return ""
    return f" at number {key + 1} of a list" if isinstance(key, int) else f" at {str(key)[:80]!r}"


def _is_writable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
