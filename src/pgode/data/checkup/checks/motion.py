"""Positions and velocities: which features are, and what bounds the motion."""

import numpy as np
from jaxtyping import Bool, Float

from pgode.data.checkup.finding import Finding, counted, listed, number
from pgode.data.checkup.subject import Subject

DERIVED = 0.99
"""Correlation with the finite difference of another feature from which one is its derivative."""
UNRELATED, CLEAN = 0.5, 0.9
"""Correlation below which a named velocity is not that of its position, and above which the ratio
of the two is known well."""
LONG = 10
"""Frames over which the noise of positions hardly hides their velocity."""
PAIRS = 50_000
"""Steps that a correlation is taken over."""
MOST_FEATURES = 40
WRAP = 0.7
"""A step of this share of the range can only be a return to the other side of a box."""
FEW = 5
EDGE = 0.06
"""Share of the range that counts as near a wall."""


def derivatives(subject: Subject) -> list[Finding]:
    """Features that are the rate of change of another, but have no role."""
    if subject.data.frames < 3 or len(subject.features) > MOST_FEATURES:
        return []
    rows = _steps(subject)
    free = [k for k, role in enumerate(subject.roles) if role == "value"]
    found = []
    for k in free:
        for j in free:
            if j == k or not rows[1][:, k].size:
                continue
            correlation, slope = _related(rows[0][:, j], rows[1][:, k])
            if correlation > DERIVED:
                found.append((j, k, correlation, slope))
    if not found:
        return []
    names = [
        f"{subject.features[k]} is the derivative of {subject.features[j]}" for j, k, *_ in found
    ]
    slope = found[0][3]
    scaled = "" if abs(slope - 1) < 0.1 else f" (times {slope:.2g}: other units?)"
    return [
        Finding(
            "warning",
            "roles",
            f"{listed(names)}{scaled}, but {'has' if len(found) == 1 else 'have'} no role.",
            "Name them as position and velocity: x and vx, or roles= (Trajectories.build). Force "
            "laws and constant velocity need them.",
            subject.place(feature=found[0][1]),
        )
    ]


def no_velocities(subject: Subject) -> list[Finding]:
    """Positions without velocities."""
    if not subject.positions or subject.velocities:
        return []
    names = [subject.features[k] for k in subject.positions]
    return [
        Finding(
            "note",
            "roles",
            f"{listed(names)} by name: positions, but there are no velocities.",
            "Derive them from past frames: --velocities (pgode import table). Force laws and "
            "constant velocity need them.",
        )
    ]


def wrong_velocities(subject: Subject) -> list[Finding]:
    """Features with the role of a velocity that are not the rate of change of their position.

    Judged over one frame and over several, of which the better counts: over one frame noise of the
    positions hides their velocity, and over several a sharp turn is missed.
    """
    if subject.data.frames < 3:
        return []
    spans = [_steps(subject, span) for span in (1, min(LONG, subject.data.frames - 1))]
    findings = []
    pairs = zip(subject.data.position_features, subject.data.velocity_features, strict=False)
    for j, k in pairs:
        related = [_related(rates[:, j], means[:, k]) for rates, means in spans]
        correlation, slope = max(related, key=lambda each: np.nan_to_num(each[0], nan=-1.0))
        position, velocity = subject.features[j], subject.features[k]
        if correlation > CLEAN and not 0.8 < slope < 1.25:
            text = (
                f"{velocity} is {slope:.2g} times the rate of change of {position}: its units are "
                f"not those of {position} per time."
            )
            fix = f"Convert {velocity} to the units of {position} per unit of time."
        elif correlation < UNRELATED:
            text = (
                f"{velocity} is not the rate of change of {position}: their correlation is "
                f"{correlation:.2f}."
            )
            fix = "Check the order of the columns, or give both the role value."
        else:
            continue
        findings.append(Finding("problem", "velocities", text, fix, subject.place(feature=int(k))))
    return findings


