"""The memory that the rows of a table need until they are arrays, before it is used."""

from pgode.runtime.memory import refuse_beyond_memory

ROW = 100.0
"""Bytes of a row besides its features: codes, times, keys, orders and places."""
MELTED = 36.0
"""Bytes more of a row that was a cell of a wide table: time, object, and its place in the file."""


def refuse_rows(rows: int, features: int, source: str, more: float = 0.0) -> None:
    """Refuse more rows than memory can hold, each with `more` bytes than usual."""
    refuse_beyond_memory(
        rows * (ROW + more + 8.0 * features),
        f"{source} with {rows} rows, one for each object and time,",
        "Import parts of it, such as fewer objects or a shorter time.",
    )
