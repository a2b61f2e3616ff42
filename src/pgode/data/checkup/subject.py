"""The data under examination, with what several checks need of it computed once."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from pgode.data.checkup.finding import Place
from pgode.data.schema import SPLITS
from pgode.data.trajectories import Trajectories

Values = Float[np.ndarray, " value"]
Series = Float[np.ndarray, "system object time"]

SAMPLE = 200_000
"""Values of a feature that quantiles are taken of: enough for three digits, at once."""

POSITION = re.compile(
    r"(?:q|p|pos(?:ition)?|coord(?:inate)?|loc(?:ation)?)?[_. ]?(x|y|z|lat|lon)", re.IGNORECASE
)
VELOCITY = re.compile(r"(?:v|vel(?:ocity)?|speed|d)[_. ]?(x|y|z)", re.IGNORECASE)


@dataclass(frozen=True)
class Subject:
    """Trajectories, the name of their file, and the window to judge them by.

    `asked` tells whether a user gave the window; otherwise it is the one that suits the data.
    """

    data: Trajectories
    name: str
    condition: int
    horizon: int
    asked: bool = False
    period: int = 0
    """Frames of a season that shows in the data; 0 if none does."""

    @cached_property
    def states(self) -> Float[np.ndarray, "system object time feature"]:
        """Observed values, NaN where there are none."""
        return self.data.states

    @cached_property
    def times(self) -> Float[np.ndarray, "system time"]:
        """Time of each frame, NaN after a system's last."""
        return self.data.times

    @cached_property
    def frames(self) -> Int[np.ndarray, " system"]:
        """Number of frames of each system."""
        return self.data.n_frames

    @cached_property
    def possible(self) -> Bool[np.ndarray, "system object time"]:
        """Where an object could have been observed: it is present and its system has the frame."""
        there: Bool[np.ndarray, "system object time"] = (
            self.data.present[:, :, None] & np.isfinite(self.times)[:, None]
        )
        return there

    @cached_property
    def steps(self) -> Float[np.ndarray, "system step"]:
        """Time from each frame to the next."""
        return np.diff(self.times, axis=1)

    @cached_property
    def step(self) -> float:
        """The usual time step; NaN if no system has two frames."""
        known = self.steps[np.isfinite(self.steps)]
        return float(np.median(known)) if known.size else float("nan")

    @cached_property
    def roles(self) -> tuple[str, ...]:
        """The role of each feature as the data name it."""
        return tuple(str(role) for role in self.data.dataset["feature_role"].values)

    @cached_property
    def positions(self) -> tuple[int, ...]:
        """Features that are positions by role, else by name."""
        return self._like("position", POSITION)

    @cached_property
    def velocities(self) -> tuple[int, ...]:
        """Features that are velocities by role, else by name."""
        return self._like("velocity", VELOCITY)

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        return self.data.features

    def series(self, feature: int) -> Series:
        """All series of one feature."""
        return self.states[..., feature]

    def sample(self, feature: int) -> Values:
        """Observed values of one feature, at most `SAMPLE`, evenly spaced through the file."""
        return thinned(self.series(feature))

    def changes(self, feature: int) -> Float[np.ndarray, "system object step"]:
        """The change of one feature from each frame to the next, NaN where one is missing."""
        return np.diff(self.series(feature), axis=2)

    def place(
        self,
        system: int | None = None,
        item: int | None = None,
        frame: int | None = None,
        feature: int | None = None,
    ) -> Place:
        """A place by the names and the clock of the data."""
        data = self.data
        named = system is not None
        return Place(
            system=data.system_label(system) if system is not None else "",
            object=data.object_label(system or 0, item) if item is not None else "",
            time=data.when(float(self.times[system, frame])) if named and frame is not None else "",
            feature=self.features[feature] if feature is not None else "",
        )

    def splits(self) -> Iterator[tuple[str, Int[np.ndarray, " system"]]]:
        """The splits that have systems, with the numbers of these."""
        for name in SPLITS:
            if len(systems := np.flatnonzero(self.data.split == name)):
                yield name, systems

    def _like(self, role: str, pattern: re.Pattern[str]) -> tuple[int, ...]:
        by_role = tuple(k for k, each in enumerate(self.roles) if each == role)
        by_name = tuple(k for k, name in enumerate(self.features) if pattern.fullmatch(name))
        return by_role or tuple(k for k in by_name if self.roles[k] == "value")


def thinned(values: Float[np.ndarray, "..."], most: int = SAMPLE) -> Values:
    """The known numbers of an array, evenly thinned out if there are many."""
    flat = values.reshape(-1)
    # An odd stride does not fall into step with the objects or frames of a system.
    flat = flat[:: max(1, flat.size // most) | 1] if flat.size > most else flat
    known: Values = flat[np.isfinite(flat)]
    return known
