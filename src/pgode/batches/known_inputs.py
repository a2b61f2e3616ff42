"""Known inputs at the times of a forecast beyond the last observation."""

import numpy as np
from jaxtyping import Float, Int

from pgode.batches.normaliser import Normaliser
from pgode.data.labels.calendar import CALENDAR, calendar_input, dates
from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError

NEAR = 0.01
"""A frame of the data is at a time of the forecast if they are this near, in frames."""


def future_inputs(
    data: Trajectories,
    normaliser: Normaliser,
    systems: Int[np.ndarray, " n"],
    seen: Int[np.ndarray, " system"],
    ahead: Float[np.ndarray, " outputs"],
) -> Float[np.ndarray, "n object outputs input"]:
    """Scaled inputs of some systems at `ahead` frames after the last observed one.

    They come from later frames of the data, which hold inputs and no observations, or follow from
    the date. Anything else is unknown, and an error.
    """
    last = data.times[systems, seen[systems] - 1]
    times = last[:, None] + ahead * normaliser.frame_duration
    shape = (len(systems), data.objects, len(ahead), len(normaliser.inputs))
    known = np.full(shape, np.nan)
    for row, system in enumerate(systems):
        clock = data.times[system]
        place = np.nanargmin(np.abs(clock[:, None] - times[row]), axis=0)
        near = np.abs(clock[place] - times[row]) <= NEAR * normaliser.frame_duration
        known[row][:, near] = data.inputs_of(int(system))[:, place[near]]
    if data.time_origin:
        when = dates(times, data.time_origin, data.time_units)
        for k, name in enumerate(normaliser.inputs):
            follows = calendar_input(name, when)
            if follows is not None:
                known[..., k] = follows[:, None]
    missing = np.isnan(known) & data.present[systems][:, :, None, None]
    for row, item, output, k in np.argwhere(missing)[:1]:
        system = int(systems[row])
        raise InputError(
            f'the input "{normaliser.inputs[k]}" of {data.object_label(system, item)} of '
            f"{data.system_label(system)} is not known at {data.when(times[row, output])}, which "
            f"is to be forecast. Expected it for every time of the forecast. Add frames (rows) "
            f"for these times, with the input and without states; only {', '.join(CALENDAR)} "
            f"follow from a date."
        )
    return normaliser.scaled_inputs(known)
