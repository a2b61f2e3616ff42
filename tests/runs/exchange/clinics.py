"""A tiny run on an imported table with everything that a forecast must keep, made once for all.

Two regions (systems) of three clinics (objects) whose names have spaces and umlauts, dates, counts
that a model sees under a logarithm, a constant (beds) and an input that is known ahead (holiday).
"""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from pgode.data.files.table import from_table
from pgode.data.trajectories import Trajectories
from pgode.runs.run import Run
from pgode.runs.training import train
from pgode.training.config import run_config

CONDITION, HORIZON, DAYS = 6, 4, 60
REGIONS = ("Süd Tirol", "Øst 2")
CLINICS = ("Bad Ölz", "St. Anna, Haus 3", 'Köln "Mitte"')
SETTINGS = {
    "model.width": 8,
    "model.dynamics.prototypes": 2,
    "window.condition": CONDITION,
    "window.horizon": HORIZON,
    "training.epochs": 2,
    "training.batch": 4,
    "training.curriculum": [],
    "training.threads": 1,
}


@cache
def table() -> pd.DataFrame:
    """All rows, 60 days of them from 28 February 2020 on."""
    random = np.random.default_rng(4)
    rows = []
    for r, region in enumerate(REGIONS):
        for c, clinic in enumerate(CLINICS):
            cases = 50.0 * (1 + r) * (2 + c)
            for day in range(DAYS):
                date = np.datetime64("2020-02-28") + day
                holiday = (day + r) % 7 < 2
                cases *= np.exp(0.05 * np.sin(0.3 * day + c) + 0.02 * random.normal())
                count = round(cases * (0.8 if holiday else 1.0))
                rows.append((region, clinic, str(date), int(holiday), 100 * (c + 1), count))
    names = ["Region", "clinic", "date", "holiday", "beds", "new cases"]
    return pd.DataFrame(rows, columns=names)


@cache
def data() -> Trajectories:
    """The table as it is imported, cut into windows, split in time."""
    return from_table(
        table(),
        system="Region",
        object="clinic",
        time="date",
        features=["new cases"],
        static=["beds"],
        known=["holiday"],
        transform="log1p",
        edges="all",
        window=CONDITION + HORIZON,
        stride=2,
        split_time=(0.6, 0.2, 0.2),
    )


@cache
def run() -> Run:
    """A run of two epochs. Do not write into its folder."""
    folder = Path(tempfile.mkdtemp(prefix="pgode-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return train(data(), folder / "clinics", run_config(preset="messages", changes=SETTINGS))


def now(days: int = 8, ahead: int = HORIZON) -> pd.DataFrame:
    """The first days, then days with the known input and without cases."""
    dates = np.datetime64("2020-02-28") + np.arange(days + ahead)
    rows = table()[table()["date"].isin(dates.astype(str))].copy()
    rows.loc[rows["date"].isin(dates[days:].astype(str)), "new cases"] = np.nan
    return rows.reset_index(drop=True)
