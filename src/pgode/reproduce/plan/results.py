"""The numbers of a finished trial, and the file that holds them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgode.evaluation.covid.result import TotalScores
from pgode.evaluation.evaluation import Evaluation
from pgode.reproduce.plan.stored import StoredResult
from pgode.reproduce.plan.trials import Trial
from pgode.runtime.errors import InputError
from pgode.runtime.stored.schema import parsed
from pgode.runtime.stored.sealed import read_sealed, write_sealed

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

FIX = "Remove the file and train again, or choose another folder with -o."

IN_RESULT = ("model", "data_hash")
"""Parts that are fields of the result itself."""


@dataclass(frozen=True)
class Result:
    """The numbers of a finished trial, and how they were made."""

    trial: Trial
    validation: float | None
    """Lowest validation error of all epochs; None if the loss stopped being finite."""
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
    totals: TotalScores | None = None
    """Scores of window totals, where the data set is judged by them."""

    @property
    def diverged(self) -> bool:
        """Whether the loss stopped being finite."""
        return self.validation is None and self.evaluation is None and self.totals is None

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "Result":
        """Read back what `to_json` made."""
        trial, scores = Trial.from_json(content["trial"]), content["evaluation"]
        shared = {"model": trial.model, "data_hash": content["data_hash"]}
        evaluation = None if scores is None else Evaluation.from_json(LEFT_OUT | shared | scores)
        totals = content.get("totals")
        return cls(
            **{
                **content,
                "trial": trial,
                "evaluation": evaluation,
                "totals": totals and TotalScores.from_json(totals),
            }
        )

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        scores = None if self.evaluation is None else self.evaluation.to_json()
        if scores is not None:
            scores = {k: v for k, v in scores.items() if k not in LEFT_OUT and k not in IN_RESULT}
        content = {**vars(self), "trial": self.trial.to_json(), "evaluation": scores}
        if self.totals is None:  # Results of other data sets stay as they are.
            del content["totals"]
            return content
        return {**content, "totals": self.totals.to_json()}


def result_file(trial: Trial, root: Path) -> Path:
    """Path of a trial's result, which exists once the trial is finished."""
    return root / "results" / f"{trial.key}.json"


def write_result(result: Result, root: Path) -> None:
    """Store the result of a trial."""
    write_sealed(result_file(result.trial, root), result.to_json())


def read_result(trial: Trial, root: Path) -> Result | None:
    """The result of a trial; None if it is not finished."""
    path = result_file(trial, root)
    if not path.exists():
        return None
    result = _read(path)
    if result.trial.key != trial.key:
        raise InputError(
            f"{path} holds the result of another trial ({result.trial.description}). Expected "
            f"that of {trial.description}. {FIX}"
        )
    return result


def all_results(root: Path) -> dict[str, Result]:
    """Every stored result of a folder, by the name of its file."""
    paths = sorted((root / "results").glob("*.json"))
    return {path.stem: _read(path) for path in paths if not path.name.startswith("cost-")}


def _read(path: Path) -> Result:
    content = read_sealed(path, FIX)
    parsed(StoredResult, content, str(path), f"Older versions have another layout. {FIX}")
    try:
        return Result.from_json(content)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"cannot read {path}: {type(error).__name__} {error}. Expected a result as this "
            f"version writes it; older ones have another layout. {FIX}"
        ) from None
