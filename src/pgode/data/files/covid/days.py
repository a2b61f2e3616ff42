"""`Days`: what is known of every state on every day, from reports or from a data set of them."""

import json
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np
from jaxtyping import Float

from pgode.data.files.covid.reports import FIRST, Reports
from pgode.data.files.covid.states import PLACE, STATES
from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError

GENERATOR = "pgode data covid"
COUNTS = ("confirmed", "deaths", "recovered")
UNITS = {
    **dict.fromkeys(COUNTS, "people/day"),
    "mortality_rate": "%",
    "testing_rate": "tests per 100000 people",
}
FEATURES = tuple(UNITS)
"""Those of the published comparison."""

Daily = Float[np.ndarray, "day state"]


@dataclass(frozen=True)
class Days:
    """Daily increments of counts, never negative, and rates; NaN where unknown."""

    values: Float[np.ndarray, "day state feature"]
    population: Float[np.ndarray, " state"]
    places: Float[np.ndarray, "state 2"]
    """Latitude and longitude in degrees."""
    origin: dict[str, str]
    """Source, vintage and hash of the reports."""

    @classmethod
    def of_reports(cls, reports: Reports) -> "Days":
        """Differences of the counts of successive days."""
        columns = []
        for name in FEATURES:
            column = reports.column(name)
            if name in COUNTS:
                change = np.full_like(column, np.nan)
                change[1:] = np.maximum(np.diff(column, axis=0), 0.0)
                column = change
            columns.append(column)
        origin = {
            "source": reports.source,
            "vintage": reports.vintage,
            "source_hash": reports.hash,
        }
        places = np.stack([_median(reports.column(name)) for name in ("lat", "lon")], axis=1)
        return cls(np.stack(columns, axis=-1), _population(reports), places, origin)

    @classmethod
    def of_data(cls, data: Trajectories, source: str = "the data") -> "Days":
        """Back from a data set of daily increments with all features."""
        settings: dict[str, Any] = json.loads(data.dataset.attrs["generator_settings"])
        made = data.dataset.attrs["generator"] == GENERATOR
        if not made or settings.get("average") != 1 or data.features != FEATURES:
            raise InputError(
                f"{source} is not a data set of daily reports. Expected one that pgode data covid "
                f"wrote, without --average and --features. Make it again with pgode data covid -o "
                f"FILE."
            )
        names = [data.object_label(0, place) for place in range(data.objects)]
        order = np.argsort([PLACE[name] for name in names])
        days = int(np.nanmax(data.times)) + 1
        values = np.full((days, len(STATES), len(FEATURES)), np.nan)
        for system in range(data.systems):
            count = int(data.n_frames[system])
            when = data.times[system, :count].astype(int)
            values[when] = data.states[system, :, :count].swapaxes(0, 1)[:, order]
        constants = data.constants[0, order]
        origin = {key: settings[key] for key in ("source", "vintage", "source_hash")}
        return cls(values, constants[:, 0], constants[:, 1:3], origin)

    @property
    def last(self) -> date:
        """The last day."""
        return FIRST + timedelta(days=len(self.values) - 1)

    def daily(self, name: str) -> Daily:
        """One feature of all days."""
        return np.asarray(self.values[:, :, FEATURES.index(name)])

    def averaged(self, name: str, days: int) -> Daily:
        """Means of a count over the last `days` days, the day itself among them."""
        daily = self.daily(name)
        if days == 1:
            return daily
        found = np.full_like(daily, np.nan)
        windows = np.lib.stride_tricks.sliding_window_view(daily, days, axis=0)
        found[days - 1 :] = windows.mean(-1)
        return found


def day_number(day: date) -> int:
    """Days since the first report."""
    return (day - FIRST).days


def _population(reports: Reports) -> Float[np.ndarray, " state"]:
    """Confirmed cases over cases per 100,000 people, the median over days; NaN if unknown."""
    confirmed, rate = reports.column("confirmed"), reports.column("incident_rate")
    with np.errstate(invalid="ignore", divide="ignore"):
        return _median(np.where(rate > 0, confirmed / rate * 1e5, np.nan))


def _median(column: Daily) -> Float[np.ndarray, " state"]:
    """The median over days of each state; NaN for a state without any value."""
    known = np.isfinite(column).any(0)
    found = np.full(column.shape[1], np.nan)
    found[known] = np.nanmedian(column[:, known], axis=0)
    return found
