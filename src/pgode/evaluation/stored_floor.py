"""The form of a stored noise floor."""

from typing import Annotated, Any

from pydantic import Field

from pgode.runtime.stored.schema import AtLeastOne, NotNegative, Stored, parsed

Horizon = Annotated[str, Field(pattern=r"^[1-9]\d{0,8}$")]
Table = dict[str, dict[Horizon, dict[str, float | None]]]
"""By split, horizon and column."""
FIX = "Run pgode evaluate --replicas again, or remove the file."


class StoredFloor(Stored):
    """The entries of `pgode.evaluation.evaluation.NoiseFloor`."""

    mse: Table
    rmsd: dict[str, list[NotNegative]]
    conditions: AtLeastOne
    replicas: AtLeastOne
    model: Table | None = None
    last_value: Table | None = None
    share: Table | None = None
    share_low: Table | None = None
    share_high: Table | None = None


def checked_floor(content: Any, where: str) -> dict[str, Any]:
    """The entries of a stored noise floor, after a check of their form."""
    parsed(StoredFloor, content, where, FIX)
    found: dict[str, Any] = content
    return found
