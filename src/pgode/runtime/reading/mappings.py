"""Files that hold keys and values, in JSON or YAML."""

from pathlib import Path
from typing import Any

from pgode.runtime.errors import InputError
from pgode.runtime.reading.json_text import read_json
from pgode.runtime.reading.limits import DEFAULT, Limits
from pgode.runtime.reading.yaml_text import YAML, read_yaml

KINDS = {dict: "keys and values", list: "a list", str: "text", bool: "true or false"}


def read_json_mapping(
    path: Path | str,
    what: str = "",
    limits: Limits = DEFAULT,
    expected: str = "a JSON file of keys and values",
    allow_nan: bool = False,
) -> dict[str, Any]:
    """A JSON file that holds keys and values."""
    return mapping(read_json(path, what, limits, expected, allow_nan), path, what, expected)


def read_yaml_mapping(
    path: Path | str,
    what: str = "",
    limits: Limits = YAML,
    expected: str = "a YAML file of keys and values",
    allow_nan: bool = False,
) -> dict[str, Any]:
    """A YAML file that holds keys and values; keys that are no text become text."""
    return mapping(read_yaml(path, what, limits, expected, allow_nan), path, what, expected)


def mapping(content: Any, path: Path | str, what: str, expected: str) -> dict[str, Any]:
    """`content` if it is keys and values; otherwise an error that says what it is."""
    if isinstance(content, dict):
        return {str(key): value for key, value in content.items()}
    found = KINDS.get(type(content), "nothing" if content is None else "a number")
    raise InputError(
        f"{f'{what} {path}' if what else path} holds {found}, not keys and values. Expected "
        f"{expected}. Correct it, or check that it is the right file."
    )
