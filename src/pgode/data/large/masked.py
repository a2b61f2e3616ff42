"""States, masks and known inputs of stored data, as data in memory would hold them.

A file may hold any number where nothing was observed; a dataset has NaN there, so that nothing can
use it by accident. Stored values are masked when they are read.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from pgode.data import validation
from pgode.data.large.stored import Place, Source, StoredArray


@dataclass(frozen=True, eq=False)
class Existing:
    """Which objects are present, and how many frames each system has."""

    present: Bool[np.ndarray, "system object"]
    frames: Int[np.ndarray, " system"]

    def at(self, place: Place) -> Bool[np.ndarray, "system object time 1"]:
        """Where a value can be."""
        there = self.present[place.systems, place.objects][:, :, None]
        number = np.arange(place.frames.start, place.frames.stop)
        within = number < self.frames[place.systems, None]
        possible: Bool[np.ndarray, "system object time 1"] = (there & within[:, None])[..., None]
        return possible


@dataclass(frozen=True, eq=False)
class Observed:
    """Where a value is known: as a file says, or wherever there can be one."""

    mask: Source | None
    existing: Existing
    like: Source
    source: str
    name: str = "observed"
    dtype: np.dtype[Any] = np.dtype(bool)  # noqa: RUF009 - a type is no state

    @property
    def shape(self) -> tuple[int, ...]:
        """As the states."""
        return self.like.shape

    @property
    def chunks(self) -> tuple[int, ...]:
        """As the states, or the mask of the file."""
        return (self.mask or self.like).chunks

    def read(self, place: Place) -> Bool[np.ndarray, "system object time feature"]:
        """The mask of a block."""
        possible = self.existing.at(place)
        if self.mask is None:
            return np.repeat(possible, self.shape[3], axis=3)
        given = self.mask.read(place)
        known = validation.mask("observed", given, ("",) * 4, given.shape, self.source)
        known &= possible
        return known


@dataclass(eq=False)
class States:
    """Numbers of a file, NaN where they are not observed.

    `scan` is what one pass over all of them found, see `pgode.data.large.scan`.
    """

    numbers: Source
    observed: Observed
    name: str = "states"
    dtype: np.dtype[Any] = np.dtype(np.float64)  # noqa: RUF009 - a type is no state
    scan: object = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Systems, objects, frames, features."""
        return self.numbers.shape

    @property
    def chunks(self) -> tuple[int, ...]:
        """As the file has them."""
        return self.numbers.chunks

    def read(self, place: Place) -> Float[np.ndarray, "system object time feature"]:
        """The values of a block."""
        return self.both(place)[0]

    def both(
        self, place: Place
    ) -> tuple[
        Float[np.ndarray, "system object time feature"],
        Bool[np.ndarray, "system object time feature"],
    ]:
        """The values of a block, and where they are known."""
        values = np.array(self.numbers.read(place), dtype=np.float64, order="C")
        known = self.observed.read(place)
        if not known.all():
            values[~known] = np.nan
        return values, known


@dataclass(frozen=True, eq=False)
class Inputs:
    """Known inputs of a file, NaN after a system's last frame and for absent objects."""

    numbers: Source
    existing: Existing
    name: str = "inputs"
    dtype: np.dtype[Any] = np.dtype(np.float64)  # noqa: RUF009 - a type is no state

    @property
    def shape(self) -> tuple[int, ...]:
        """Systems, objects, frames, inputs."""
        return self.numbers.shape

    @property
    def chunks(self) -> tuple[int, ...]:
        """As the file has them."""
        return self.numbers.chunks

    def read(self, place: Place) -> Float[np.ndarray, "system object time input"]:
        """The values of a block; one bit pattern for NaN, as the hash needs."""
        values = np.array(self.numbers.read(place), dtype=np.float64, order="C")
        possible = self.existing.at(place)[..., 0]
        if not possible.all():
            values[~possible] = np.nan
        values[np.isnan(values)] = np.nan
        return values


def masked(
    states: StoredArray,
    observed: StoredArray | None,
    inputs: StoredArray | None,
    present: Bool[np.ndarray, "system object"],
    times: Float[np.ndarray, "system time"],
    source: str,
) -> tuple[StoredArray, StoredArray, StoredArray | None]:
    """States, mask and known inputs of a file, as a dataset holds them."""
    existing = Existing(present, np.asarray(np.isfinite(times).sum(1)))
    for name, given in (("states", states), ("observed", observed), ("inputs", inputs)):
        if given is not None and given.dtype.kind not in "biuf":
            validation.numbers(name, np.zeros(1, given.dtype), ("",), (None,), source)
    # Shapes agree, since all are variables of one file and named by its dimensions.
    mask = Observed(None if observed is None else observed.source, existing, states.source, source)
    values = StoredArray(States(states.source, mask))
    known = None if inputs is None else StoredArray(Inputs(inputs.source, existing))
    return values, StoredArray(mask), known
