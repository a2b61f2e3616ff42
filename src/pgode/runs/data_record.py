"""The record of the data a run was trained on: `data.json` of its folder."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pgode.data.trajectories import Trajectories


@dataclass(frozen=True)
class DataRecord:
    """Origin, hash and size of training data. `source` is its file, or empty."""

    source: str
    hash: str
    generator: str
    systems: dict[str, int]
    """Number of systems by split."""
    objects: int
    frames: int | None = None
    generator_settings: str = field(default="{}", repr=False)
    """As JSON."""

    @classmethod
    def of(cls, data: Trajectories, source: str) -> "DataRecord":
        """Describe `data`, which was read from the file `source`."""
        attributes = data.dataset.attrs
        return cls(
            source=source,
            hash=data.hash,
            generator=attributes["generator"],
            systems={name: int((data.split == name).sum()) for name in sorted(set(data.split))},
            objects=data.objects,
            frames=data.frames,
            generator_settings=attributes["generator_settings"],
        )

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "DataRecord":
        """Read back what `to_json` wrote."""
        return cls(
            source=content["source"],
            hash=content["hash"],
            generator=content["generator"],
            systems=dict(content["systems"]),
            objects=content["objects"],
            frames=content.get("frames"),
            generator_settings=content.get("generator_settings", "{}"),
        )

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)
