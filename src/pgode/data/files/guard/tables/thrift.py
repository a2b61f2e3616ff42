"""Structures in the compact protocol of Thrift, in which Parquet describes its pages."""

from typing import Any

DEPTH = 16
"""Levels of a structure; headers of pages have three."""
LONGEST = 10
"""Bytes of a number of 64 bits, seven bits in each."""
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, STRUCTURE = 1, 2, 3, 7, 8, 9, 10, 12


class Reader:
    """Reads structures from bytes; what is cut off is an `IndexError`, what is wrong another."""

    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 0

    def structure(self, depth: int = 0) -> dict[int, Any]:
        """Numbers and structures by the number of their field; of other values there is None."""
        if depth > DEPTH:
            raise ValueError("a header is nested too deeply")
        found: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._number()
            found[number] = self._value(head & 15, depth)
        return found

    def _value(self, kind: int, depth: int, *, listed: bool = False) -> Any:
        if kind in (TRUE, FALSE):
            # A field has its truth in its head, a list in a byte of each.
            return self._byte() == TRUE if listed else kind == TRUE
        if kind == BYTE:
            return self._byte()
        if kind < DOUBLE:
            return self._number()
        if kind == STRUCTURE:
            return self.structure(depth + 1)
        if kind in (DOUBLE, BINARY):
            self._skip(8 if kind == DOUBLE else self._unsigned())
        elif kind in (LIST, SET):
            head = self._byte()
            for _ in range(self._unsigned() if head >> 4 == 15 else head >> 4):
                self._value(head & 15, depth + 1, listed=True)
        else:
            raise ValueError(f"a header has a value of the unknown type {kind}")
        return None

    def _byte(self) -> int:
        self.place += 1
        return self.content[self.place - 1]

    def _skip(self, count: int) -> None:
        self.place += count
        if self.place > len(self.content):
            raise IndexError("it is cut off")

    def _unsigned(self) -> int:
        found = 0
        for k in range(LONGEST):
            byte = self._byte()
            found |= (byte & 127) << (7 * k)
            if byte < 128:
                return found
        raise ValueError("a header has a number that does not end")

    def _number(self) -> int:
        found = self._unsigned()
        return (found >> 1) ^ -(found & 1)
