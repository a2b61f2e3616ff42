"""The result of a search: its trials, the best of them, and what mattered."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgode.runs.run import Run
from pgode.runtime.errors import InputError
from pgode.tuning.record import TuningRecord
from pgode.tuning.space.domains import space_json
from pgode.tuning.trials.files import Trial


@dataclass(frozen=True)
class Tuning:
    """Every ended trial of a tuning folder, in the order they were planned.

    `importance` is the share of each setting in which trials are among the best; empty where they
    are too few. `preset` is the trial with the settings that the search started from.
    """

    folder: Path
    record: TuningRecord
    trials: Sequence[Trial]
    importance: Mapping[str, float]
    lost: Mapping[int, str]
    """Trials that ended without a result in this session, and why; they can be run again."""
    exhausted: bool
    """Whether every combination of the space has been tried."""
    preset: Trial | None

    @property
    def ranked(self) -> list[Trial]:
        """Complete trials, the lowest validation error first."""
        complete = [trial for trial in self.trials if trial.complete]
        return sorted(complete, key=lambda trial: (trial.error, trial.plan.index))

    @property
    def best(self) -> Trial:
        """The complete trial with the lowest validation error."""
        if self.ranked:
            return self.ranked[0]
        reasons = [trial.result.reason for trial in self.trials if trial.result is not None]
        why = next(iter([*reasons, *self.lost.values()]), "")
        raise InputError(
            f"no trial in {self.folder} was trained to the end. Expected at least one. Run the "
            f"same command again, or start one with other settings in another folder. The first "
            f"of {len(self.trials) + len(self.lost)} said: {why}"
        )

    @property
    def best_folder(self) -> Path:
        """The run folder of the best trial."""
        return self.folder / "best"

    @property
    def run(self) -> Run:
        """The best run, opened."""
        return Run.open(self.best_folder)

    @property
    def counts(self) -> dict[str, int]:
        """How many trials ended in which state."""
        states = Counter(trial.result.state for trial in self.trials if trial.result is not None)
        return {state: states[state] for state in ("complete", "pruned", "failed")}

    def to_json(self) -> dict[str, Any]:
        """Plain JSON: one entry for each trial."""
        return {
            "model": self.record.config.name,
            "preset": self.record.config.preset,
            "data_hash": self.record.data_hash,
            "epochs": self.record.epochs,
            "seed": self.record.seed,
            "space": space_json(self.record.space),
            "best": self.best.plan.index,
            "importance": dict(self.importance),
            "trials": [
                {"settings": dict(trial.plan.values), **trial.result.to_json()}
                for trial in self.trials
                if trial.result is not None
            ],
        }
