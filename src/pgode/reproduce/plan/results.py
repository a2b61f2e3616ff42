"""The numbers of a finished trial, and the file that holds them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgode.evaluation.evaluation import Evaluation
from pgode.reproduce.plan.trials import Trial
from pgode.runtime.errors import InputError
from pgode.runtime.files import write_json

LEFT_OUT: dict[str, Any] = {
    "skill": {},
    "curves": {},
    "curve_low": {},
    "curve_high": {},
    "seconds": 0.0,
    "evaluations": 0,
    "training": None,
    "raw": {},
    "worst": {},
}
"""Parts of an `Evaluation` that no table needs, with the values they are read back as."""

IN_RESULT = ("model", "data_hash")
"""Parts that are fields of the result itself."""


@dataclass(frozen=True)
class Result:
    """The numbers of a finished trial, and how they were made."""

    trial: Trial
    validation: float | None
    """Lowest validation error of all epochs; None if none was finite."""
    epochs: int
    seconds_per_epoch: float
    memory_gb: float | None
    parameters: int
    threads: int | None
    data_hash: str
    pgode: str
    """The version that computed it."""
    evaluation: Evaluation | None = None
    """Without curves and probabilistic scores; None for a trial that chooses a learning rate."""

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "Result":
        """Read back what `to_json` made."""
        trial, scores = Trial.from_json(content["trial"]), content["evaluation"]
        shared = {"model": trial.model, "data_hash": content["data_hash"]}
        evaluation = None if scores is None else Evaluation.from_json(LEFT_OUT | shared | scores)
        return cls(**{**content, "trial": trial, "evaluation": evaluation})

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        scores = None if self.evaluation is None else self.evaluation.to_json()
        if scores is not None:
            scores = {k: v for k, v in scores.items() if k not in LEFT_OUT and k not in IN_RESULT}
        return {**vars(self), "trial": self.trial.to_json(), "evaluation": scores}


def result_file(trial: Trial, root: Path) -> Path:
    """Path of a trial's result, which exists once the trial is finished."""
    return root / "results" / f"{trial.key}.json"


def write_result(result: Result, root: Path) -> None:
    """Store the result of a trial."""
    write_json(result_file(result.trial, root), result.to_json())


def read_result(trial: Trial, root: Path) -> Result | None:
    """The result of a trial; None if it is not finished."""
    path = result_file(trial, root)
    if not path.exists():
        return None
    try:
        return Result.from_json(json.loads(path.read_text(encoding="utf-8")))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"cannot read {path}: {type(error).__name__} {error}. Expected a result as this "
            f"version writes it; older ones have another layout. Remove the file and train again, "
            f"or choose another folder with -o."
        ) from None
