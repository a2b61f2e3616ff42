"""The plain arrays of Arrow that columns of lists and structures are made of."""

from collections.abc import Iterator
from typing import Any


def leaves(values: Any) -> Iterator[Any]:
    """All of them; a plain column is its own."""
    from pyarrow import types

    kind = values.type
    if types.is_struct(kind):
        for part in values.flatten():
            yield from leaves(part)
    elif types.is_map(kind):
        yield from leaves(values.keys)
        yield from leaves(values.items)
    elif types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        yield from leaves(values.flatten())
    elif types.is_list_view(kind) or types.is_large_list_view(kind):
        yield from leaves(values.values)  # Lists may overlap: joined, they could be anything.
    else:
        yield values
