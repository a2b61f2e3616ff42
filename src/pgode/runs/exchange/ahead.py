"""What a forecast is asked for: frames or times ahead, samples and a seed."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from pgode.runtime.errors import InputError


def frames_of(
    until: int | None, times: Sequence[float] | None, trained: int, frame_duration: float
) -> Float[np.ndarray, " outputs"]:
    """Forecast times, in frames after the last observed one; up to the trained one if none."""
    if until is not None and times is not None:
        raise InputError(
            "both a number of frames (until) and times were given. Expected one of them. "
            "Leave one out."
        )
    if until is not None and until < 1:
        raise InputError(
            f"cannot forecast until frame {until}. Expected a number of frames after the last "
            f"observed one, at least 1. Leave it out for the trained horizon of {trained}."
        )
    if times is not None:
        return _frames_at(list(times), frame_duration)
    return np.arange(1, (until or trained) + 1, dtype=np.float64)


def check_draws(samples: int, seed: int, least: int = 0) -> None:
    """Refuse numbers of samples and seeds that the random generators do not accept."""
    if samples < least or not 0 <= seed < 2**63:
        raise InputError(
            f"cannot draw {samples} samples with seed {seed}. Expected {least} or more samples, "
            f"and a seed from 0 to {2**63 - 1}. Correct them."
        )


def _frames_at(times: list[float], frame_duration: float) -> Float[np.ndarray, " outputs"]:
    frames = np.asarray(times, dtype=np.float64) / frame_duration
    if len(frames) == 0 or not np.isfinite(frames).all() or (frames <= 0).any():
        raise InputError(
            f"cannot forecast at the times {times}. Expected finite times after the last "
            f"observation, each above 0. Correct them."
        )
    if (np.diff(frames) <= 0).any():
        raise InputError(
            f"the times {times} do not increase. Expected each later than the one before. Sort "
            f"them and drop repeats."
        )
    return frames
