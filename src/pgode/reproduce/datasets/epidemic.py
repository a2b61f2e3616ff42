"""COVID-19: a file that the user obtains, from which every trial derives what it needs.

A model is trained twice. The first training leaves out the validation windows; they choose its
learning rate, and its residuals there are the spread of its quantiles. The second one sees all days
before the test days, since the last weeks matter most.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pgode.data import files
from pgode.data.files.covid import CovidSettings, Days, build
from pgode.data.trajectories import Trajectories
from pgode.evaluation.covid.quantiles import residual_quantiles
from pgode.evaluation.covid.result import TotalScores, baseline_scores
from pgode.evaluation.covid.scores import Spread, scored
from pgode.evaluation.covid.totals import forecast_totals, validation_totals
from pgode.evaluation.covid.windows import HORIZONS
from pgode.reproduce.datasets.dataset import ALONE, Dataset, Resources, Sizes
from pgode.runs.run import Run
from pgode.runtime.errors import InputError


@dataclass(frozen=True)
class ReportedEpidemic(Dataset):
    """Daily reports as means over a week, seen by models under a square root.

    All models see the same: deaths and confirmed cases, six weeks of them. A square root makes the
    errors of small and large states comparable, as weights 1/sqrt(y) do in a regression.
    """

    sizes: ClassVar[Mapping[str, Sizes]] = dict.fromkeys(
        ("smoke", "quick", "paper"), Sizes(1, 1, 1)
    )

    horizons: tuple[int, ...] = HORIZONS
    variables: tuple[str, ...] = ("mae", "rmse")
    curriculum: tuple[tuple[float, int], ...] = ()
    batch: int = 8
    digits: int = 0
    condition: int = 42
    splits: tuple[str, ...] = ("test",)
    starts: str = "all"
    stride: int = 3
    settings: tuple[tuple[str, Any], ...] = (
        ("model.width", 32),
        ("model.solver.method", "euler"),
    )
    average: int = 7

    @property
    def tuning_horizon(self) -> int:
        """The longest: validation windows have it."""
        return self.horizon

    def file(self, budget: str, root: Path) -> Path:
        """The same at all budgets: there is one epidemic."""
        return root / "data" / f"{self.name}.nc"

    def is_ready(self, budget: str, root: Path) -> bool:
        """Whether the file exists."""
        return self.file(budget, root).exists()

    def make(self, budget: str, root: Path, resources: Resources = ALONE) -> Path:
        """Nothing can be made: the error says how to obtain the file."""
        path = self.file(budget, root)
        if not path.exists():
            raise InputError(
                f"{path} does not exist. Expected the daily reports of COVID-19, which are public "
                f"but not part of pgode. Obtain them with pgode data covid -o {path} (with "
                f"--source FOLDER if you have them already), then start again."
            )
        return path

    def read(self, budget: str, root: Path) -> Trajectories:
        """All days before the test days for training, and the test days."""
        return build(self._days(budget, root), self._settings(validation=0))

    def read_tuning(self, budget: str, root: Path) -> Trajectories:
        """With validation windows, and training days that end before they forecast."""
        return build(self._days(budget, root), self._settings(validation=5))

    def spread(self, run: Run, budget: str, root: Path) -> TotalScores:
        """Residuals of a run on the validation windows that it was not trained on."""
        days, data = self._days(budget, root), self.read_tuning(budget, root)
        forecast, truth = validation_totals(
            run.model, run.conform(data), run.normaliser, days, self.average
        )
        return TotalScores(spread={h: residual_quantiles(forecast[h], truth[h]) for h in forecast})

    def totals(self, run: Run, budget: str, root: Path, spread: Spread | None) -> TotalScores:
        """Scores of a run's totals, with quantiles if a spread is known."""
        days, data = self._days(budget, root), self.read(budget, root)
        condition = run.config.window.condition
        found = forecast_totals(
            run.model, run.conform(data), run.normaliser, days, condition, self.average
        )
        return TotalScores(scored(found, days, spread or None), baseline_scores(days), spread or {})

    def _days(self, budget: str, root: Path) -> Days:
        path = self.make(budget, root)
        return Days.of_data(files.read(path), str(path))

    def _settings(self, validation: int) -> CovidSettings:
        return CovidSettings(
            average=self.average,
            transform="sqrt",
            features=("confirmed", "deaths"),
            validation=validation,
            condition=self.condition,
            horizon=self.horizon,
        )
