"""One system as a report shows it: plain arrays, so that nothing here needs torch."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

import numpy as np
from jaxtyping import Float, Int

from pgode.reports.base.numbers import significant
from pgode.runtime.errors import InputError

MAX_OBJECTS = 200
"""Objects drawn in one picture, since more would hide each other; the report states the cut."""
MAX_VALUES = 300_000
"""Numbers on one page, over all systems (about 2 MB)."""


@dataclass(frozen=True)
class Trust:
    """The time up to which a forecast is to be trusted, and the objects whose encounter ends it.

    It is the last time of the forecast, and there are no objects, if nothing ends it.
    """

    until: float
    pair: tuple[int, ...]


@dataclass(frozen=True)
class Encounters:
    """What a forecast by force laws says of its system.

    The strength is relative to the training systems, `nearest` the smallest distance of two
    objects over the ensemble, in data units, `substeps` the most fine steps in one frame.
    """

    strength: float
    nearest: float
    substeps: int
    trust: Trust | None = None


@dataclass(frozen=True)
class Example:
    """One system to show, in the units of the data. NaN marks unknown values.

    `lower` and `upper` bound the central 90 % of the sampled forecasts. An edge is
    (receiver, sender, weight). `gate` has the prototype weights of each object, if the model has
    prototypes. `labels` are names of the objects and `system` that of the system, if they have any;
    `dates` are those of the times, where times have dates; `encounters` is given by models with
    force laws.
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
    encounters: Encounters | None = None
    system: str = ""
    dates: Sequence[str] = ()
    period: str = ""
    """What is observed and what is forecast, as one phrase; may be empty."""

    def __post_init__(self) -> None:
        """Refuse arrays whose shapes do not agree."""
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
        for name, count in (("labels", objects), ("dates", condition + horizon)):
            if len(getattr(self, name)):
                self._require(name, (len(getattr(self, name)),), (count,))
        if self.gate is not None:
            prototypes = self._sizes("gate", self.gate, 2)[1]
            self._require("gate", np.shape(self.gate), (objects, prototypes))
        for receiver, sender, _ in self.edges:
            if not (0 <= receiver < objects and 0 <= sender < objects):
                raise InputError(
                    f"{self.name}: the edge from object {sender} to object {receiver} leaves the "
                    f"system. Expected objects 0 to {objects - 1}. Correct the edges."
                )

    @property
    def name(self) -> str:
        """Name of the system in the report and in errors."""
        return f"{self.split} {self.system or f'system {self.number}'}"

    @property
    def parameter_text(self) -> str:
        """The parameters of the system in one line."""
        return ", ".join(f"{name} {significant(value)}" for name, value in self.parameters.items())

    @property
    def title(self) -> str:
        """The name with the period and the parameters, if there are any."""
        return " · ".join(part for part in (self.name, self.period, self.parameter_text) if part)

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
        """Number of values that the page stores for this system."""
        return self.observed.size + 4 * self.forecast.size + 3 * len(self.edges)

    def first(self, objects: int) -> "Example":
        """The same system with only its first objects and the edges among them."""
        return self if self.objects <= objects else self.only(np.arange(objects))

    def only(self, kept: Int[np.ndarray, " kept"]) -> "Example":
        """The same system with only some objects and the edges among them."""
        arrays = ("observed", "forecast", "lower", "upper", "truth")
        chosen = {name: getattr(self, name)[kept] for name in arrays}
        new = {int(index): position for position, index in enumerate(kept)}
        edges = [(new[i], new[j], w) for i, j, w in self.edges if i in new and j in new]
        gate = None if self.gate is None else self.gate[kept]
        labels = [self.labels[index] for index in kept] if self.labels else ()
        return replace(self, **chosen, edges=edges, gate=gate, labels=labels)

    def label(self, index: int) -> str:
        """Name of an object."""
        return self.labels[index] if self.labels else f"object {index}"

    def object_errors(self) -> Float[np.ndarray, " objects"]:
        """Mean squared error of each object over all features; NaN where the truth is unknown.

        Features count alike, by their share of the range that is shown of them.
        """
        share = (self.forecast - self.truth) / np.ptp(self.bounds(), axis=1)
        known = np.isfinite(share)
        total = np.where(known, share, 0.0) ** 2
        with np.errstate(invalid="ignore"):
            mean: Float[np.ndarray, " objects"] = total.sum((1, 2)) / known.sum((1, 2))
        return mean

    def bounds(self) -> Float[np.ndarray, "features 2"]:
        """The range of each feature to show: that of observations and truth, with a margin.

        A diverging forecast would otherwise shrink everything else to a dot. Where the truth is
        not known, the forecast sets the range.
        """
        features = self.forecast.shape[2]
        known = np.concatenate([self.observed, self.truth], axis=1).reshape(-1, features)
        forecast = self.forecast.reshape(-1, features)
        bounds = np.tile([0.0, 1.0], (features, 1))
        for feature in range(features):
            data = known[np.isfinite(known[:, feature]), feature]
            predicted = forecast[np.isfinite(forecast[:, feature]), feature]
            if np.isfinite(self.truth[..., feature]).any() and len(predicted):
                reach = 0.5 * max(np.ptp(data), 1e-12)
                predicted = np.clip(predicted, data.min() - reach, data.max() + reach)
            shown = np.concatenate([data, predicted])
            if len(shown):
                margin = 0.04 * (np.ptp(shown) or max(abs(shown[0]), 1.0))
                bounds[feature] = shown.min() - margin, shown.max() + margin
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


def included(examples: Sequence[Example], objects: int | None = None) -> list[Example]:
    """As many systems as a page can hold, from each split in turn, at least one of each.

    Only the first `objects` objects of each are kept, `MAX_OBJECTS` if not given.
    """
    by_split: dict[str, list[Example]] = defaultdict(list)
    for example in examples:
        by_split[example.split].append(example.first(objects or MAX_OBJECTS))
    kept: list[Example] = []
    total = 0
    for turn, row in enumerate(zip_longest(*by_split.values())):
        for example in row:
            if example is not None and (turn == 0 or total + example.values <= MAX_VALUES):
                kept.append(example)
                total += example.values
    order = list(by_split)
    return sorted(kept, key=lambda example: order.index(example.split))
