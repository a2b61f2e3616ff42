"""What the columns of a table probably mean, by their names, types and repetitions."""

import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pgode.data.files.table.columns import MOST_CATEGORIES
from pgode.data.files.table.reading.choice import USUAL, has_usual_positions
from pgode.data.labels.features import guess_roles
from pgode.data.schema import SPLITS

if TYPE_CHECKING:
    import pandas as pd

NAMES = {
    "time": (*USUAL["time"], "step", "day", "week", "hour", "year", "tick", "ds"),
    "object": (
        *USUAL["object"],
        *("particle", "player", "state", "country", "region", "county", "sensor", "station"),
        *("joint", "atom", "pedestrian", "person", "vehicle", "car", "body", "track", "location"),
        *("animal", "bird", "fish", "site", "city", "unit", "entity", "province", "agent_id"),
    ),
    "system": (
        *("system", "match", "game", "run", "trial", "recording", "episode", "sample", "scene"),
        *("session", "sequence", "simulation", "sim", "experiment", "replicate", "video", "file"),
    ),
    "split": ("split", "set", "subset", "fold", "partition"),
}
"""Usual names of columns, most telling first; a name with _id or _no is the same."""

DATE = re.compile(r"\d{4}-\d{1,2}(-\d{1,2})?([T ].*)?|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}.*")
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
CODE = re.compile(r"(?:.*[_ ])?(?:id|uid|fips|zip|code|iso\d?|index)|unnamed.*", re.IGNORECASE)
"""Further names of rows and objects, whose numbers mean nothing."""
ROWS = 50_000
"""Rows from which types are told."""


@dataclass(frozen=True)
class ColumnFacts:
    """A column: its type, what is in it, and what it probably means."""

    name: str
    type: str
    different: int
    missing: float
    example: str
    meaning: str


@dataclass(frozen=True)
class Guess:
    """Columns by meaning; empty where there is none."""

    time: str = ""
    object: str = ""
    system: str = ""
    split: str = ""
    features: tuple[str, ...] = ()
    static: tuple[str, ...] = ()
    dated: bool = False

    @property
    def needs_velocities(self) -> bool:
        """Whether there are positions by name, but no velocities."""
        paired = "position" in guess_roles(self.features)
        return bool(has_usual_positions(self.features)) and not paired

    def meaning(self, column: str) -> str:
        """What a column probably means, in a word."""
        single = {self.time: "time", self.object: "object", self.system: "system"}
        single[self.split] = "split"
        if column in single and column:
            return single[column]
        if column in self.features:
            return "feature"
        return "constant of objects" if column in self.static else "not used"


def guess(frame: "pd.DataFrame") -> Guess:
    """The meaning of the columns of a table with one row for each object at each time."""
    types = {str(name): column_type(frame[name]) for name in frame.columns}
    dated = [name for name, kind in types.items() if kind == "dates"]
    split = next((n for n in _named(types, "split") if _holds_splits(frame[n])), "")
    time = next((name for name in _named(types, "time") if types[name] != "texts"), "")
    time = time or next(iter(dated), "")
    rest = [name for name in types if name not in (time, split)]
    item, system = _keys(frame, types, time, rest)
    rest = [name for name in rest if name not in (item, system)]
    keys = [name for name in (system, item) if name]
    features, static = [], []
    for name in rest:
        if types[name] == "dates" or CODE.fullmatch(name):
            continue
        changes = _changes(frame, keys, name)
        if changes == "hardly":
            continue  # Such as a place that was corrected once: neither a state nor a constant.
        fixed = changes == "never"
        if types[name] == "numbers" and not (fixed and len(rest) > 1):
            features.append(name)
        elif fixed and frame[name].nunique() in range(2, MOST_CATEGORIES + 1):
            static.append(name)
    return Guess(time, item, system, split, tuple(features), tuple(static), time in dated)


def column_facts(frame: "pd.DataFrame", found: Guess) -> list[ColumnFacts]:
    """A row for each column of a table."""
    return [
        ColumnFacts(
            name=str(name),
            type=column_type(frame[name]),
            different=int(frame[name].nunique()),
            missing=float(frame[name].isna().mean()) if len(frame) else 0.0,
            example=str(frame[name].dropna().iloc[0]) if frame[name].notna().any() else "",
            meaning=found.meaning(str(name)),
        )
        for name in frame.columns
    ]