def walls(subject: Subject) -> list[Finding]:
    """Whether objects turn round at the edges of where they are."""
    turned = near = 0
    lows, highs = [], []
    for j in subject.positions:
        series = subject.series(j)
        if subject.data.frames < 4 or not np.isfinite(series).any():
            continue
        rate = np.diff(series, axis=2)
        before, after = rate[:, :, :-2], rate[:, :, 2:]
        # Within two frames the velocity changes its sign but hardly its size.
        with np.errstate(invalid="ignore"):
            sudden = (before * after < 0) & (np.abs(before + after) < 0.2 * np.abs(before - after))
            sudden &= np.abs(before) > np.nanmedian(np.abs(rate))
        low, high = (
            choose(series, axis=(1, 2), initial=start, where=np.isfinite(series))[:, None, None]
            for choose, start in ((np.min, np.inf), (np.max, -np.inf))
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            place = (series[:, :, 1:-2] - low) / (high - low)
        turned += int(sudden.sum())
        near += int((sudden & ((place < EDGE) | (place > 1 - EDGE))).sum())
        lows.append(float(np.median(low)))
        highs.append(float(np.median(high)))
    if turned < 4 * FEW or near < 0.6 * turned:
        return []
    return [
        Finding(
            "note",
            "walls",
            f"walls show: {100 * near / turned:.0f} % of {counted(turned, 'sudden reversal')} "
            f"happen at the edges, about {min(lows):.2g} and {max(highs):.2g}.",
            "Nothing to do: force laws (--preset default) find walls by themselves.",
        )
    ]


def periodic_box(subject: Subject) -> list[Finding]:
    """Positions that leave on one side of a box and return on the other."""
    findings = []
    for j in subject.positions:
        wrapped = wrapped_steps(subject, j)
        count = int(wrapped.sum())
        if not count:
            continue
        size = float(np.median(np.abs(subject.changes(j)[wrapped])))
        system, item, frame = (int(place) for place in np.argwhere(wrapped)[0])
        findings.append(
            Finding(
                "problem",
                "periodic box",
                f"{subject.features[j]} wraps around: {counted(count, 'step')} of about "
                f"{number(size)}, as in a periodic box of that size.",
                "Unwrap the positions before importing (numpy.unwrap with period=box), so that "
                "paths are continuous.",
                subject.place(system, item, frame + 1, j),
            )
        )
    return findings


def wrapped_steps(subject: Subject, feature: int) -> Bool[np.ndarray, "system object step"]:
    """Steps from one side of a periodic box to the other; none if no such box shows."""
    steps = np.abs(subject.changes(feature))
    none = np.zeros(steps.shape, dtype=bool)
    if feature not in subject.positions or not np.isfinite(steps).any():
        return none
    series = subject.series(feature)
    extent = np.nanmax(series) - np.nanmin(series)
    with np.errstate(invalid="ignore"):
        long = steps > WRAP * extent
    if long.sum() < FEW or long.mean() > 0.05:
        return none
    sizes = steps[long]
    # The way across the edge is a usual step, so the jump is the box less a little.
    rest = steps[np.isfinite(steps) & ~long]
    usual = np.quantile(rest, 0.99) if rest.size else 0.0
    constant = sizes.max() - sizes.min() < max(0.1 * extent, 3 * usual)
    return long if constant and usual < 0.35 * extent else none


def _steps(
    subject: Subject, span: int = 1
) -> tuple[Float[np.ndarray, "step feature"], Float[np.ndarray, "step feature"]]:
    """Rate of change of each feature over some spans of frames, and its mean value within them."""
    systems, size = subject.data.systems, subject.states[0].size
    count = max(1, min(systems, 32 * PAIRS // size))
    chosen = np.unique(np.linspace(0, systems - 1, count).astype(int))
    states, times = subject.states[chosen], subject.times[chosen]
    frames, width = states.shape[2], states.shape[3]
    elapsed = (times[:, span:] - times[:, :-span])[:, None, :, None]
    rate = ((states[:, :, span:] - states[:, :, :-span]) / elapsed).reshape(-1, width)
    # The mean over a span by the trapezoidal rule, each step with its own duration.
    steps = np.diff(times, axis=1)[:, None, :, None]
    areas = 0.5 * (states[:, :, 1:] + states[:, :, :-1]) * steps
    total = sum(areas[:, :, k : frames - span + k] for k in range(span))
    middle = (total / elapsed).reshape(-1, width)
    every = max(1, len(rate) // PAIRS)
    return rate[::every], middle[::every]


def _related(
    rate: Float[np.ndarray, " step"], value: Float[np.ndarray, " step"]
) -> tuple[float, float]:
    """Correlation of a rate with a value, and the slope, without the rarest steps on each side.

    Walls, close encounters and wrong values make a few rates meaningless.
    """
    known = np.isfinite(rate) & np.isfinite(value)
    rate, value = rate[known], value[known]
    if len(rate) < 20:
        return float("nan"), float("nan")
    off = np.abs(value - np.median(value) - (rate - np.median(rate)))
    kept = off <= np.quantile(off, 0.95)
    for part in (rate, value):
        low, high = np.quantile(part, [0.01, 0.99])
        kept &= (part >= low) & (part <= high)
    rate, value = rate[kept], value[kept]
    if len(rate) < 10 or rate.std() == 0 or value.std() == 0:
        return float("nan"), float("nan")
    correlation = float(np.corrcoef(rate, value)[0, 1])
    return correlation, float(correlation * value.std() / rate.std())
