"""Whether data are still those that were written: stored hashes against the content.

Compression has checksums, but names and attributes of an HDF5 file, and the settings of a zarr
folder, have none: a flipped bit there reads as another number.
"""

import hashlib
import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError, PgodeWarning

CONTENT, ATTRIBUTES = "content_hash", "attribute_hash"
COVERED = (
    "title",
    "generator",
    "generator_version",
    "generator_settings",
    "seed",
    "graph_cutoff",
    "graph_interval",
)
"""Attributes that the content hash leaves out."""


class ContentWarning(PgodeWarning):
    """Data are used although they differ from what was written."""


def attribute_hash(attributes: Mapping[Any, Any]) -> str:
    """SHA-256 over the attributes that the content hash leaves out, which say how data were made.

    A hash of its own: the same numbers are the same data, whatever their origin.
    """
    held = {name: attributes[name] for name in COVERED if name in attributes}
    return hashlib.sha256(json.dumps(held, sort_keys=True, default=str).encode()).hexdigest()


def check_hashes(
    data: Trajectories, stored: Mapping[Any, Any], path: Path, force: bool = False
) -> None:
    """Compare data with the hashes that their file has; a file without any is as it is.

    With `force` a difference is a warning.
    """
    compare_hashes(
        stored,
        path,
        force,
        values=data.hash,
        attributes=attribute_hash(data.dataset.attrs),
        named="title, generator, settings",
    )


def compare_hashes(
    stored: Mapping[Any, Any],
    path: Path,
    force: bool,
    *,
    values: str,
    attributes: str,
    named: str,
) -> None:
    """Compare the hashes of what was read with those that its file has, if it has any."""
    for name, what, found in (
        (CONTENT, "values", values),
        (ATTRIBUTES, f"attributes ({named})", attributes),
    ):
        if name not in stored or str(stored[name]) == found:
            continue
        problem = (
            f"the {what} of {path} are not what was written: the stored hash is "
            f"{_short(stored[name])}, that of what was read is {_short(found)}"
        )
        if not force:
            raise InputError(
                f"{problem}. Expected the same hash: the file is damaged, or was changed by "
                f"another program. Copy or make it again. If it was changed on purpose, remove its "
                f"attribute {name}, or go on with --force (force=True in Python)."
            )
        warnings.warn_explicit(f"{problem}. Going on (--force).", ContentWarning, "pgode", 0)


def _short(text: Any) -> str:
    readable = "".join(each if each.isprintable() else "?" for each in str(text)[:12])
    return f"{readable}..."
