"""JSON within limits, without the constants that are no JSON and without repeated keys."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pgode.runtime.errors import InputError
from pgode.runtime.reading.limits import DEFAULT, Limits, check_content, too_deep, too_many
from pgode.runtime.reading.text import read_text

STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)


class _Refused(Exception):
    """Carries a sentence out of the parser."""


def read_json(
    path: Path | str,
    what: str = "",
    limits: Limits = DEFAULT,
    expected: str = "a JSON file",
    allow_nan: bool = False,
) -> Any:
    """The content of a JSON file; `what` stands before its path in errors ("the result")."""
    text = read_text(path, what, limits.size, expected)
    return parse_json(text, f"{what} {path}" if what else str(path), limits, allow_nan)


def parse_json(text: str, where: str, limits: Limits = DEFAULT, allow_nan: bool = False) -> Any:
    """The content of a text; `where` is its name in errors.

    With `allow_nan`, NaN and Infinity are read, as Python writes them.
    """
    _check_counts(text, where, limits)
    try:
        content = json.loads(
            text,
            object_pairs_hook=_unrepeated,
            parse_constant=None if allow_nan else _refuse_constant,
        )
    except json.JSONDecodeError as error:
        raise InputError(
            f"{where} is not valid JSON: {error.msg} at line {error.lineno}, column "
            f"{error.colno}. Expected JSON. Correct it, or restore the file."
        ) from None
    except RecursionError:
        raise too_deep(where, limits) from None
    except (_Refused, ValueError) as error:  # ValueError: a number of thousands of digits.
        raise InputError(
            f"{where} is not valid JSON: {error}. Expected JSON. Correct it, or restore the file."
        ) from None
    check_content(content, where, limits, allow_nan)
    return content


def _check_counts(text: str, where: str, limits: Limits) -> None:
    """Refuse by the marks between values what would take much memory before it can be counted."""
    if _marks(text) > limits.nodes and _marks(STRINGS.sub("", text)) > limits.nodes:
        raise too_many(where, limits)


def _marks(text: str) -> int:
    return sum(text.count(mark) for mark in ",[{")


def _unrepeated(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _Refused(f"the key {key[:80]!r} occurs twice in one group")
        found[key] = value
    return found


def _refuse_constant(name: str) -> Any:
    raise _Refused(f"it holds {name}, which JSON does not have")
