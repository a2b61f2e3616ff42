"""From daily reports to trajectories: increments of counts, rates, graph and splits in time."""

import json
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from typing import Literal

import numpy as np
from jaxtyping import Float

from pgode.data.files.covid import graph
from pgode.data.files.covid.reports import FIRST, Reports
from pgode.data.files.covid.states import STATES
from pgode.data.labels.transforms import TRANSFORMS
from pgode.data.trajectories import Trajectories
from pgode.runtime.choices import check_int, one_of
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
TEST = date(2020, 11, 29)
"""The first day of the first test window; nothing from here on is trained on."""
STRIDE = 3
"""Days between two validation windows."""
Graph = Literal["neighbours", "gravity"]
GRAPHS: tuple[Graph, ...] = ("neighbours", "gravity")


@dataclass(frozen=True)
class CovidSettings:
    """How the reports become a data set.

    `average` is the number of days over which increments are averaged, all of them up to the day
    they belong to: 1 for daily increments as published, 7 to remove the rhythm of the week.
    `transform` is that of the counts; `features` are some of the published ones.
    `validation` windows of `condition` and `horizon` days end the training days; training then
    ends before the first day that they forecast. With 0, everything before December is trained on.
    """

    graph: Graph = "neighbours"
    average: int = 1
    transform: str = ""
    features: tuple[str, ...] = FEATURES
    validation: int = 5
    condition: int = 42
    horizon: int = 21

    def __post_init__(self) -> None:
        one_of("--graph", self.graph, dict.fromkeys(GRAPHS))
        one_of("--transform", self.transform, TRANSFORMS)
        for name in self.features:
            one_of("feature", name, FEATURES)
        if "deaths" not in self.features:
            raise InputError(
                f"the features {', '.join(self.features) or '(none)'} do not contain deaths. "
                f"Expected deaths, which are forecast, and any others of {', '.join(FEATURES)}. "
                f"Add them."
            )
        check_int("--average", self.average, 1)
        check_int("--validation", self.validation, 0)
        check_int("--condition", self.condition, 1)
        check_int("--horizon", self.horizon, 1)


def build(reports: Reports, settings: CovidSettings | None = None) -> Trajectories:
    """One system per stretch of days: the training days, each validation window, the test days.

    The test days begin with the condition of the first test forecast. Where the reports end before
    December there are none.
    """
    settings = settings or CovidSettings()
    states = _features(reports, settings)
    spans = _spans(reports, settings)
    longest = max(stop - start for _, start, stop in spans)
    shape = (len(spans), len(STATES), longest, states.shape[2])
    content, times = np.full(shape, np.nan), np.full((len(spans), longest), np.nan)
    for row, (_, start, stop) in enumerate(spans):
        content[row, :, : stop - start] = states[start:stop].swapaxes(0, 1)
        times[row, : stop - start] = np.arange(start, stop)
    population = _population(reports)
    edges = _edges(reports, settings.graph, population)
    names = settings.features
    transforms = [settings.transform if name in COUNTS else "" for name in names]
    return Trajectories.build(
        np.nan_to_num(content),
        times,
        edges=np.broadcast_to(edges, (len(spans), *edges.shape)),
        features=names,
        units=[UNITS[name] for name in names],
        observed=np.isfinite(content),
        transforms=transforms if settings.transform else None,
        split=[split for split, _, _ in spans],
        system_names=_names(spans),
        object_names=[[state.name for state in STATES]] * len(spans),
        constants=np.broadcast_to(population[None, :, None], (len(spans), len(STATES), 1)),
        constant_names=("population",),
        time_units="days",
        time_origin=FIRST.isoformat(),
        title=(
            f"COVID-19 in 50 US states, {reports.first} to {reports.last}, JHU CSSE daily reports, "
            f"vintage {reports.vintage}, hash {reports.hash[:12]}"
        ),
        generator=GENERATOR,
        generator_settings=json.dumps(
            {
                **asdict(settings),
                "source": reports.source,
                "vintage": reports.vintage,
                "source_hash": reports.hash,
                "until": reports.last.isoformat(),
            }
        ),
        source=reports.source,
    )


def _features(reports: Reports, settings: CovidSettings) -> Float[np.ndarray, "day state feature"]:
    """Increments of counts, never negative, and rates; NaN where a count is missing."""
    columns, days = [], settings.average
    for name in settings.features:
        column = reports.column(name)
        if name in COUNTS:
            change = np.full_like(column, np.nan)
            change[days:] = np.maximum(column[days:] - column[:-days], 0.0) / days
            column = change
        columns.append(column)
    return np.stack(columns, axis=-1)


def _spans(reports: Reports, settings: CovidSettings) -> list[tuple[str, int, int]]:
    """(split, first day, day after the last), in days since the first report."""
    days, test = len(reports.values), (TEST - FIRST).days
    end = min(days, test)
    length = settings.condition + settings.horizon
    stops = [end - STRIDE * n for n in reversed(range(settings.validation))]
    train = stops[0] - settings.horizon if stops else end
    if train < length + settings.average:
        raise InputError(
            f"{reports.source} has {end} days before December, of which {train} are left for "
            f"training. Expected at least {length + settings.average}: a condition of "
            f"{settings.condition} and a horizon of {settings.horizon} days. Give more days "
            f"(--until), fewer validation windows, or a shorter condition."
        )
    spans = [("train", 0, train)]
    spans += [("val", stop - length, stop) for stop in stops]
    if days > test:
        spans.append(("test", test - settings.condition, days))
    return spans


def _names(spans: list[tuple[str, int, int]]) -> list[str]:
    """Names by dates: "train 2020-04-12 to 2020-10-25"."""

    def day(number: int) -> date:
        return FIRST + timedelta(days=number)

    return [f"{split} {day(start)} to {day(stop - 1)}" for split, start, stop in spans]


def _population(reports: Reports) -> Float[np.ndarray, " state"]:
    """Confirmed cases over cases per 100,000 people, the median over days; NaN if unknown."""
    confirmed, rate = reports.column("confirmed"), reports.column("incident_rate")
    with np.errstate(invalid="ignore", divide="ignore"):
        people = np.where(rate > 0, confirmed / rate * 1e5, np.nan)
    known = np.isfinite(people).any(0)
    found = np.full(people.shape[1], np.nan)
    found[known] = np.nanmedian(people[:, known], axis=0)
    return found


def _edges(reports: Reports, kind: str, population: Float[np.ndarray, " state"]) -> graph.Matrix:
    if kind == "neighbours":
        return graph.neighbours()
    places = []
    for name in ("lat", "lon"):
        column = reports.column(name)
        unknown = ~np.isfinite(column).any(0) | np.isnan(population)
        for state in np.flatnonzero(unknown)[:1]:
            raise InputError(
                f"{reports.source} has no {name} or no population of {STATES[state].name}. "
                f"Expected both for the gravity graph. Choose --graph neighbours."
            )
        places.append(np.nanmedian(column, axis=0))
    return graph.gravity(population, *places)