def column_type(series: "pd.Series[Any]") -> str:
    """Whether a column holds numbers, whole numbers as ids, dates or texts; empty if nothing."""
    import pandas as pd

    known = series.iloc[:ROWS].dropna()
    if not len(known):
        return "empty"
    if series.dtype.kind in "iuf":
        return "numbers"
    if series.dtype.kind == "M":
        return "dates"
    if series.dtype.kind == "b":
        return "texts"
    texts = known.astype(str)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        share = pd.to_numeric(texts, errors="coerce").notna().mean()
    if share > 0.5:
        return "numbers"  # A cell that is none is a slip, which the import names.
    return "dates" if texts.str.fullmatch(DATE).mean() > 0.9 else "texts"


def has_no_header(first_line: str) -> bool:
    """Whether the first line of a table holds numbers instead of names."""
    cells = re.split(r"[,;|\s]+", first_line.strip())
    return len(cells) > 1 and all(NUMBER.fullmatch(cell) for cell in cells)


def headless_names(frame: "pd.DataFrame") -> tuple[str, ...]:
    """Names for the columns of a table that has none.

    Whole numbers that never decrease are frames, others are ids, and the rest are positions.
    """
    import numpy as np

    names: list[str] = []
    axes: Sequence[str] = ("x", "y", "z")
    for name in frame.columns:
        values = frame[name]
        whole = values.dtype.kind in "iuf" and bool(np.all(values.dropna() % 1 == 0))
        if whole and "frame" not in names and values.is_monotonic_increasing:
            names.append("frame")
        elif whole and "id" not in names and values.nunique() < len(values):
            names.append("id")
        else:
            count = len(names) - ("frame" in names) - ("id" in names)
            names.append(axes[count] if count < len(axes) else f"feature{count}")
    return tuple(names)


def _named(types: dict[str, str], what: str) -> Iterable[str]:
    """Columns with a usual name, the most telling name first."""
    plain = {re.sub(r"[_ ]?(id|no|nr|name|number)$", "", n.lower()) or n.lower(): n for n in types}
    whole = {name.lower(): name for name in types}
    for usual in NAMES[what]:
        for names in (whole, plain):
            if usual in names:
                yield names[usual]


def _keys(
    frame: "pd.DataFrame", types: dict[str, str], time: str, rest: list[str]
) -> tuple[str, str]:
    """The columns of objects and systems: by name, else those that make each row unique."""
    fit = {name: types[name] for name in rest}
    system = next(iter(_named(fit, "system")), "")
    item = next((name for name in _named(fit, "object") if name != system), "")
    labels = [n for n in rest if _is_label(frame[n], types[n]) and n not in (system, item)]
    if not item:
        texts = [name for name in labels if types[name] == "texts"]
        others = [name for name in labels if name not in texts]
        item = next((n for n in texts + others if _is_unique(frame, [system, n, time])), "")
        item = item or (texts[0] if texts else "")
    if not system and item and not _is_unique(frame, [item, time]):
        left = [name for name in labels if name != item]
        system = next((n for n in left if _is_unique(frame, [n, item, time])), "")
    return item, system


def _is_label(series: "pd.Series[Any]", kind: str) -> bool:
    """Whether a column may tell things apart: texts or whole numbers that repeat."""
    if kind == "texts":
        return bool(series.nunique() < len(series))
    if kind != "numbers" or series.dtype.kind not in "iu":
        return False
    return bool(1 < series.nunique() < len(series) / 2)


def _is_unique(frame: "pd.DataFrame", columns: list[str]) -> bool:
    return not bool(frame.duplicated([name for name in columns if name]).any())


def _changes(frame: "pd.DataFrame", keys: list[str], column: str) -> str:
    """Whether a column changes within an object: never, hardly or often."""
    if not keys:
        return "often"
    different = frame.groupby(keys, sort=False, observed=True)[column].nunique()
    if different.max() <= 1 and len(frame) > len(different):
        return "never"
    return "hardly" if different.median() <= 2 and len(frame) > 20 * len(different) else "often"


def _holds_splits(series: "pd.Series[Any]") -> bool:
    return set(map(str, series.dropna().unique()[:10])) <= set(SPLITS)
