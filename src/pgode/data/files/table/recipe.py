"""How a table becomes trajectories: which columns mean what, and how series are cut.

A recipe is plain text and numbers. It is stored with the data that it made, with everything that
was chosen from the first table filled in (categories, time step, graph), so that a trained run
reads another table of the same form in exactly the same way.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from pgode.runtime.choices import did_you_mean
from pgode.runtime.errors import InputError

GENERATOR = "pgode import table"
"""Name under which data say that they were made from a table."""
SHARES = (0.7, 0.15, 0.15)
"""Shares for training, validation and test."""
AUTO, STATIC = 0, -1
"""Special numbers of frames after which a graph is rebuilt: chosen by the import, and never."""


@dataclass(frozen=True)
class EdgeList:
    """A graph by the names of its objects, the same at all times.

    Edge k is the action of `names[sender[k]]` on `names[receiver[k]]`; `system` names its system,
    and is empty if the graph is that of all systems.
    """

    names: tuple[str, ...]
    sender: tuple[int, ...]
    receiver: tuple[int, ...]
    weight: tuple[float, ...]
    system: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableRecipe:
    """Which columns of a table mean what. Empty: chosen from the table, or not there.

    `velocities` is the number of past frames of the filter that derives them, 0 for none.
    `edges_every` is the number of frames after which a graph by distance is rebuilt. `split_by` is
    "time", "system", "none", or the name of a column; with `split_column` a column holds the splits
    themselves. `categories`, `step` (in `time_units`), `dated` and `graph` are filled in by the
    import.
    """

    features: tuple[str, ...] = ()
    object: str = ""
    time: str = ""
    system: str = ""
    time_units: str = ""
    date_format: str = ""
    units: Mapping[str, str] = field(default_factory=dict)
    positions: tuple[str, ...] = ()
    velocities: int = 0
    static: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    transforms: Mapping[str, str] = field(default_factory=dict)
    edges: str = ""
    edges_every: int = AUTO
    undirected: bool | None = None
    window: int = 0
    stride: int = 0
    gap: int = 0
    split_by: str = ""
    split_column: str = ""
    shares: tuple[float, ...] = SHARES
    seed: int = 0
    header: bool = True
    columns: tuple[str, ...] = ()
    delimiter: str = ""
    decimal: str = "."
    wide: bool = False
    dated: bool = False
    step: float = 0.0
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    graph: EdgeList | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain lists, dicts, text and numbers, without what has its default."""
        plain = TableRecipe()
        changed = {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if getattr(self, each.name) != getattr(plain, each.name)
        }
        if self.graph is not None:
            changed["graph"] = asdict(self.graph)
        return dict(json.loads(json.dumps(changed)))

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "TableRecipe":
        """The inverse of `to_json`."""
        names = [each.name for each in fields(cls)]
        for name in content:
            if name not in names:
                raise InputError(
                    f'the recipe of a table has the entry "{name}". Expected only '
                    f"{', '.join(names)}. {did_you_mean(name, names) or 'Import the table again.'}"
                )
        given: dict[str, Any] = {
            key: tuple(v) if isinstance(v, list) else v for key, v in content.items()
        }
        if "categories" in given:
            given["categories"] = {key: tuple(v) for key, v in given["categories"].items()}
        if given.get("graph"):
            given["graph"] = EdgeList(**{key: tuple(v) for key, v in given["graph"].items()})
        return cls(**given)

    def resolved(self, **chosen: Any) -> "TableRecipe":
        """The same recipe with what was chosen from the table."""
        return replace(self, **chosen)


def recipe_of(generator: str, generator_settings: str | Mapping[str, Any]) -> TableRecipe | None:
    """The recipe that data were made with; None if they do not come from a table.

    The arguments are the attributes of that name that every dataset has.
    """
    if generator != GENERATOR:
        return None
    settings = generator_settings
    return TableRecipe.from_json(json.loads(settings) if isinstance(settings, str) else settings)
