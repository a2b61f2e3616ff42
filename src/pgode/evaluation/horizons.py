"""Horizons over which errors are averaged: the defaults, and a check against the data."""

from collections.abc import Sequence

from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError

SPACING = 12
"""Frames between default horizons. The same for every trained horizon, so that errors of models
trained to different ones are comparable; published errors are over 12, 24 and 36 frames."""
MAX_HORIZONS = 3
"""Number of default horizons: a table of three, with two variables each, fits 80 columns."""


def default_horizons(trained: int) -> list[int]:
    """Multiples of 12 frames below the trained horizon, and the trained horizon itself.

    36 gives 12, 24, 36; 24 gives 12, 24; 6 gives 6. Beyond 36 frames the spacing is the smallest
    multiple of 12 that leaves three horizons: 60 gives 24, 48, 60.
    """
    spacing = SPACING * -(-trained // (SPACING * MAX_HORIZONS))
    return [*range(spacing, trained, spacing), trained]


def check_horizons(
    data: Trajectories, splits: Sequence[str], condition: int, horizons: Sequence[int]
) -> None:
    """Refuse horizons that no system of a split reaches."""
    for split in splits:
        frames = int(data.split_of(split).n_frames.max())
        if frames <= condition:
            raise InputError(
                f"the systems of the split {split} have at most {frames} frames, and the model "
                f"sees {condition} before it forecasts. Expected at least {condition + 1} frames. "
                f"Give longer data, or a model trained with a shorter condition."
            )
        if min(horizons) < 1 or condition + max(horizons) > frames:
            raise InputError(
                f"cannot score horizons {list(horizons)} on the split {split}: its systems have at "
                f"most {frames} frames, of which {condition} are the condition. Expected horizons "
                f"from 1 to {frames - condition}. Choose others with --horizons, or give longer "
                f"data."
            )
