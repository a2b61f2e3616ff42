"""What a report is made of: plain arrays and words, so that nothing here needs torch."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, zip_longest
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from pgode.reports.molecule.data import MoleculeData
from pgode.runtime.errors import InputError

MOST_OBJECTS = 200
"""More than these in one picture are a blot; the rest of a system is left out, and said to be."""
MOST_VALUES = 300_000
"""Numbers of all systems together (about 2 MB of page)."""


@dataclass(frozen=True)
class Example:
    """One system to show, in the units of the data. NaN stands for what is not known.

    `lower` and `upper` bound the central 90 % of the sampled forecasts. An edge is
    (receiver, sender, weight). `gate` holds one row of prototype weights per object, if the
    model has prototypes.
    """

    split: str
    number: int
    condition_times: Float[np.ndarray, " condition"]
    forecast_times: Float[np.ndarray, " horizon"]
    observed: Float[np.ndarray, "objects condition features"]
    forecast: Float[np.ndarray, "objects horizon features"]
    lower: Float[np.ndarray, "objects horizon features"]
    upper: Float[np.ndarray, "objects horizon features"]
    truth: Float[np.ndarray, "objects horizon features"]
    edges: Sequence[tuple[int, int, float]] = ()
    gate: Float[np.ndarray, "objects prototypes"] | None = None
    parameters: dict[str, float] = field(default_factory=dict)
    labels: Sequence[str] = ()
    """Names of the objects, where they have any."""

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit each other."""
        objects, horizon, features = self._sizes("forecast", self.forecast, 3)
        condition = len(self.condition_times)
        expected = {
            "forecast_times": (horizon,),
            "observed": (objects, condition, features),
            "lower": (objects, horizon, features),
            "upper": (objects, horizon, features),
            "truth": (objects, horizon, features),
        }
        for name, shape in expected.items():
            self._require(name, np.shape(getattr(self, name)), shape)
        if self.gate is not None:
            prototypes = self._sizes("gate", self.gate, 2)[1]
            self._require("gate", np.shape(self.gate), (objects, prototypes))
        for receiver, sender, _ in self.edges:
            if not (0 <= receiver < objects and 0 <= sender < objects):
                raise InputError(
                    f"{self.name}: the edge from object {sender} to object {receiver} leads "
                    f"outside the system. Expected objects 0 to {objects - 1}. Correct the edges."
                )

    @property
    def name(self) -> str:
        """How the report and errors call this system."""
        return f"{self.split} system {self.number}"

    @property
    def objects(self) -> int:
        """Number of objects."""
        return len(self.forecast)

    @property
    def times(self) -> Float[np.ndarray, " frame"]:
        """Times of the condition, then of the forecast."""
        return np.concatenate([self.condition_times, self.forecast_times])

    @property
    def values(self) -> int:
        """How many numbers the page holds for this system."""
        return self.observed.size + 4 * self.forecast.size + 3 * len(self.edges)

    def first(self, objects: int) -> "Example":
        """The same system with only its first objects and the edges among them."""
        return self if self.objects <= objects else self.only(np.arange(objects))

    def only(self, kept: Int[np.ndarray, " kept"]) -> "Example":
        """The same system with only some objects and the edges among them."""
        arrays = ("observed", "forecast", "lower", "upper", "truth")
        chosen = {name: getattr(self, name)[kept] for name in arrays}
        place = {int(index): new for new, index in enumerate(kept)}
        edges = [(place[i], place[j], w) for i, j, w in self.edges if i in place and j in place]
        gate = None if self.gate is None else self.gate[kept]
        labels = [self.labels[index] for index in kept] if self.labels else ()
        return replace(self, **chosen, edges=edges, gate=gate, labels=labels)

    def label(self, index: int) -> str:
        """What an object is called."""
        return self.labels[index] if self.labels else f"object {index}"

    def bounds(self) -> Float[np.ndarray, "features 2"]:
        """The range of each feature to show: that of observations and truth, with some room.

        A forecast that runs away would otherwise shrink everything else to a dot. Without any
        truth there is nothing else to go by, and the forecast counts.
        """
        features = self.forecast.shape[2]
        known = np.concatenate([self.observed, self.truth], axis=1).reshape(-1, features)
        ahead = self.forecast.reshape(-1, features)
        bounds = np.tile([0.0, 1.0], (features, 1))
        for feature in range(features):
            sure = known[np.isfinite(known[:, feature]), feature]
            guess = ahead[np.isfinite(ahead[:, feature]), feature]
            if np.isfinite(self.truth[..., feature]).any() and len(guess):
                room = 0.5 * max(np.ptp(sure), 1e-12)
                guess = np.clip(guess, sure.min() - room, sure.max() + room)
            both = np.concatenate([sure, guess])
            if len(both):
                room = 0.04 * (np.ptp(both) or max(abs(both[0]), 1.0))
                bounds[feature] = both.min() - room, both.max() + room
        return bounds

    def _sizes(self, name: str, array: Float[np.ndarray, "..."], dims: int) -> tuple[int, ...]:
        shape = np.shape(array)
        if len(shape) != dims or 0 in shape:
            raise InputError(
                f"{self.name}: {name} has the shape {shape}. Expected {dims} dimensions, none of "
                f"them empty. Correct the array."
            )
        return shape

    def _require(self, name: str, shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
        if shape != expected:
            raise InputError(
                f"{self.name}: {name} has the shape {shape}. Expected {expected}, to fit the "
                f"forecast and its times. Correct the array."
            )


@dataclass(frozen=True)
class ReportData:
    """Everything one report shows.

    `summary` rows are (label, value); `evaluation` is the JSON of `pgode evaluate`; an entry of
    `epochs` is {"epoch": 1, "train": {"total": ..}, "val_mse": .., "lr": .., "seconds": ..},
    seconds counted from the start of the training;
    `parameters` holds whatever is known about the ranges of the system parameters; `molecule` is
    there where the objects are its atoms, all of them in every example.
    """

    title: str
    summary: Sequence[tuple[str, str]]
    evaluation: dict[str, Any]
    epochs: Sequence[dict[str, Any]]
    features: tuple[str, ...]
    roles: tuple[str, ...]
    variables: tuple[str, ...]
    units: tuple[str, ...]
    time_units: str
    examples: Sequence[Example]
    parameters: dict[str, Any] = field(default_factory=dict)
    molecule: MoleculeData | None = None

    def __post_init__(self) -> None:
        """Refuse labels that do not fit the features."""
        count = len(self.features)
        for name in ("roles", "variables", "units"):
            if len(getattr(self, name)) != count:
                raise InputError(
                    f"the report has {count} features but {len(getattr(self, name))} {name}. "
                    f"Expected one for each feature. Correct {name}."
                )
        for example in self.examples:
            if example.forecast.shape[2] != count:
                raise InputError(
                    f"{example.name} has {example.forecast.shape[2]} features. Expected {count}: "
                    f"{', '.join(self.features)}. Correct the example."
                )

    def label(self, feature: int) -> str:
        """A feature's name with its unit."""
        return labelled(self.features[feature], self.units[feature])


@dataclass(frozen=True)
class View:
    """One way to look at a system: two positions against each other, or a feature over time."""

    label: str
    x: int | None
    y: int


def labelled(name: str, unit: str) -> str:
    """`name (unit)`, or the name alone where there is no unit."""
    return f"{name} ({unit})" if unit else name


def planes(data: ReportData) -> list[View]:
    """Pairs of position axes; none unless there are two. The first pair is the one shown first.

    Beyond three positions the number of pairs grows out of hand, so only the first three count.
    """
    positions = [index for index, role in enumerate(data.roles) if role == "position"][:3]
    return [
        View(f"{data.features[x]}, {data.features[y]}", x, y) for x, y in combinations(positions, 2)
    ]


def lines(data: ReportData) -> list[View]:
    """Every feature over time."""
    return [View(f"{name} over time", None, index) for index, name in enumerate(data.features)]


def included(examples: Sequence[Example], objects: int | None = None) -> list[Example]:
    """As many examples as a page can hold, from each split in turn, at least one of each.

    Of each only the first `objects` objects, `MOST_OBJECTS` if not given.
    """
    by_split: dict[str, list[Example]] = defaultdict(list)
    for example in examples:
        by_split[example.split].append(example.first(objects or MOST_OBJECTS))
    kept: list[Example] = []
    total = 0
    for turn, row in enumerate(zip_longest(*by_split.values())):
        for example in row:
            if example is not None and (turn == 0 or total + example.values <= MOST_VALUES):
                kept.append(example)
                total += example.values
    order = list(by_split)
    return sorted(kept, key=lambda example: order.index(example.split))
