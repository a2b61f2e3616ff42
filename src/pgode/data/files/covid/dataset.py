"""From days to trajectories: averages, transform, graph and splits in time."""

import json
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from typing import Literal

import numpy as np

from pgode.data.files.covid import graph
from pgode.data.files.covid.days import COUNTS, FEATURES, GENERATOR, UNITS, Days, day_number
from pgode.data.files.covid.reports import FIRST
from pgode.data.files.covid.states import STATES
from pgode.data.labels.transforms import TRANSFORMS
from pgode.data.trajectories import Trajectories
from pgode.runtime.choices import check_int, one_of
from pgode.runtime.errors import InputError

TEST = date(2020, 11, 29)
"""The first day of the first test window; nothing from here on is trained on."""
STRIDE = 3
"""Days between two validation windows."""
Graph = Literal["neighbours", "gravity"]
GRAPHS: tuple[Graph, ...] = ("neighbours", "gravity")
CONSTANTS = ("population", "latitude", "longitude")


@dataclass(frozen=True)
class CovidSettings:
    """How the reports become a data set.

    `average` is the number of days over which increments are averaged, all of them up to the day
    they belong to: 1 for daily increments as published, 7 to remove the rhythm of the week.
    `transform` is that of the counts; `features` are some of the published ones. `validation`
    windows of `condition` and `horizon` days end the training days; training then ends before the
    first day that they forecast. With 0, everything before the test days is trained on.
    """

    graph: Graph = "neighbours"
    average: int = 1
    transform: str = ""
    features: tuple[str, ...] = FEATURES
    validation: int = 5
    condition: int = 42
    horizon: int = 21

    def __post_init__(self) -> None:
        one_of("graph", self.graph, GRAPHS)
        one_of("transform", self.transform, TRANSFORMS)
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


def build(days: Days, settings: CovidSettings | None = None) -> Trajectories:
    """One system per stretch of days: the training days, each validation window, the test days.

    The test days begin with the condition of the first test forecast. Where the reports end before
    December there are none.
    """
    settings = settings or CovidSettings()
    names, origin = settings.features, days.origin
    columns = [days.averaged(name, settings.average if name in COUNTS else 1).T for name in names]
    states = np.stack(columns, axis=-1)
    spans = _spans(days, settings)
    longest = max(stop - start for _, start, stop in spans)
    content = np.full((len(spans), len(STATES), longest, len(names)), np.nan)
    times = np.full((len(spans), longest), np.nan)
    for row, (_, start, stop) in enumerate(spans):
        content[row, :, : stop - start] = states[:, start:stop]
        times[row, : stop - start] = np.arange(start, stop)
    constants = np.column_stack([days.population, days.places])
    edges = _edges(days, settings.graph)
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
        constants=np.broadcast_to(constants, (len(spans), *constants.shape)),
        constant_names=CONSTANTS,
        time_units="days",
        time_origin=FIRST.isoformat(),
        title=(
            f"COVID-19 in 50 US states, {FIRST} to {days.last}, JHU CSSE daily reports, vintage "
            f"{origin['vintage']}, hash {origin['source_hash'][:12]}"
        ),
        generator=GENERATOR,
        generator_settings=json.dumps(
            {**asdict(settings), **origin, "until": days.last.isoformat()}
        ),
        source=origin["source"],
    )


def _spans(days: Days, settings: CovidSettings) -> list[tuple[str, int, int]]:
    """(split, first day, day after the last), in days since the first report."""
    count, test = len(days.values), day_number(TEST)
    end = min(count, test)
    length = settings.condition + settings.horizon
    stops = [end - STRIDE * n for n in reversed(range(settings.validation))]
    train = stops[0] - settings.horizon if stops else end
    if train < length + settings.average:
        raise InputError(
            f"{days.origin['source']} has {end} days before the test days, of which "
            f"{max(train, 0)} are left for training. Expected at least "
            f"{length + settings.average}: a condition of {settings.condition} and a horizon of "
            f"{settings.horizon} days. Give more days (--until), or fewer validation windows "
            f"(--validation)."
        )
    spans = [("train", 0, train)]
    spans += [("val", stop - length, stop) for stop in stops]
    if count > test:
        spans.append(("test", test - settings.condition, count))
    return spans


def _names(spans: list[tuple[str, int, int]]) -> list[str]:
    """Names by dates: "train 2020-04-12 to 2020-10-25"."""

    def day(number: int) -> date:
        return FIRST + timedelta(days=number)

    return [f"{split} {day(start)} to {day(stop - 1)}" for split, start, stop in spans]


def _edges(days: Days, kind: str) -> graph.Matrix:
    if kind == "neighbours":
        return graph.neighbours()
    known = np.isfinite(days.population) & np.isfinite(days.places).all(1)
    for state in np.flatnonzero(~known)[:1]:
        raise InputError(
            f"{days.origin['source']} has no place or no population of {STATES[state].name}. "
            f"Expected both for the gravity graph. Choose --graph neighbours."
        )
    return graph.gravity(days.population, days.places[:, 0], days.places[:, 1])
