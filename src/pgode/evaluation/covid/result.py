"""`TotalScores`: what a table of window totals needs of one model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pgode.data.files.covid.days import Days
from pgode.evaluation.covid.baselines import BASELINES, baseline_totals
from pgode.evaluation.covid.scores import Spread, scored
from pgode.evaluation.evaluation import ScoreTable


@dataclass(frozen=True)
class TotalScores:
    """Scores of a model and of the baselines, and the residuals behind the model's quantiles.

    A model that was trained only to choose a learning rate has residuals alone: it has not seen the
    validation windows, and its residuals there are the spread of the final model.
    """

    model: ScoreTable = field(default_factory=ScoreTable)
    naive: Mapping[str, ScoreTable] = field(default_factory=dict)
    spread: Spread = field(default_factory=dict)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "TotalScores":
        """Read back what `to_json` wrote."""
        return cls(
            ScoreTable.from_json(content["model"]),
            {name: ScoreTable.from_json(table) for name, table in content["naive"].items()},
            {int(horizon): np.array(values) for horizon, values in content["spread"].items()},
        )

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "model": self.model.to_json(),
            "naive": {name: table.to_json() for name, table in self.naive.items()},
            "spread": {str(horizon): values.tolist() for horizon, values in self.spread.items()},
        }


def baseline_scores(days: Days) -> dict[str, ScoreTable]:
    """The scores of all baselines."""
    return {
        name: scored(baseline_totals(days, forecast), days)
        for name, (_, forecast) in BASELINES.items()
    }
