"""COVID-19 without networks: baselines in December, and how settings were chosen before it.

python -m benchmarks.covid baselines REPORTS [--neighbours FILE]   # naive rows, linear regression
python -m benchmarks.covid choice REPORTS                          # four cut-offs before December

REPORTS is a folder of daily reports or one CSV file with all days, see pgode data covid. FILE is a
table of pairs of postal codes (StateCode,NeighborStateCode) that the table of borders is compared
with. `choice` fits PGODE's regression of the past with several settings to the days before each
cut-off, and scores windows of the five weeks after it; nothing later than 11-28 is read.
"""

import argparse
import csv
import sys
from collections.abc import Mapping
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch, Windows
from pgode.data.files.covid import CovidSettings, Days, build, read_source
from pgode.data.files.covid.states import STATES
from pgode.evaluation.covid.baselines import BASELINES
from pgode.evaluation.covid.quantiles import around, coverage, residual_quantiles
from pgode.evaluation.covid.result import baseline_scores
from pgode.evaluation.covid.scores import mean_absolute, root_mean_square
from pgode.evaluation.covid.totals import ByHorizon, validation_totals
from pgode.evaluation.covid.windows import HORIZONS
from pgode.models.forecaster import Forecast, Forecaster, ModelConfig
from pgode.models.pgode.linear_past import LinearPast, LinearPastConfig

CUT_OFFS = tuple(map(date.fromisoformat, ("2020-09-24", "2020-10-16", "2020-11-07", "2020-11-28")))
"""Last days of the validation windows; training ends 33 days earlier."""
TWO = ("confirmed", "deaths")
CHOICES: Mapping[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "chosen": ({}, {}),
    "with a constant": ({}, {"constant": True}),
    "ridge 0.001": ({}, {"ridge": 0.001}),
    "ridge 0.03": ({}, {"ridge": 0.03}),
    "four past weeks": ({}, {"lags": 4}),
    "every third day": ({}, {"spacing": 3}),
    "no transform": ({"transform": ""}, {}),
    "log1p": ({"transform": "log1p"}, {}),
    "all five features": ({"features": CovidSettings().features}, {}),
}
"""Changes of the data and of the regression."""


class Alone(Forecaster):
    """The regression of the past, without networks."""

    def __init__(self, config: LinearPastConfig, training: Windows) -> None:
        super().__init__(ModelConfig(), training.normaliser)
        self.linear = LinearPast(config.settled(training), training.normaliser)
        self.linear.fit(training)

    def forecast(self, batch: Batch, times: torch.Tensor, samples: int = 0) -> Forecast:
        """The mean alone."""
        changes = self.linear(times[batch.system].T, batch).transpose(0, 1)
        mean = self.linear.last(batch).unsqueeze(1) + changes
        return Forecast(mean, mean.new_empty(0, *mean.shape))


def baselines(reports: Path, neighbours: Path | None) -> int:
    """Print the scores of all baselines in both protocols."""
    days = Days.of_reports(read_source(reports, date(2020, 12, 31)))
    tables = baseline_scores(days)
    for protocol in ("test", "weeks"):
        for name, table in tables.items():
            rows = (table.row(protocol, horizon) for horizon in HORIZONS)
            cells = "  ".join(f"{row['mae']:6.1f} / {row['rmse']:5.1f}" for row in rows)
            print(f"{protocol:6} {BASELINES[name][0]:34} {cells}")
    return 0 if neighbours is None else _compare(neighbours)


def _compare(file: Path) -> int:
    """Pairs of states that only one of the two tables has; 1 if there are others than expected."""
    known = {state.code for state in STATES}
    ours = {frozenset((state.code, code)) for state in STATES for code in state.neighbours}
    with file.open(newline="") as opened:
        pairs = {frozenset(row) for row in list(csv.reader(opened))[1:]}
    theirs = {pair for pair in pairs if pair <= known}
    print("only in the file:", sorted("-".join(sorted(pair)) for pair in theirs - ours))
    print("only in ours:", sorted("-".join(sorted(pair)) for pair in ours - theirs))
    expected = {frozenset(("AK", "WA")), frozenset(("CA", "HI"))}
    return 0 if theirs - ours <= expected and not ours - theirs else 1


def choice(reports: Path) -> int:
    """Print the error of each choice, averaged over cut-offs, and coverage from one to the next."""
    days = [Days.of_reports(read_source(reports, until)) for until in CUT_OFFS]
    for name, (data, linear) in CHOICES.items():
        found = [_validated(each, data, linear) for each in days]
        cells = []
        for horizon in HORIZONS:
            pairs = [(forecast[horizon], truth[horizon]) for forecast, truth in found]
            mae = np.mean([mean_absolute(*pair) for pair in pairs])
            rmse = np.mean([root_mean_square(*pair) for pair in pairs])
            cells.append(f"{mae:5.1f} / {rmse:5.1f}")
        held = [
            coverage(around(now[0][h], residual_quantiles(past[0][h], past[1][h])), now[1][h], 90)
            for past, now in pairwise(found)
            for h in HORIZONS
        ]
        print(f"{name:20} {'  '.join(cells)}  held {np.mean(held):.0f} %", flush=True)
    return 0


def _validated(
    days: Days, data: Mapping[str, Any], linear: Mapping[str, Any]
) -> tuple[ByHorizon, ByHorizon]:
    settings = {"average": 7, "transform": "sqrt", "features": TWO, **data}
    made = build(days, CovidSettings(**settings))
    training = made.split_of("train")
    windows = Windows(training, Normaliser.fit(training), 42, 21)
    config = LinearPastConfig(**{"spacing": 7, "constant": False, **linear})
    model = Alone(config, windows)
    return validation_totals(model, made, model.normaliser, days, 7)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    commands = parser.add_subparsers(dest="command", required=True)
    scores = commands.add_parser("baselines")
    scores.add_argument("reports", type=Path)
    scores.add_argument("--neighbours", type=Path)
    commands.add_parser("choice").add_argument("reports", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.command == "choice":
        return choice(arguments.reports)
    return baselines(arguments.reports, arguments.neighbours)


if __name__ == "__main__":
    sys.exit(main())
