"""Which condition and horizon suit the data, before any check looks at windows."""

import numpy as np

from pgode.data.checkup.finding import Finding, Severity, counted
from pgode.data.checkup.subject import Subject
from pgode.data.trajectories import Trajectories

CONDITION, HORIZON = 12, 36
"""Frames of the defaults of `pgode train`."""
SEASONS = {7: 21, 24: 24}
"""Horizon for data with a season of so many frames, of which two are observed."""
FEW, HARDLY = 100, 10
"""Training windows below which a network is hard to train, and below which it cannot be."""
ENOUGH = 20
"""Windows without overlap that are enough even if there are no others."""


def suitable_window(data: Trajectories, period: int = 0) -> tuple[int, int]:
    """Condition and horizon that every split reaches, with two seasons where one shows.

    A few systems that are shorter than the others do not count; `too_short` names them.
    """
    frames, split = data.n_frames, data.split
    reach = int(min(frames[split == name].max() for name in set(split.tolist())))
    usual = min(reach, int(np.quantile(frames, 0.1)))
    if period in SEASONS and usual >= 3 * period:
        condition, horizon = 2 * period, SEASONS[period]
    else:
        condition, horizon = min(CONDITION, max(1, usual // 2)), HORIZON
    return condition, max(1, min(horizon, reach - condition))


def too_short(subject: Subject) -> list[Finding]:
    """Systems that are shorter than a window."""
    length, frames = subject.condition + subject.horizon, subject.frames
    findings = []
    short = np.flatnonzero(frames <= subject.condition)
    if len(short):
        shortest = int(short[np.argmin(frames[short])])
        findings.append(
            Finding(
                "problem",
                "frames",
                f"{counted(len(short), 'system')} of {len(frames):,} have no frame after a "
                f"condition of {subject.condition} frames; the shortest has {frames[shortest]}.",
                f"Drop systems of up to {subject.condition} frames, or observe fewer: --set "
                f"window.condition={max(1, int(frames.min()) - 1)}.",
                subject.place(shortest),
            )
        )
    training = frames[subject.data.split == "train"]
    if not len(short) and training.size and training.max() < length:
        reach = int(training.max()) - subject.condition
        findings.append(
            Finding(
                "problem",
                "frames",
                f"condition and horizon take {length} frames, but the longest training system has "
                f"{training.max()}.",
                f"Forecast at most {reach} frames: --horizon {reach}.",
            )
        )
    return findings


def too_few(subject: Subject) -> list[Finding]:
    """Too few windows to train a network on."""
    frames = subject.frames[subject.data.split == "train"]
    if not frames.size:
        return []
    length = subject.condition + subject.horizon
    windows = int(np.maximum(frames - length + 1, 0).sum())
    apart = int((frames // length).sum())
    if windows == 0 or apart >= ENOUGH or (windows >= FEW and apart >= HARDLY):
        return []
    named = len(subject.data.position_features) and len(subject.data.velocity_features)
    severity: Severity = "problem" if windows < HARDLY else "warning"
    return [
        Finding(
            "note" if named and windows >= HARDLY else severity,
            "size",
            f"{counted(len(frames), 'training system')} with {counted(windows, 'window')} of "
            f"{length} frames, of which {apart} do not overlap: few to train a network on.",
            "Give more systems or longer ones, or shorten the window (--condition, --horizon). "
            "Force laws need fewer than networks.",
        )
    ]
