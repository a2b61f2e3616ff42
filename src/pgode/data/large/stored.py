"""An array (system, object, time, column) that stays in a file and is read in pieces.

It stands in a dataset where an array in memory would stand. Selecting systems or frames selects
without reading; what asks for all values at once gets them if they fit into memory, and otherwise
an error that states the memory needed.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from jaxtyping import Int, Shaped

from pgode.runtime.memory import refuse_beyond_memory, usable_memory

BLOCK = 32 * 2**20
"""Bytes that are read at a time, at most."""
FEWER = "Select fewer systems or shorter series, or use a machine with more memory."


class Place(NamedTuple):
    """A block of systems, objects and frames."""

    systems: slice
    objects: slice
    frames: slice


class Source(Protocol):
    """Where the values of a stored array come from."""

    @property
    def name(self) -> str:
        """What errors call it."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """Systems, objects, frames and columns."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values that are read."""
        ...

    @property
    def chunks(self) -> tuple[int, ...]:
        """Systems, objects, frames and columns that the file keeps in one piece."""
        ...

    def read(self, place: Place) -> Shaped[np.ndarray, "system object time column"]:
        """The values of a block."""
        ...


class StoredArray:
    """Some systems and consecutive frames of a source, as an array that is read when needed."""

    __array_ufunc__ = None

    def __init__(
        self,
        source: Source,
        systems: Int[np.ndarray, " system"] | None = None,
        frames: tuple[int, int] | None = None,
    ) -> None:
        self.source = source
        self.systems = np.arange(source.shape[0]) if systems is None else systems
        self.start, self.stop = (0, source.shape[2]) if frames is None else frames

    @property
    def shape(self) -> tuple[int, ...]:
        """Systems, objects, frames, columns."""
        _, objects, _, columns = self.source.shape
        return len(self.systems), objects, self.stop - self.start, columns

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        return self.source.dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return 4

    @property
    def size(self) -> int:
        """Number of values."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """Bytes that the values take in memory."""
        return self.size * self.dtype.itemsize

    @property
    def whole_series(self) -> bool:
        """Whether all frames of the file are selected."""
        return (self.start, self.stop) == (0, self.source.shape[2])

    def __repr__(self) -> str:
        return f"StoredArray({self.source.name}, {self.shape}, {self.dtype})"

    def __len__(self) -> int:
        return len(self.systems)

    def __deepcopy__(self, memo: Any) -> "StoredArray":
        return self

    def __array_function__(self, *call: Any) -> Any:
        return NotImplemented  # What numpy should work on is read first.

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        what = f"reading all {self.source.name} at once"
        refuse_beyond_memory(2 * self.nbytes, what, FEWER)
        values = self.read(np.arange(len(self)))
        return values if dtype is None else values.astype(dtype, copy=False)

    def __getitem__(self, key: Any) -> Any:
        parts = list(key) if isinstance(key, tuple) else [key]
        if Ellipsis in [each if each is Ellipsis else None for each in parts]:
            at = next(k for k, each in enumerate(parts) if each is Ellipsis)
            parts[at : at + 1] = [slice(None)] * (self.ndim - len(parts) + 1)
        parts += [slice(None)] * (self.ndim - len(parts))
        systems, objects, frames, columns = parts
        single = isinstance(systems, int | np.integer)
        chosen = self.systems[[systems]] if single else self.systems[systems]
        begin, end = self.start, self.stop
        consecutive = isinstance(frames, slice) and frames.step in (None, 1)
        if consecutive:
            first, last, _ = frames.indices(end - begin)
            begin, end = begin + first, begin + max(first, last)
        taken = StoredArray(self.source, chosen, (begin, end))
        rest = (0 if single else slice(None), objects, slice(None), columns)
        if consecutive and not single and _everything(objects) and _everything(columns):
            return taken
        return np.asarray(taken)[rest if consecutive else (rest[0], objects, frames, columns)]

    def read(
        self,
        rows: Int[np.ndarray, " row"],
        objects: slice = slice(None),
        frames: slice = slice(None),
    ) -> Shaped[np.ndarray, "row object time column"]:
        """Some systems in the given order, consecutive ones together."""
        first, last, _ = frames.indices(self.stop - self.start)
        span = slice(self.start + first, self.start + last)
        low, high, _ = objects.indices(self.source.shape[1])
        shape = (len(rows), high - low, last - first, self.source.shape[3])
        size = float(np.prod(shape, dtype=np.float64)) * self.dtype.itemsize
        if size > BLOCK:
            refuse_beyond_memory(2 * size, f"reading {self.source.name}", FEWER)
        values = np.empty(shape, self.dtype)
        for place, piece in _runs(self.systems[rows]):
            values[place] = self.source.read(Place(piece, slice(low, high), span))
        return values

    def windows(
        self, rows: Int[np.ndarray, " window"], starts: Int[np.ndarray, " window"], length: int
    ) -> Shaped[np.ndarray, "window object time column"]:
        """Frames starts[k], ..., starts[k] + length - 1 of system rows[k], for each k.

        Read in the order of the file, because neighbours share what has to be decompressed.
        Frames beyond the end repeat nothing: they are NaN, or False.
        """
        _, objects, frames, columns = self.shape
        empty = np.nan if self.dtype.kind == "f" else 0
        values = np.full((len(rows), objects, length, columns), empty, self.dtype)
        systems = self.systems[rows]
        order = np.lexsort((starts, systems))
        for place, (piece, start) in _window_runs(systems[order], starts[order]):
            end = min(start + length, frames)
            span = slice(self.start + start, self.start + end)
            read = self.source.read(Place(piece, slice(0, objects), span))
            values[order[place], :, : end - start] = read
        return values

    def places(self) -> Iterator[tuple[Int[np.ndarray, " row"], slice, slice]]:
        """Rows, objects and frames of blocks that hold all values in the order of an array.

        A block is whole systems, or whole series of objects of one system, or frames of one
        object, whatever fits; and whole pieces of the file as far as possible.
        """
        systems, objects, frames, columns = self.shape
        series = max(frames * columns * self.dtype.itemsize, 1)
        most = max(block_bytes() // series, 0)
        everything = slice(0, objects), slice(0, frames)
        if most >= objects:
            for rows in self._system_blocks(max(most // max(objects, 1), 1)):
                yield rows, *everything
            return
        # Objects that share a chunk are decompressed together, so take as many as memory allows.
        most = max(block_bytes(), usable_memory() // 16) // series
        step = _whole(most, self.source.chunks[1])
        cut = _whole(block_bytes() // max(series // max(frames, 1), 1), self.source.chunks[2])
        for row in range(systems):
            if most >= 1:
                for first in range(0, objects, step):
                    yield np.array([row]), slice(first, min(first + step, objects)), everything[1]
                continue
            for item in range(objects):
                for begin in range(0, frames, cut):
                    span = slice(begin, min(begin + cut, frames))
                    yield np.array([row]), slice(item, item + 1), span

    def pieces(self) -> Iterator[Shaped[np.ndarray, "row object time column"]]:
        """All values in the order of an array, in blocks."""
        for place in self.places():
            yield self.read(*place)

    def row_blocks(self) -> Iterator[Int[np.ndarray, " row"]]:
        """All rows, in blocks of whole systems that fit into a block of memory, or single ones."""
        row = max(self.nbytes // max(len(self), 1), 1)
        yield from self._system_blocks(max(block_bytes() // row, 1))

    def frames_together(self, rows: int) -> int:
        """Frames of so many systems that fit into a block of memory, whole pieces of the file."""
        frame = max(rows * self.nbytes // max(len(self) * self.shape[2], 1), 1)
        return _whole(block_bytes() // frame, self.source.chunks[2])

    def _system_blocks(self, most: int) -> Iterator[Int[np.ndarray, " row"]]:
        step = _whole(most, self.source.chunks[0])
        for first in range(0, len(self), step):
            yield np.arange(first, min(first + step, len(self)))


def block_bytes() -> int:
    """Bytes that are read at a time: few, where there is little memory."""
    return max(min(BLOCK, usable_memory() // 64), 1024)


def _whole(most: int, chunk: int) -> int:
    """The largest number of whole chunks in `most`, or `most` if it is less than one."""
    return max(most // chunk * chunk if most >= chunk else most, 1)


def _everything(key: Any) -> bool:
    return isinstance(key, slice) and key == slice(None)


def _runs(rows: Int[np.ndarray, " row"]) -> Iterator[tuple[slice, slice]]:
    """Places of consecutive rows in the result, and in the file."""
    cuts = np.flatnonzero(np.diff(rows) != 1) + 1
    ends = [*cuts.tolist(), len(rows)] if len(rows) else []
    first = 0
    for end in ends:
        yield slice(first, end), slice(int(rows[first]), int(rows[end - 1]) + 1)
        first = end


def _window_runs(
    rows: Int[np.ndarray, " window"], starts: Int[np.ndarray, " window"]
) -> Iterator[tuple[slice, tuple[slice, int]]]:
    """The same for windows: consecutive rows are read together where they start together."""
    together = (np.diff(rows) == 1) & (np.diff(starts) == 0)
    cuts = np.flatnonzero(~together) + 1
    first = 0
    for end in [*cuts.tolist(), len(rows)] if len(rows) else []:
        piece = slice(int(rows[first]), int(rows[end - 1]) + 1)
        yield slice(first, end), (piece, int(starts[first]))
        first = end
