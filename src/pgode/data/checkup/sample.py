"""The part of data that is examined where they are larger than memory."""

import numpy as np

from pgode.data.schema import SPLITS
from pgode.data.trajectories import Trajectories
from pgode.runtime.memory import usable_memory

PART = 32
"""One part in so many of the memory is for the examined values, of which checks make copies."""


def examined_part(data: Trajectories) -> tuple[Trajectories, str]:
    """Data to examine, in memory, and what part they are; all of them, and nothing, if they fit.

    Systems are taken evenly from each split. Where not even one of each fits, the first frames of
    those are taken.
    """
    if not data.is_stored:
        return data, ""
    values = data.objects * data.frames * len(data.features) * 9
    edges = data.edges.number * 20
    per_system = values + edges // data.systems + 1
    room = usable_memory() // PART
    most = room // per_system
    if most >= data.systems:
        return data.in_memory(), ""
    splits = [np.flatnonzero(data.split == name) for name in SPLITS]
    splits = [systems for systems in splits if len(systems)]
    chosen = []
    for systems in splits:
        count = max(min(most * len(systems) // data.systems, len(systems)), 1)
        chosen.append(systems[np.linspace(0, len(systems) - 1, count).astype(np.int64)])
    part = data.select(np.sort(np.concatenate(chosen)))
    note = f"{part.systems:,} of {data.systems:,} systems, evenly spaced"
    frames = room // max(part.systems * per_system // data.frames, 1)
    if frames < data.frames:
        part = part.frames_between(0, max(frames, 2))
        note += f", and their first {part.frames:,} of {data.frames:,} frames"
    return (
        part.in_memory(),
        f"{note}, because the file is larger than memory; all numbers are theirs",
    )
