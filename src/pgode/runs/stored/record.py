"""The form of `data.json`: the record of training data, and of the run that was gone on from."""

from typing import Any, Literal

from pydantic import field_validator

from pgode.runtime.reading import mapping, parse_json
from pgode.runtime.stored.schema import AtLeastOne, Count, Hash, NotNegative, Stored, parsed

FIX = "Restore the file from a copy, or train again."


class StoredParent(Stored):
    """The entries of `pgode.runs.continuation.parent.Parent`; an infinite error is null."""

    folder: str
    weights: Hash
    data: Hash
    scales: Literal["kept", "refitted"]
    val_mse: NotNegative | None


class StoredRecord(Stored):
    """The entries of `pgode.runs.data_record.DataRecord`; later ones have defaults."""

    source: str
    hash: Hash
    generator: str
    systems: dict[str, Count]
    objects: AtLeastOne
    frames: AtLeastOne | None = None
    generator_settings: str = "{}"
    fewest_objects: AtLeastOne | None = None
    relative: str = ""
    all_pairs: bool = False
    parent: StoredParent | None = None

    @field_validator("generator_settings")
    @classmethod
    def _is_json(cls, text: str) -> str:
        mapping(parse_json(text, "the text of it"), "it", "", "JSON of keys and values")
        return text


def checked_record(content: Any, where: str) -> dict[str, Any]:
    """The entries of a stored record, after a check of their form; `where` names the file."""
    parsed(StoredRecord, content, where, FIX)
    found: dict[str, Any] = content
    return found
