"""Values of single features: missing, constant, extreme, on unsuitable scales."""

import numpy as np

from pgode.data.checkup.finding import Finding, counted, listed, number
from pgode.data.checkup.subject import Subject

SCALES = 30.0
"""Ratio of spreads within one variable from which its small components drown."""
FAR = 50.0
"""Distance from the median, in spans of 98 % of the values, of a value that cannot be right."""
TAIL = 20.0
"""Ratio of the 99 % quantile to the median from which a positive feature has a heavy tail."""
SPAN = 300.0
"""Ratio of the 99 % and the 1 % quantile from which a feature spans orders of magnitude."""
SENTINELS = (-99.0, -999.0, -9999.0, -99999.0, 999.0, 9999.0, 99999.0, -1.0, 1e20, -1e20)
"""Numbers that stand for missing values in many files."""
SPARSE, EMPTY = 0.3, 0.9
"""Missing shares that deserve a warning, and that leave too little."""
WORTH_A_NOTE = 0.001


def never_observed(subject: Subject) -> list[Finding]:
    """Features and objects without a single value."""
    findings = []
    seen = np.asarray(subject.data.observed.any(axis=2))
    for k, name in enumerate(subject.features):
        if not seen[..., k].any():
            findings.append(
                Finding(
                    "problem",
                    "never observed",
                    f"{name} has no value anywhere.",
                    "Leave the feature out, or check the name of its column.",
                    subject.place(feature=k),
                )
            )
    never = subject.data.present & ~seen.any(axis=2)
    if never.any() and seen.any():
        system, item = (int(place) for place in np.argwhere(never)[0])
        findings.append(
            Finding(
                "note",
                "never observed",
                f"no value in any frame: {counted(int(never.sum()), 'object')} of "
                f"{int(subject.data.present.sum()):,}.",
                "Leave them out, unless their existence matters.",
                subject.place(system, item),
            )
        )
    return findings


def missing(subject: Subject) -> list[Finding]:
    """The share of missing values of each feature, and the object that lacks most.

    Velocities that were derived lack the first frame of a series, which is no loss. Notes about
    several features are one.
    """
    findings: list[Finding] = []
    slight: list[tuple[float, int]] = []
    for k, name in enumerate(subject.features):
        first = 1 if k in subject.velocities else 0
        possible = subject.possible[..., first:].sum(axis=2)
        seen = subject.data.observed[..., first:, k].sum(axis=2)
        share = float(1 - seen.sum() / max(1, possible.sum()))
        if share <= WORTH_A_NOTE or share == 1:
            continue
        if share <= SPARSE:
            slight.append((share, k))
            continue
        with np.errstate(invalid="ignore", divide="ignore"):
            lacks = np.where(possible > 0, 1 - seen / possible, -1.0)
        system, item = np.unravel_index(int(np.argmax(lacks)), lacks.shape)
        findings.append(
            Finding(
                "problem" if share > EMPTY else "warning",
                "missing values",
                f"{100 * share:.1f} % of {name} is missing; of this object "
                f"{100 * lacks[system, item]:.0f} %.",
                "Leave out objects or features with few values, or use coarser time steps.",
                subject.place(int(system), int(item), None, k),
            )
        )
    if slight:
        parts = [f"{100 * share:.1f} % of {subject.features[k]}" for share, k in slight]
        findings.append(
            Finding(
                "note",
                "missing values",
                f"missing: {listed(parts)}.",
                "",
                subject.place(feature=max(slight)[1]),
            )
        )
    return findings


def constant(subject: Subject) -> list[Finding]:
    """Features that never change: everywhere the same, or a property of each object."""
    findings = []
    for k, name in enumerate(subject.features):
        values = subject.sample(k)
        if not values.size or k in subject.velocities:
            continue  # Free motion has constant velocities.
        if values.min() == values.max() and _is_flat(subject.series(k)):
            findings.append(
                Finding(
                    "warning",
                    "constant",
                    f"{name} is {number(values[0])} everywhere, so there is nothing to forecast.",
                    "Leave it out.",
                    subject.place(feature=k),
                )
            )
        elif subject.data.frames > 1 and _is_flat(subject.series(k), axis=2):
            findings.append(
                Finding(
                    "warning",
                    "constant",
                    f"{name} of an object never changes: it is a property of objects, not a state.",
                    f"Give it as a constant instead: --static {name} (pgode import table), or "
                    f"constants= (Trajectories.build).",
                    subject.place(feature=k),
                )
            )
    return findings


