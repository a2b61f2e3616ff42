"""One pass over stored states: their checks, and what is needed of them again and again.

Everything is kept by system, so that a split of the data has its own numbers without being read.
"""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from pgode.data import validation
from pgode.data.labels import annotations
from pgode.data.labels.transforms import TRANSFORMS
from pgode.data.large.masked import States
from pgode.data.large.stored import Place, StoredArray


@dataclass(frozen=True, eq=False)
class Scan:
    """Extremes and counts of the observed values of each system."""

    low: Float[np.ndarray, "system feature"]
    """The least value, transformed as a model sees it; infinite where nothing was observed."""
    high: Float[np.ndarray, "system feature"]
    count: Int[np.ndarray, "system feature"]
    last: Int[np.ndarray, " system"]
    """Frames up to the last at which anything was observed; 0 if nothing was."""
    pattern: Int[np.ndarray, "system feature"]
    """Equal for features of a system that were observed at the same places."""

    @classmethod
    def of(cls, states: StoredArray, transforms: Sequence[str]) -> "Scan":
        """Those of a selection: taken from the pass over the whole file, if frames are whole."""
        owner = states.source
        assert isinstance(owner, States)
        if isinstance(owner.scan, Scan) and states.whole_series:
            return cls(*(getattr(owner.scan, each.name)[states.systems] for each in fields(cls)))
        fresh = Scanner(states.shape, transforms)
        for place, values, observed in read_both(states):
            fresh.add(place, values, observed)
        return fresh.result()


class Scanner:
    """Collects a `Scan` from blocks of states in any order of systems."""

    def __init__(self, shape: Sequence[int], transforms: Sequence[str]) -> None:
        systems, _, _, features = shape
        self.transforms = transforms
        self.low = np.full((systems, features), np.inf)
        self.high = np.full((systems, features), -np.inf)
        self.count = np.zeros((systems, features), np.int64)
        self.last = np.zeros(systems, np.int64)
        self.pattern = np.zeros((systems, features), np.uint32)

    def add(
        self,
        place: Place,
        values: Float[np.ndarray, "system object time feature"],
        observed: Bool[np.ndarray, "system object time feature"],
    ) -> None:
        """Count a block in."""
        rows = place.systems
        if observed.all() and not any(self.transforms):
            flat = values.reshape(len(values), -1, values.shape[3])
            self.low[rows] = np.minimum(self.low[rows], flat.min(1, initial=np.inf))
            self.high[rows] = np.maximum(self.high[rows], flat.max(1, initial=-np.inf))
            self.count[rows] += flat.shape[1]
            self.last[rows] = np.maximum(self.last[rows], place.frames.stop)
            return
        for k, name in enumerate(self.transforms):
            column = values[..., k]
            if name:
                with np.errstate(invalid="ignore", divide="ignore"):
                    column = TRANSFORMS[name].forward(column)
            known = observed[..., k]
            low = np.where(known, column, np.inf).min((1, 2), initial=np.inf)
            high = np.where(known, column, -np.inf).max((1, 2), initial=-np.inf)
            self.low[rows, k] = np.minimum(self.low[rows, k], low)
            self.high[rows, k] = np.maximum(self.high[rows, k], high)
        self.count[rows] += observed.sum((1, 2))
        ever = observed.any((1, 3))
        number = place.frames.start + np.arange(1, ever.shape[1] + 1)
        self.last[rows] = np.maximum(self.last[rows], np.where(ever, number, 0).max(1, initial=0))
        gaps = np.flatnonzero(~observed.all((1, 2, 3)))
        for row in gaps.tolist():
            for k in range(observed.shape[3]):
                now = int(self.pattern[rows.start + row, k])
                bits = np.packbits(observed[row, ..., k]).tobytes()
                self.pattern[rows.start + row, k] = zlib.crc32(bits, now)

    def result(self) -> Scan:
        """What was collected."""
        return Scan(self.low, self.high, self.count, self.last, self.pattern)


def read_both(states: StoredArray) -> Iterator[tuple[Place, np.ndarray, np.ndarray]]:
    """All states in blocks, with their masks; places count the selected systems and frames."""
    source = states.source
    assert isinstance(source, States)
    for rows, objects, frames in states.places():
        span = slice(states.start + frames.start, states.start + frames.stop)
        for first, row in _consecutive(states.systems[rows]):
            place = Place(slice(row.start, row.stop), objects, span)
            begin = int(rows[first])
            own = Place(slice(begin, begin + row.stop - row.start), objects, frames)
            yield own, *source.both(place)


def _consecutive(systems: Int[np.ndarray, " row"]) -> Iterator[tuple[int, slice]]:
    cuts = np.concatenate([[0], np.flatnonzero(np.diff(systems) != 1) + 1, [len(systems)]])
    for begin, end in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        yield begin, slice(int(systems[begin]), int(systems[end - 1]) + 1)


def examined(
    states: StoredArray,
    times: Float[np.ndarray, "system time"],
    features: Sequence[str],
    transforms: Sequence[str],
    source: str,
) -> Iterator[Shaped[np.ndarray, "..."]]:
    """The states of a whole file in blocks, each checked; keeps the `Scan` when they are read."""
    owner = states.source
    assert isinstance(owner, States)
    scanner = Scanner(states.shape, transforms)
    for place, values, observed in read_both(states):
        at = (place.systems.start, place.objects.start, place.frames.start)
        validation.check_states(values, observed, times, features, source, at)
        annotations.check_domains(values, features, transforms, source, at)
        scanner.add(place, values, observed)
        yield values
    owner.scan = scanner.result()


def examined_inputs(
    inputs: StoredArray, names: Sequence[str], source: str
) -> Iterator[Shaped[np.ndarray, "..."]]:
    """The known inputs of a whole file in blocks, each checked."""
    for rows, objects, frames in inputs.places():
        values = inputs.read(rows, objects, frames)
        at = (int(rows[0]), objects.start)
        annotations.refuse_infinite("input", values, names, source, at)
        yield values
