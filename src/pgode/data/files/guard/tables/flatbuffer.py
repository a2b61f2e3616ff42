"""Tables of FlatBuffers, in which Arrow describes its files."""

import struct

import numpy as np
from jaxtyping import Int


class Table:
    """The fields of a table by their number; a place outside of the content is an error."""

    def __init__(self, content: bytes, place: int | None = None) -> None:
        """A table at a place, or the one that the content starts with."""
        self.content = content
        self.place = self._at("<I", 0) if place is None else place
        self.fields = self.place - self._at("<i", self.place)
        self.end = self._at("<H", self.fields)

    def number(self, field: int, form: str, default: int = 0) -> int:
        """The number in a field; `form` is its type, as for `struct`."""
        place = self._field(field)
        return default if place is None else self._at(f"<{form}", place)

    def table(self, field: int) -> "Table | None":
        """The table that a field refers to."""
        place = self._field(field)
        return None if place is None else Table(self.content, place + self._at("<I", place))

    def count(self, field: int) -> int:
        """How many entries the list in a field has."""
        place = self._field(field)
        return 0 if place is None else self._at("<I", place + self._at("<I", place))

    def rows(self, field: int, width: int) -> Int[np.ndarray, "row {width}"]:
        """The structures of a field, each of `width` numbers of 64 bits."""
        place, count = self._field(field), self.count(field)
        if place is None or not count:
            return np.empty((0, width), dtype=np.int64)
        start = place + self._at("<I", place) + 4
        return np.frombuffer(self.content, "<i8", count * width, start).reshape(-1, width)

    def _field(self, number: int) -> int | None:
        slot = 4 + 2 * number
        offset = self._at("<H", self.fields + slot) if slot < self.end else 0
        return self.place + offset if offset else None

    def _at(self, form: str, place: int) -> int:
        if place < 0:
            raise ValueError("its description is invalid")
        return int(struct.unpack_from(form, self.content, place)[0])
