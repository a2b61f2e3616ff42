"""Single series: values that jump, and values that do not move although they should."""

from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float

from pgode.data.checkup.checks.motion import wrapped_steps
from pgode.data.checkup.checks.values import heavy_tailed
from pgode.data.checkup.finding import Finding, counted, listed, number
from pgode.data.checkup.subject import Subject, thinned

JUMP = 8.0
"""A step longer than this many large ones (95 % are shorter) is a jump."""
RARE = 0.01
"""Jumps are exceptions: if a larger share of the steps were, such steps would be usual."""
MOST = 3
"""Features of which a finding is listed."""
STUCK = 10
"""Equal values in a row from which a sensor may be stuck."""


def jumps(subject: Subject) -> list[Finding]:
    """Steps far outside the usual of a feature.

    Velocities are left out: they turn within a frame at a wall or in a close encounter, and there
    is nothing wrong with that. Features with heavy tails are judged by their logarithms.
    """
    found: list[tuple[float, Finding]] = []
    for k, name in enumerate(subject.features):
        if k in subject.velocities:
            continue
        series = subject.series(k)
        if heavy_tailed(subject, k):
            series = np.log1p(series)
        steps = np.abs(np.diff(series, axis=2))
        steps[wrapped_steps(subject, k)] = np.nan
        usual = _large_step(steps)
        if usual == 0:
            continue
        with np.errstate(invalid="ignore"):
            jumped = steps > JUMP * usual
        jumped &= _unlike_own(np.abs(np.diff(subject.series(k), axis=2)), jumped)
        count = int(jumped.sum())
        if not 0 < count <= max(1, RARE * np.isfinite(steps).sum()):
            continue
        system, item, frame = np.unravel_index(
            int(np.argmax(np.where(jumped, steps, 0.0))), steps.shape
        )
        if frame and jumped[system, item, frame - 1]:
            frame -= 1  # A single wrong value makes two jumps; the first leads to it.
        before, after = (subject.states[system, item, frame + j, k] for j in (0, 1))
        finding = Finding(
            "warning",
            "jumps",
            f"{name} jumps from {number(before)} to {number(after)}, "
            f"{number(steps[system, item, frame] / usual)} times a large step"
            + (f"; {counted(count, 'such step')} in all." if count > 1 else "."),
            "Look at it: mark a wrong value as missing, or cut the series where another object "
            "or a new recording begins.",
            subject.place(int(system), int(item), int(frame) + 1, k),
        )
        found.append((float(steps[system, item, frame] / usual), finding))
    return _worst(found)


def frozen(subject: Subject) -> list[Finding]:
    """Values that stay exactly the same for many frames of a series that otherwise moves."""
    found: list[tuple[float, Finding]] = []
    if subject.data.frames <= STUCK:
        return []
    for k, name in enumerate(subject.features):
        if k in subject.velocities:
            continue
        longest, last = _longest_run(subject.series(k), _floor(subject, k))
        moves = longest < np.maximum(subject.frames - 1, 1)[:, None]
        stuck = (longest >= max(STUCK, subject.data.frames // 20)) & moves
        share = stuck.sum() / max(1, subject.data.present.sum())
        if not stuck.any():
            continue
        system, item = np.unravel_index(int(np.argmax(np.where(stuck, longest, 0))), stuck.shape)
        frame = int(last[system, item])
        value, others = subject.states[system, item, frame, k], int(stuck.sum()) - 1
        finding = Finding(
            "warning" if share < 0.1 else "note",
            "frozen values",
            f"{name} stays {number(value)} for {longest[system, item] + 1} frames until then"
            + (f", and so do {others} other series at times." if others else "."),
            "If the sensor was stuck, or gaps were filled with the last value, mark these "
            "values as missing.",
            subject.place(int(system), int(item), frame, k),
        )
        found.append((float(longest[system, item]), finding))
    return _worst(found)


def _unlike_own(
    steps: Float[np.ndarray, "system object step"], jumped: Bool[np.ndarray, "system object step"]
) -> Bool[np.ndarray, "system object step"]:
    """Where a step is also far beyond the usual of its own series, whose scale may be its own."""
    unlike = np.zeros(jumped.shape, dtype=bool)
    rows, items = np.nonzero(jumped.any(axis=2))
    if len(rows):
        own = steps[rows, items]
        # In a short series a single wrong value is more than one step in twenty.
        share = float(np.clip(1 - 3 / own.shape[1], 0.5, 0.95))
        usual = np.nanquantile(own, share, axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            unlike[rows, items] = own > JUMP * usual
    return unlike


def _worst(found: list[tuple[float, Finding]]) -> list[Finding]:
    """The worst findings of a check; the last names the features of those that are left out."""
    ranked = [finding for _, finding in sorted(found, key=lambda each: -each[0])]
    kept, left = ranked[:MOST], ranked[MOST:]
    if left:
        also = listed([finding.place.feature for finding in left])
        kept[-1] = replace(kept[-1], text=f"{kept[-1].text} Also in {also}.")
    return kept


def _large_step(steps: Float[np.ndarray, "system object step"]) -> float:
    known = thinned(steps)
    known = known[known > 0]
    return float(np.quantile(known, 0.95)) if known.size >= 20 else 0.0


def _floor(subject: Subject, feature: int) -> float:
    """The least value of a feature that has many of them: counts rest at 0, and that is normal."""
    values = subject.sample(feature)
    least = float(values.min()) if values.size else float("nan")
    return least if values.size and (values == least).mean() > 0.01 else float("nan")


def _longest_run(
    series: Float[np.ndarray, "system object time"], floor: float
) -> tuple[np.ndarray, np.ndarray]:
    """Most steps without change in a row in each series, and the frame at which they end."""
    same: Bool[np.ndarray, "system object step"] = np.diff(series, axis=2) == 0
    same &= series[:, :, 1:] != floor
    count = np.arange(1, same.shape[2] + 1)
    # Steps since the last change: the running number minus that of the last change.
    since = count - np.maximum.accumulate(np.where(same, 0, count), axis=2)
    last = np.argmax(since, axis=2)
    return np.take_along_axis(since, last[..., None], axis=2)[..., 0], last + 1
