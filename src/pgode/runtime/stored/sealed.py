"""JSON with a checksum of its own, for records that stand alone or change often.

A record and a list of hashes elsewhere cannot be replaced in one step. With the checksum inside, a
process that is killed leaves the old record or the new one, and both are whole.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pgode.runtime.errors import InputError
from pgode.runtime.files import write_json
from pgode.runtime.reading import Limits, mapping, read_json

SEAL = "sha256"
LIMITS = Limits(size=2**26, nodes=3_000_000)
"""Results of large searches and reproductions stay far below."""


def digest(content: Mapping[str, Any]) -> str:
    """SHA-256 of the content, whatever the order of its keys and the layout of its file."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content with its checksum as the last entry."""
    return {**content, SEAL: digest(content)}


def write_sealed(path: Path, content: Mapping[str, Any]) -> None:
    """Replace the file at `path` with the content and its checksum in one step."""
    write_json(path, sealed(content))


def unsealed(content: dict[str, Any], path: Path, fix: str) -> dict[str, Any]:
    """The content without its checksum, which must be right if there is one.

    Files of earlier versions have none.
    """
    if SEAL not in content:
        return content
    plain = {key: value for key, value in content.items() if key != SEAL}
    if content[SEAL] != digest(plain):
        raise InputError(
            f"{path} was damaged or edited: its content does not have the checksum that it was "
            f'written with (its entry "{SEAL}"). Expected the file as pgode wrote it. {fix}'
        )
    return plain


def read_sealed(path: Path, fix: str, limits: Limits = LIMITS) -> dict[str, Any]:
    """Read back what `write_sealed` wrote; `fix` is what a user can do about another file."""
    return unsealed(mapping(read_json(path, "", limits), path, "", "what pgode wrote"), path, fix)
