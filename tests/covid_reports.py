"""Made-up daily reports in the format of the public ones, with both sets of column names."""

import csv
from datetime import date, timedelta
from pathlib import Path

import numpy as np

from pgode.data.files.covid.reports import FIRST, report_name
from pgode.data.files.covid.states import STATES

OLD = (
    *("Province_State", "Country_Region", "Last_Update", "Lat", "Long_", "Confirmed", "Deaths"),
    *("Recovered", "Active", "FIPS", "Incident_Rate", "People_Tested", "People_Hospitalized"),
    *("Mortality_Rate", "UID", "ISO3", "Testing_Rate", "Hospitalization_Rate"),
)
NEW = [
    {"People_Tested": "Total_Test_Results", "Mortality_Rate": "Case_Fatality_Ratio"}.get(name, name)
    for name in OLD
]
CHANGED = date(2020, 5, 1)
"""From this day on the reports have the later names."""
OTHERS = ("District of Columbia", "Guam", "Diamond Princess")
"""Rows that are of no state."""


def population(place: int) -> float:
    return 1e6 * (place + 1)


def deaths_of(place: int, day: int) -> float:
    """Deaths so far: they grow by place + 1 a day, and a weekly rhythm adds up to nothing."""
    return float((place + 1) * day + (place % 5) * (day % 7 in (2, 3)))


def row(name: str, place: int, day: int) -> dict[str, object]:
    confirmed = 50.0 * (place + 1) * (day + 1)
    when = FIRST + timedelta(days=day)
    people = population(place)
    return {
        "Province_State": name,
        "Country_Region": "US",
        "Last_Update": f"{when} 23:18:15",
        "Lat": 30 + place / 3,
        "Long_": -100 - place / 2,
        "Confirmed": int(confirmed),
        "Deaths": int(deaths_of(place, day)),
        "Recovered": "" if place == 3 else 20 * day,
        "FIPS": place,
        "Incident_Rate": confirmed / people * 1e5,
        "People_Tested": 1000 * day,
        "Mortality_Rate": 2.5,
        "Testing_Rate": 10.0 * day,
    }


def write_reports(
    folder: Path, days: int, missing: tuple[str, int] | None = None, start: int = 0
) -> Path:
    """One file per day; `missing` is a state that has no row on one day."""
    folder.mkdir(parents=True, exist_ok=True)
    for day in range(start, days):
        when = FIRST + timedelta(days=day)
        header = NEW if when >= CHANGED else OLD
        with (folder / report_name(when)).open("w", newline="") as file:
            table = csv.writer(file)
            table.writerow(header)
            for place, name in enumerate([state.name for state in STATES]):
                if missing != (name, day):
                    content = row(name, place, day)
                    table.writerow([content.get(column, "") for column in OLD])
            for name in OTHERS:
                content = row(name, 7, day)
                table.writerow([content.get(column, "") for column in OLD])
    return folder


def write_compact(path: Path, days: int, seed: int = 0) -> Path:
    """One file of all days, with noise, as long as the whole year is needed."""
    random = np.random.default_rng(seed)
    names = "date,state,fips,lat,lon,confirmed,deaths,recovered,incident_rate"
    names += ",mortality_rate,testing_rate"
    size = np.arange(1, len(STATES) + 1)
    wave = 1 + 0.5 * np.sin(np.arange(days) / 25)
    confirmed = random.poisson(40 * wave[:, None] * size).cumsum(0)
    deaths = random.poisson(wave[:, None] * size).cumsum(0)
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(names.split(","))
        for day in range(days):
            when = FIRST + timedelta(days=day)
            for place, state in enumerate(STATES):
                cases = confirmed[day, place]
                table.writerow(
                    [
                        *(when, state.name, state.fips, 30 + place / 3, -100 - place / 2),
                        *(cases, deaths[day, place], "", cases / population(place) * 1e5, 2.0, day),
                    ]
                )
    return path
