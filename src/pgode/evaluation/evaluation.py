"""`Evaluation`: the scores of a model's forecasts on one data set.

`pgode evaluate`, reports and the reproduced tables all read this object and write its JSON.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from pgode.evaluation.stored_floor import checked_floor
from pgode.evaluation.worst import Worst
from pgode.training.gate_use import GateUse

Cells = Mapping[str, Mapping[int, Mapping[str, float | None]]]
Names = Mapping[str, Mapping[int, Mapping[str, str]]]
"""By split, horizon and column: the name of a model."""
Curves = Mapping[str, Mapping[str, list[float | None]]]
"""By split and variable: a value for each forecast frame, None where the truth is unknown."""


@dataclass(frozen=True)
class ScoreTable:
    """One score by split, horizon (frames) and column: a variable (q, v) or a feature (qx, ...).

    A cell is None where no true value is known.
    """

    cells: Cells = field(default_factory=dict)

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits, in order."""
        return tuple(self.cells)

    @property
    def horizons(self) -> tuple[int, ...]:
        """The horizons of all splits, shortest first."""
        return tuple(sorted({h for rows in self.cells.values() for h in rows}))

    @property
    def columns(self) -> tuple[str, ...]:
        """The variables and features, in order of first appearance."""
        rows = (row for split in self.cells.values() for row in split.values())
        return tuple(dict.fromkeys(name for row in rows for name in row))

    def at(self, split: str, horizon: int, column: str) -> float | None:
        """One score; None where the truth is unknown or the table has no such cell."""
        return self.cells.get(split, {}).get(horizon, {}).get(column)

    def row(self, split: str, horizon: int) -> dict[str, float | None]:
        """The scores of one split and horizon, by column."""
        return dict(self.cells.get(split, {}).get(horizon, {}))

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "ScoreTable":
        """Read back what `to_json` wrote."""
        return cls(
            {
                split: {int(h): dict(row) for h, row in rows.items()}
                for split, rows in content.items()
            }
        )

    def to_json(self) -> dict[str, Any]:
        """Nested dictionaries: split, horizon, column."""
        return {
            split: {str(h): dict(row) for h, row in rows.items()}
            for split, rows in self.cells.items()
        }


@dataclass(frozen=True)
class NoiseFloor:
    """The irreducible error, estimated from replicas, and how close a model comes to it.

    `mse` is the floor in scaled units; `rmsd`, by split, is the floor of the RMSD after
    superposition at each forecast frame, in data units. `model` and `last_value` are errors on the
    systems with replicas only. `share` of the achievable improvement is (last value - model) /
    (last value - floor) on these systems, `share_low` and `share_high` its 90 % range. All five are
    None where only the floor was computed.
    """

    mse: ScoreTable
    rmsd: dict[str, list[float]]
    conditions: int
    replicas: int
    model: ScoreTable | None = None
    last_value: ScoreTable | None = None
    share: ScoreTable | None = None
    share_low: ScoreTable | None = None
    share_high: ScoreTable | None = None

    @classmethod
    def from_json(cls, content: Mapping[str, Any], where: str = "the noise floor") -> "NoiseFloor":
        """Read back what `to_json` wrote; `where` names it in errors."""
        content = checked_floor(content, where)
        tables = {name: _table(content.get(name)) for name in _FLOOR_TABLES}
        return cls(
            mse=ScoreTable.from_json(content["mse"]),
            rmsd={
                split: [float(value) for value in values]
                for split, values in content["rmsd"].items()
            },
            conditions=int(content["conditions"]),
            replicas=int(content["replicas"]),
            **tables,
        )

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {each.name: _plain(getattr(self, each.name)) for each in fields(self)}


_FLOOR_TABLES = ("model", "last_value", "share", "share_low", "share_high")


@dataclass(frozen=True)
class Training:
    """How the evaluated model was trained: settings, data, seed and cost."""

    config: dict[str, Any]
    data_hash: str
    seed: int
    seconds_per_epoch: float | None = None
    peak_memory_gb: float | None = None

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Training":
        """Read back what `to_json` wrote."""
        return cls(**content)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


