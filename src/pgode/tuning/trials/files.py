"""A trial on disk: a run folder with its plan (`trial.json`) and its result (`result.json`)."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from pgode.runtime.stored.schema import Stored, parsed
from pgode.runtime.stored.sealed import read_sealed, write_sealed
from pgode.tuning.space.domains import Value
from pgode.tuning.trials.stored import StoredPlan, StoredResult

PLAN, RESULT = "trial.json", "result.json"
State = Literal["complete", "pruned", "failed"]


@dataclass(frozen=True)
class TrialPlan:
    """Everything that determines a trial, written before it starts.

    `history` are the validation errors, epoch by epoch, of the trials that were complete when it
    was planned. Pruning compares with these alone, so a trial that is stopped and continued is
    pruned at the same epoch as one that is not.
    """

    index: int
    values: dict[str, Value]
    config: dict[str, Any]
    data_hash: str
    source: str
    history: tuple[tuple[float, ...], ...]
    warm_up: int | None
    """The first epoch after which it may be pruned; None: never."""

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "TrialPlan":
        """Read back what `to_json` made."""
        history = tuple(tuple(_number(each) for each in curve) for curve in content["history"])
        return cls(**{**content, "history": history})

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; infinite errors are null."""
        return {**asdict(self), "history": [_plain(curve) for curve in self.history]}


@dataclass(frozen=True)
class TrialResult:
    """How a trial ended. `errors` are the validation errors of its epochs."""

    index: int
    state: State
    errors: tuple[float, ...]
    seconds: float
    parameters: int
    """Trained numbers of the model."""
    reason: str = ""
    """Why it failed."""

    @property
    def error(self) -> float:
        """The lowest validation error, that of the weights which a run keeps."""
        return min(self.errors, default=math.inf)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "TrialResult":
        """Read back what `to_json` made."""
        return cls(**{**content, "errors": tuple(_number(each) for each in content["errors"])})

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; infinite errors are null."""
        return {**asdict(self), "errors": _plain(self.errors)}


@dataclass(frozen=True)
class Trial:
    """A planned trial, with its result if it has ended."""

    plan: TrialPlan
    result: TrialResult | None

    @property
    def complete(self) -> bool:
        """Whether it was trained to the end."""
        return self.result is not None and self.result.state == "complete"

    @property
    def error(self) -> float:
        """Its lowest validation error; infinite while there is none."""
        return math.inf if self.result is None else self.result.error


def trial_folder(folder: Path, index: int) -> Path:
    """The run folder of a trial."""
    return folder / "trials" / f"{index:04d}"


def read_trials(folder: Path) -> list[Trial]:
    """All trials of a tuning folder, in their order."""
    paths = sorted((folder / "trials").glob(f"*/{PLAN}"))
    return sorted((read_trial(path.parent) for path in paths), key=lambda trial: trial.plan.index)


def read_trial(path: Path) -> Trial:
    """The trial in a run folder."""
    plan = TrialPlan.from_json(_read(path / PLAN, StoredPlan))
    if not (path / RESULT).exists():
        return Trial(plan, None)
    return Trial(plan, TrialResult.from_json(_read(path / RESULT, StoredResult)))


def write_plan(plan: TrialPlan, path: Path) -> None:
    """Write the plan of the trial in this folder."""
    write_sealed(path / PLAN, plan.to_json())


def write_result(result: TrialResult, path: Path) -> None:
    """Write the result of the trial in this folder: from then on it has ended."""
    write_sealed(path / RESULT, result.to_json())


def _read(path: Path, form: type[Stored]) -> dict[str, Any]:
    fix = (
        f"Expected the file that pgode tune wrote there. Remove the folder {path.parent.name} of "
        f"that trial; it is then run again."
    )
    content = read_sealed(path, fix)
    parsed(form, content, str(path), fix)
    return content


def _plain(curve: tuple[float, ...]) -> list[float | None]:
    return [each if math.isfinite(each) else None for each in curve]


def _number(value: Any) -> float:
    return math.inf if value is None else float(value)
