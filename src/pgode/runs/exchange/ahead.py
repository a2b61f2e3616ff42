"""What a forecast is asked for: frames or times ahead, samples and a seed."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from pgode.runtime.choices import abridged, is_int
from pgode.runtime.errors import InputError
from pgode.runtime.limits.bounds import FRAMES, SAMPLES, SEED, SMALL


def frames_of(
    until: int | None, times: Sequence[float] | None, trained: int, frame_duration: float
) -> Float[np.ndarray, " outputs"]:
    """Forecast times, in frames after the last observed one; up to the trained one if none."""
    if until is not None and times is not None:
        raise InputError(
            "both a number of frames (until) and times were given. Expected one of them. "
            "Leave one out."
        )
    if until is not None and not (is_int(until) and 1 <= until <= FRAMES):
        raise InputError(
            f"cannot forecast until frame {abridged(until)}. Expected a number of frames after the "
            f"last observed one, at least 1 and at most {FRAMES}. Leave it out for the trained "
            f"horizon of {trained}."
        )
    if times is not None:
        return _frames_at(list(times), frame_duration)
    return np.arange(1, (until or trained) + 1, dtype=np.float64)


def check_draws(samples: int, seed: int, least: int = 0) -> None:
    """Refuse numbers of samples and seeds that the random generators do not accept."""
    whole = is_int(samples) and is_int(seed)
    if not whole or not least <= samples <= SAMPLES or not 0 <= seed <= SEED:
        raise InputError(
            f"cannot draw {abridged(samples)} samples with seed {abridged(seed)}. Expected {least} "
            f"to {SAMPLES} samples, and a seed from 0 to {SEED}, whole numbers. Correct them."
        )


def _frames_at(times: list[float], frame_duration: float) -> Float[np.ndarray, " outputs"]:
    try:
        frames = np.asarray(times, dtype=np.float64) / frame_duration
    except (TypeError, ValueError):
        frames = np.empty(0)
    if len(frames) == 0 or not np.isfinite(frames).all() or (frames < SMALL).any():
        raise InputError(
            f"cannot forecast at the times {abridged(times)}. Expected finite times after the last "
            f"observation, each above 0. Correct them."
        )
    if frames[-1] > FRAMES:
        raise InputError(
            f"cannot forecast {times[-1]:g} after the last observation, which is {frames[-1]:.3g} "
            f"frames of {frame_duration:g}. Expected at most {FRAMES} frames. Ask for earlier "
            f"times."
        )
    if (np.diff(frames) <= 0).any():
        raise InputError(
            f"the times {times} do not increase. Expected each later than the one before. Sort "
            f"them and drop repeats."
        )
    return frames
