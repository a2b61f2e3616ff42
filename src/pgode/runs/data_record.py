"""The record of the data a run was trained on: `data.json` of its folder."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from os.path import relpath
from pathlib import Path
from typing import Any

import numpy as np

from pgode.data.trajectories import Trajectories
from pgode.runs.continuation.parent import Parent
from pgode.runs.stored.record import checked_record


@dataclass(frozen=True)
class DataRecord:
    """Origin, hash and size of training data. `source` is its file, or empty."""

    source: str
    hash: str
    generator: str
    systems: dict[str, int]
    """Number of systems by split."""
    objects: int
    """Of the largest system."""
    frames: int | None = None
    generator_settings: str = field(default="{}", repr=False)
    """As JSON."""
    fewest_objects: int | None = None
    """Of the smallest system; None if the run was stored before this was."""
    relative: str = ""
    """`source` as seen from the run folder, so that it is found from any folder, and after both
    were moved together; empty if there is none, or if the run was stored before this was."""
    all_pairs: bool = False
    """Whether every graph joins all pairs with weight 1, so that others can be built like it."""
    parent: Parent | None = None
    """The run that this one went on from; None for a run that started from fresh weights."""

    @classmethod
    def of(
        cls, data: Trajectories, source: str, folder: Path, parent: Parent | None = None
    ) -> "DataRecord":
        """Describe `data`, which was read from the file `source`, for the run in `folder`."""
        attributes = data.dataset.attrs
        return cls(
            source=source,
            hash=data.hash,
            generator=attributes["generator"],
            systems={name: int((data.split == name).sum()) for name in sorted(set(data.split))},
            objects=data.objects,
            frames=data.frames,
            generator_settings=attributes["generator_settings"],
            fewest_objects=int(data.n_objects.min()),
            relative=_relative(source, folder),
            all_pairs=joins_all_pairs(data),
            parent=parent,
        )

    @classmethod
    def from_json(cls, content: Mapping[str, Any], where: str = "the record") -> "DataRecord":
        """Read back what `to_json` wrote; `where` names it in errors."""
        content = checked_record(content, where)
        return cls(
            source=content["source"],
            hash=content["hash"],
            generator=content["generator"],
            systems=dict(content["systems"]),
            objects=content["objects"],
            frames=content.get("frames"),
            generator_settings=content.get("generator_settings", "{}"),
            fewest_objects=content.get("fewest_objects"),
            relative=content.get("relative", ""),
            all_pairs=content.get("all_pairs", False),
            parent=Parent.from_json(content.get("parent")),
        )

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {**asdict(self), "parent": self.parent and self.parent.to_json()}

    def places(self, folder: Path) -> list[Path]:
        """Where the data file of the run in `folder` may be, the likeliest place first."""
        if not self.source:
            return []
        near = [folder.resolve() / self.relative] if self.relative else []
        return [*near, Path(self.source)]


def _relative(source: str, folder: Path) -> str:
    if not source:
        return ""
    try:
        return Path(relpath(Path(source).resolve(), folder.resolve())).as_posix()
    except ValueError:  # On Windows, on another drive.
        return ""


def joins_all_pairs(data: Trajectories) -> bool:
    """Whether every graph joins all pairs of its objects with weight 1."""
    edges = data.edges
    if edges.attribute_names != ("weight",):
        return False
    present = data.n_objects
    for _, block in edges.blocks():
        objects = present[block.graph_system]
        joined = np.bincount(block.edge_graph, minlength=len(objects))
        if (block.edge_attributes != 1).any() or (joined != objects * (objects - 1)).any():
            return False
    return True