def extreme(subject: Subject) -> list[Finding]:
    """Values so far out that they set the scale of all others, and codes for missing ones."""
    findings = []
    for k, name in enumerate(subject.features):
        values, series = subject.sample(k), subject.series(k)
        codes = [code for code in SENTINELS if _is_code(series, values, code)]
        values = values[~np.isin(values, codes)]
        if values.size < 20:
            continue
        low, middle, high = np.quantile(values, [0.01, 0.5, 0.99])
        span = high - low if high > low else values.std()
        if span == 0 or (heavy_tailed(subject, k) and not codes):
            continue
        with np.errstate(invalid="ignore"):
            wrong = np.isin(series, codes) if codes else np.abs(series - middle) > FAR * span
        if not wrong.any():
            continue
        system, item, frame = (int(place) for place in np.argwhere(wrong)[0])
        value, count = series[system, item, frame], int(wrong.sum())
        looks = "which looks like a code for missing values" if codes else "far from all others"
        times = "once" if count == 1 else f"{count:,} times"
        findings.append(
            Finding(
                "problem",
                "extreme values",
                f"{name} is {number(value)} here, {looks} (98 % are from {number(low)} to "
                f"{number(high)})"
                + (f"; it occurs {times}." if codes else f"; {counted(count, 'such value')}."),
                "Mark such values as missing (NaN), since they set the scale of all others.",
                subject.place(system, item, frame, k),
            )
        )
    return findings


def heavy_tails(subject: Subject) -> list[Finding]:
    """Positive features that span orders of magnitude."""
    tailed = [
        k
        for k in range(len(subject.features))
        if not subject.data.transforms[k] and heavy_tailed(subject, k)
    ]
    if not tailed:
        return []
    names = [subject.features[k] for k in tailed]
    verb = "spans" if len(names) == 1 else "span"
    return [
        Finding(
            "warning",
            "heavy tails",
            f"{listed(names)} {verb} orders of magnitude, so that a few large values decide the "
            f"scale and the loss.",
            "Let models see logarithms: --transform log1p (pgode import table), or transforms= "
            "(Trajectories.build).",
            subject.place(feature=tailed[0]) if len(tailed) == 1 else subject.place(),
        )
    ]


def heavy_tailed(subject: Subject, feature: int) -> bool:
    """Whether a feature is nowhere negative and has a tail far beyond its median."""
    if feature in (*subject.positions, *subject.velocities):
        return False
    values = subject.sample(feature)
    positive = values[values > 0]
    if positive.size < 20 or values.min() < 0 or np.nanmin(subject.series(feature)) < 0:
        return False
    low, middle, large, high = np.quantile(positive, [0.01, 0.5, 0.9, 0.99])
    # More than one quantile: a few outliers are no tail.
    wide = high > 8 * middle and high > SPAN * low
    return bool((high > TAIL * middle and large > 4 * middle) or wide)


def scales(subject: Subject) -> list[Finding]:
    """Components of one variable with very different spreads: they are scaled together."""
    findings = []
    for variable, members in subject.data.variables.items():
        spreads = np.array([_spread(subject, int(k)) for k in members])
        if len(members) < 2 or not (spreads > 0).all():
            continue
        large, small = int(members[np.argmax(spreads)]), int(members[np.argmin(spreads)])
        ratio = spreads.max() / spreads.min()
        if ratio > SCALES:
            findings.append(
                Finding(
                    "warning",
                    "scales",
                    f"{subject.features[large]} spreads {number(ratio)} times as far as "
                    f"{subject.features[small]}, but both are components of {variable} and scaled "
                    f"together.",
                    "Use the same units, or names that do not share a stem, so that each gets a "
                    "scale of its own.",
                    subject.place(feature=small),
                )
            )
    return findings


def units(subject: Subject) -> list[Finding]:
    """Features without units, where a file could have named them."""
    attributes = subject.data.dataset
    given = attributes["feature_units"].values
    if attributes.attrs["generator"].startswith("pgode simulate"):
        return []
    lacking = [name for name, unit in zip(subject.features, given, strict=True) if not unit]
    if not lacking:
        return []
    return [
        Finding(
            "note",
            "units",
            f"no units are known of {listed(lacking)}.",
            "Name them, so that errors can be read: --units (pgode import table), or units= "
            "(Trajectories.build).",
        )
    ]


def _spread(subject: Subject, feature: int) -> float:
    values = subject.sample(feature)
    if values.size < 2:
        return 0.0
    low, high = np.quantile(values, [0.05, 0.95])
    return float(high - low)


def _is_flat(series: np.ndarray, axis: int | None = None) -> bool:
    """Whether known values along an axis (all of them if None) are all the same."""
    low = np.where(np.isnan(series), np.inf, series).min(axis=axis)
    high = np.where(np.isnan(series), -np.inf, series).max(axis=axis)
    return bool((low >= high).all())


def _is_code(series: np.ndarray, values: np.ndarray, code: float) -> bool:
    """Whether a number stands apart from all other values, and occurs more than once."""
    others = values[~np.isin(values, SENTINELS)]
    if not others.size:
        return False
    least, most = others.min(), others.max()
    away = least - code if code < least else code - most
    return bool(away > max(most - least, 1e-12) and (series == code).sum() > 1)
