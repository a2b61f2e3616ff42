"""Rows as arrays over systems, objects and frames."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from pgode.data.files.table.rows import Rows
from pgode.data.files.table.series.segments import Segments
from pgode.data.labels.calendar import calendar_input, calendar_names, dates
from pgode.data.trajectories import BUILDING
from pgode.runtime.memory import refuse_beyond_memory

MEMBER = 45
"""Bytes of a row in a window while its place is looked for, besides its values: six numbers."""
ADVICE = "Cut long series with --window, give a larger --stride, or name --system."


@dataclass(frozen=True)
class Dense:
    """Arrays over (system, object, time); `item` numbers the names of objects, -1 where absent."""

    states: Float[np.ndarray, "system object time feature"]
    inputs: Float[np.ndarray, "system object time input"]
    times: Float[np.ndarray, "system time"]
    present: Bool[np.ndarray, "system object"]
    item: Int[np.ndarray, "system object"]
    constants: Float[np.ndarray, "system object constant"]
    origin: Int[np.ndarray, " system"]
    split: list[str]
    names: list[str]


def dense_arrays(
    rows: Rows,
    values: Float[np.ndarray, "row feature"],
    cut: Segments,
    source: str,
    note: Callable[[str], None],
    *,
    keep_all: bool,
) -> Dense:
    """Arrays of all pieces, with the objects that are observed in each, in order of appearance."""
    system = rows.group_system[rows.group]
    wide = values.shape[1] + rows.inputs.shape[1]
    placing = (MEMBER + 8.0 * wide) * cut.count(system, rows.frames.of_row)
    refuse_beyond_memory(placing, f"{source} in {int(cut.windows.sum())} windows", ADVICE)
    row, piece, local = cut.members(system, rows.frames.of_row)
    segment, first = cut.pieces()
    groups = len(rows.group_system)
    key = piece * groups + rows.group[row]
    seen = np.isfinite(values).any(axis=1)[row]
    slots = np.unique(key if keep_all else key[seen])
    alive, place = np.unique(slots // groups, return_inverse=True)
    if len(alive) < len(first):
        note(f"{len(first) - len(alive)} windows hold no observation and are left out")
    starts = np.searchsorted(place, np.arange(len(alive)))
    rank = np.arange(len(slots)) - starts[place]
    objects, length = int(rank.max()) + 1, cut.length[segment[alive]]
    shape = (len(alive), objects, int(length.max()))
    width = values.shape[1]
    dense = wide * float(np.prod(shape, dtype=np.float64))
    refuse_beyond_memory(
        max(placing + 8 * dense, BUILDING * dense),
        f"{source}, which becomes {shape[0]} systems of up to {shape[1]} objects and {shape[2]} "
        f"frames,",
        ADVICE,
    )
    at = np.searchsorted(slots, key)
    if not keep_all:
        kept = (at < len(slots)) & (slots[np.minimum(at, len(slots) - 1)] == key)
        row, local, at = row[kept], local[kept], at[kept]
    flat = (place[at] * objects + rank[at]) * shape[2] + local
    states = np.full((np.prod(shape), width), np.nan)
    states[flat] = values[row]
    inputs = np.full((np.prod(shape), rows.inputs.shape[1]), np.nan)
    inputs[flat] = rows.inputs[row]
    owner = cut.system[segment[alive]]
    step = np.arange(shape[2])
    clock = rows.frames.first[owner][:, None] + first[alive][:, None] + step
    times = rows.frames.times[np.minimum(clock, len(rows.frames.times) - 1)]
    times[step >= length[:, None]] = np.nan
    item = np.full((len(alive), objects), -1)
    item[place, rank] = rows.group_object[slots % groups]
    constants = np.full((*item.shape, len(rows.constant_names)), np.nan)
    constants[place, rank] = rows.constants[slots % groups]
    return Dense(
        states=states.reshape(*shape, width),
        inputs=inputs.reshape(*shape, -1),
        times=times,
        present=item >= 0,
        item=item,
        constants=constants,
        origin=owner,
        split=[str(each) for each in cut.split[segment[alive]]],
        names=[cut.names[k] for k in alive],
    )


def dense_inputs(
    rows: Rows, dense: Dense
) -> tuple[Float[np.ndarray, "system object time input"], tuple[str, ...]]:
    """Inputs from columns, and from the calendar at every frame.

    A column that never differs between the objects of a system holds for objects without a row too.
    """
    known: list[Shaped[np.ndarray, "..."]] = []
    for k in range(dense.inputs.shape[-1]):
        values = dense.inputs[..., k]
        low = np.fmin.reduce(values, axis=1)
        high = np.fmax.reduce(values, axis=1)
        shared = ((low == high) | np.isnan(low)).all()
        known.append(np.where(np.isnan(values), low[:, None], values) if shared else values)
    names = list(rows.input_names)
    when = dates(dense.times, rows.origin, rows.time_units) if rows.calendar else None
    for which in rows.calendar:
        for name in calendar_names(which):
            assert when is not None
            value = calendar_input(name, when)
            assert value is not None
            names.append(name)
            known.append(np.broadcast_to(value[:, None], dense.states.shape[:3]))
    return (np.stack(known, axis=-1) if known else dense.inputs), tuple(names)
