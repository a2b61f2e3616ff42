"""Times: gaps, uneven steps, clocks that differ, frames that nearly coincide."""

import numpy as np

from pgode.data.checkup.finding import Finding, counted, number
from pgode.data.checkup.subject import Subject

GAP = 1.5
"""A step longer than this many usual ones leaves out at least one frame."""
SAME = 0.1
"""Steps that differ by less than this share count as equal."""
UNEVEN = 0.2
"""Share of unequal steps from which a clock is irregular, rather than regular with gaps."""
COINCIDE = 0.01
"""Steps below this share of the usual one."""


def gaps(subject: Subject) -> list[Finding]:
    """Missing frames in a regular clock."""
    ratio = _ratio(subject)
    long = ratio > GAP
    if not long.any() or _is_uneven(subject):
        return []
    system, frame = np.unravel_index(int(np.argmax(np.nan_to_num(ratio))), ratio.shape)
    start, end = (subject.data.when(float(subject.times[system, frame + k])) for k in (0, 1))
    return [
        Finding(
            "warning",
            "gaps",
            f"{counted(int(long.sum()), 'gap')} in time in "
            f"{counted(int(long.any(1).sum()), 'system')}; the longest, from {start} to {end}, is "
            f"{number(ratio[system, frame])} usual steps.",
            "Add the missing frames with missing values, or cut the series there into systems.",
            subject.place(int(system), None, int(frame)),
        )
    ]


def uneven_steps(subject: Subject) -> list[Finding]:
    """Irregular clocks, which models take as they are but frames do not count."""
    if not _is_uneven(subject):
        return []
    known = subject.steps[np.isfinite(subject.steps)]
    low, high = np.quantile(known, [0.05, 0.95])
    return [
        Finding(
            "note",
            "time steps",
            f"time steps are irregular: most are between {number(low)} and {number(high)} "
            f"{subject.data.time_units}".rstrip()
            + f", the median is {number(subject.step)}.",
            "A frame of the horizon is the median step; resample to a regular clock if frames are "
            "to mean the same everywhere.",
        )
    ]


def differing_clocks(subject: Subject) -> list[Finding]:
    """Systems whose own usual step is not that of the others."""
    if subject.steps.shape[1] == 0 or _is_uneven(subject):
        return []
    known = np.isfinite(subject.steps)
    rows = np.flatnonzero(known.any(axis=1))
    own = (subject.times[rows, subject.frames[rows] - 1] - subject.times[rows, 0]) / (
        subject.frames[rows] - 1
    )
    # A gap makes the mean step longer, so a clock differs only if no step is a usual one.
    usual = (np.abs(_ratio(subject)[rows] - 1) < SAME).any(axis=1)
    odd = np.flatnonzero(~usual)
    if not len(odd):
        return []
    first = int(odd[0])
    return [
        Finding(
            "warning",
            "time steps",
            f"{counted(len(odd), 'system')} of {len(rows):,} have another time step: "
            f"{number(own[first])} here, usually {number(subject.step)}.",
            "Resample them to one step, or keep one kind; a horizon in frames is otherwise not the "
            "same time for all.",
            subject.place(int(rows[first])),
        )
    ]


def coinciding_frames(subject: Subject) -> list[Finding]:
    """Frames that follow another almost at once, as doubled rows with rounded clocks do."""
    near = _ratio(subject) < COINCIDE
    if not near.any():
        return []
    system, frame = (int(place) for place in np.argwhere(near)[0])
    return [
        Finding(
            "warning",
            "duplicated times",
            f"{counted(int(near.sum()), 'frame')} follow the one before within a hundredth of the "
            f"usual step of {number(subject.step)}: doubled rows?",
            "Drop the repeats.",
            subject.place(system, None, frame + 1),
        )
    ]


def _ratio(subject: Subject) -> np.ndarray:
    return subject.steps / subject.step if np.isfinite(subject.step) else subject.steps


def _is_uneven(subject: Subject) -> bool:
    known = np.isfinite(subject.steps)
    if not known.any():
        return False
    # Each system is compared with its own clock: systems may have different ones.
    own = np.full(len(subject.steps), np.nan)
    rows = known.any(axis=1)
    own[rows] = np.nanmedian(subject.steps[rows], axis=1)
    with np.errstate(invalid="ignore"):
        off = np.abs(subject.steps / own[:, None] - 1) > SAME
    return bool(off[known].mean() > UNEVEN)
