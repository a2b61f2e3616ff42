"""One file as a trial: which frames are kept, their states, and windows of them."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Float

from pgode.data.files.mocap.bvh import Motion
from pgode.data.files.mocap.hierarchy import Joint
from pgode.data.files.mocap.kinematics import positions
from pgode.runtime.choices import abridged, is_int
from pgode.runtime.errors import InputError
from pgode.runtime.limits.bounds import FRAMES, LARGE, SMALL

WHOLE = 5e-4
"""A rate this near to a whole number is that number: files store frame times in few digits."""
TOLERANCE = 0.01
"""Largest relative difference between the rate asked for and one that every n-th frame gives."""

Relative = Literal["hip", "world"]


@dataclass(frozen=True)
class Cut:
    """What to take from each file.

    `rate` is in frames per second (that of the files if None); `window` and `stride` are in frames
    at that rate (whole files if None); `skip` counts frames of the file.
    """

    rate: float | None = None
    window: int | None = None
    stride: int | None = None
    relative: Relative = "hip"
    skip: int = 0
    ends: bool = False

    def check(self) -> None:
        """Refuse numbers that select nothing."""
        for name, value, least in (
            ("--window", self.window, 2),
            ("--stride", self.stride, 1),
            ("--skip", self.skip, 0),
        ):
            if value is not None and not (is_int(value) and least <= value <= FRAMES):
                raise InputError(
                    f"{name} is {abridged(value)}. Expected {least} or more frames, at most "
                    f"{FRAMES}. Correct it."
                )
        if self.rate is not None and not SMALL <= self.rate <= LARGE:
            raise InputError(
                f"--rate is {self.rate:g}. Expected frames per second, above 0. Correct it."
            )
        if self.stride is not None and self.window is None:
            raise InputError(
                f"--stride {self.stride} has no effect without --window. Expected both, to cut "
                f"each file into windows. Add --window, or leave --stride out."
            )
        if self.relative not in ("hip", "world"):
            raise InputError(
                f'--relative is "{self.relative}". Expected hip (the root is the origin of every '
                f"frame) or world. Choose one of these."
            )


@dataclass(frozen=True)
class Trial:
    """The frames that are kept of one file."""

    name: str
    joints: tuple[Joint, ...]
    times: Float[np.ndarray, " frame"]
    states: Float[np.ndarray, "joint frame 6"]


def trial_of(motion: Motion, name: str, cut: Cut) -> Trial:
    """Every n-th frame of a file, with velocities."""
    step, frame_time = _step(motion, cut)
    kept = positions(motion)[cut.skip :: step]
    if len(kept) < 3:
        raise InputError(
            f"{motion.path} has {len(motion.values)} frames, of which {len(kept)} are kept (every "
            f"{step}. from frame {cut.skip + 1}). Expected 3 or more, as the first has no "
            f"velocity. Leave the file out, or lower --skip or raise --rate."
        )
    if cut.relative == "hip":
        kept = kept - kept[:, :1]
    chosen = [k for k, joint in enumerate(motion.joints) if cut.ends or not joint.is_end]
    place = {old: new for new, old in enumerate(chosen)}
    joints = tuple(
        replace(motion.joints[k], parent=place.get(motion.joints[k].parent, -1)) for k in chosen
    )
    kept = kept[:, chosen]
    velocity = np.diff(kept, axis=0) / frame_time
    states = np.concatenate([kept[1:], velocity], axis=2).swapaxes(0, 1)
    times = np.arange(1, len(kept)) * frame_time + cut.skip * frame_time / step
    return Trial(name, joints, times, states)


def _step(motion: Motion, cut: Cut) -> tuple[int, float]:
    """One frame in how many is kept, and the seconds between two kept ones."""
    rate = 1 / motion.frame_time
    if abs(rate - round(rate)) < WHOLE * rate:
        rate = float(round(rate))
    if cut.rate is None:
        return 1, 1 / rate
    step = max(round(rate / cut.rate), 1)
    if abs(rate / step - cut.rate) > TOLERANCE * cut.rate:
        possible = sorted({rate / k for k in (step - 1, step, step + 1) if k > 0}, reverse=True)
        raise InputError(
            f"{motion.path} has {rate:g} frames per second, which every n-th frame cannot turn "
            f"into --rate {cut.rate:g}. Expected a rate that divides {rate:g}. Choose one of "
            f"{', '.join(f'{each:.4g}' for each in possible)}, or leave --rate out."
        )
    return step, step / rate


def windows(trial: Trial, cut: Cut) -> list[Trial]:
    """The trial, or windows of it; frames after the last whole window are left out."""
    if cut.window is None:
        return [trial]
    frames = len(trial.times)
    if frames < cut.window:
        raise InputError(
            f'the file "{trial.name}" has {frames} frames at this rate. Expected at least one '
            f"window of {cut.window}. Lower --window, or leave the file out."
        )
    starts = range(0, frames - cut.window + 1, cut.stride or cut.window)
    return [
        replace(
            trial,
            name=f"{trial.name}, frame {start}",
            times=trial.times[start : start + cut.window],
            states=trial.states[:, start : start + cut.window],
        )
        for start in starts
    ]