@dataclass(frozen=True)
class Evaluation:
    """Scores of a model and of the naive models, by metric; see `pgode.evaluation.scores.METRICS`.

    `naive` has the scores of the naive models, by name and metric. `reference` names the best naive
    model of each cell (split, horizon and column), and `skill` is 1 - mse / its mse. `raw` has the
    scores in the data's own units, by model and metric, and `units` the unit of each column.
    `curves` are mean squared errors at single frames, by model;
    `curve_low` and `curve_high` are the 10 % and 90 % quantiles of the model's error over windows.
    `energy_drift` is by split and then "forecast" or "truth". `samples` is 0 if probabilistic
    scores were omitted; `seconds` is the time of all forecasts of the model, and `evaluations` the
    number of right-hand-side evaluations of one forecast. `known_law` is
    the mean squared error of the law that simulated the data, see `pgode.evaluation.known_law`;
    `gate_use` says by split how many prototypes a model with a gate uses. `worst` lists systems and
    objects with the largest errors, by split; `origins` says where windows start, `windows` how
    many there are of each split, and `omitted` which naive models were not scored, and why.
    """

    model: str
    horizons: tuple[int, ...]
    variables: tuple[str, ...]
    scores: dict[str, ScoreTable]
    naive: dict[str, dict[str, ScoreTable]]
    reference: Names
    skill: ScoreTable
    curves: dict[str, Curves]
    curve_low: Curves
    curve_high: Curves
    samples: int
    seed: int
    data_hash: str
    seconds: float
    evaluations: int
    energy_drift: dict[str, dict[str, float]] | None = None
    known_law: ScoreTable | None = None
    gate_use: dict[str, GateUse] | None = None
    noise_floor: NoiseFloor | None = None
    training: Training | None = None
    raw: dict[str, dict[str, ScoreTable]] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    worst: dict[str, Worst] = field(default_factory=dict)
    origins: str = "first"
    windows: dict[str, int] = field(default_factory=dict)
    omitted: dict[str, str] = field(default_factory=dict)

    @property
    def mse(self) -> ScoreTable:
        """Mean squared error of the mean forecast, in scaled units."""
        return self.scores["mse"]

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that were scored."""
        return self.mse.splits

    def score(self, metric: str) -> ScoreTable:
        """The scores by a metric; an empty table if it was not computed."""
        return self.scores.get(metric, ScoreTable())

    def naive_mse(self, model: str) -> ScoreTable:
        """Mean squared error of a naive model; an empty table if it was not scored."""
        return self.naive.get(model, {}).get("mse", ScoreTable())

    def best_naive(self, split: str, horizon: int, column: str) -> str | None:
        """The naive model with the lowest error of a cell; None where there is none."""
        return self.reference.get(split, {}).get(horizon, {}).get(column)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Evaluation":
        """Read back what `to_json` wrote, now or before `reference` was by cell."""
        scores = _tables(content["scores"])
        floor, training = content.get("noise_floor"), content.get("training")
        law, use = content.get("known_law"), content.get("gate_use")
        return cls(
            **{name: content[name] for name in _UNCHANGED},
            horizons=tuple(content["horizons"]),
            variables=tuple(content["variables"]),
            scores=scores,
            naive={name: _tables(scores) for name, scores in content["naive"].items()},
            reference=_names(content["reference"], scores["mse"]),
            skill=ScoreTable.from_json(content["skill"]),
            raw={name: _tables(scores) for name, scores in content.get("raw", {}).items()},
            units=dict(content.get("units", {})),
            worst={split: Worst.from_json(v) for split, v in content.get("worst", {}).items()},
            origins=content.get("origins", "first"),
            windows=dict(content.get("windows", {})),
            omitted=dict(content.get("omitted", {})),
            known_law=None if law is None else ScoreTable.from_json(law),
            gate_use=None if use is None else {k: GateUse.from_json(v) for k, v in use.items()},
            noise_floor=None if floor is None else NoiseFloor.from_json(floor),
            training=None if training is None else Training.from_json(training),
        )

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, horizons as text; a result of an earlier version as that wrote it."""
        content = {each.name: _plain(getattr(self, each.name)) for each in fields(self)}
        if self.windows:
            return content
        names = {
            n for rows in self.reference.values() for row in rows.values() for n in row.values()
        }
        kept = {key: value for key, value in content.items() if key not in _LATER}
        return kept | {"reference": names.pop() if len(names) == 1 else content["reference"]}


_LATER = ("raw", "units", "worst", "origins", "windows", "omitted")
"""Fields that results of earlier versions do not have."""

_UNCHANGED = (
    *("model", "curves", "curve_low", "curve_high", "samples", "seed", "data_hash"),
    *("seconds", "evaluations", "energy_drift"),
)
"""Fields that JSON stores unchanged."""


def _names(content: str | Mapping[str, Any], scored: ScoreTable) -> Names:
    """The reference of each cell; results of earlier versions have one for all of them."""
    if isinstance(content, str):
        return {
            split: {h: dict.fromkeys(row, content) for h, row in rows.items()}
            for split, rows in scored.cells.items()
        }
    return {
        split: {int(h): dict(row) for h, row in rows.items()} for split, rows in content.items()
    }


def _tables(content: Mapping[str, Any]) -> dict[str, ScoreTable]:
    return {name: ScoreTable.from_json(table) for name, table in content.items()}


def _table(content: Mapping[str, Any] | None) -> ScoreTable | None:
    return None if content is None else ScoreTable.from_json(content)


def _plain(value: Any) -> Any:
    """Tables, and containers of tables, as JSON types."""
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_plain(each) for each in value]
    return value
