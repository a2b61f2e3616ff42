"""From norms of differences to growth factors, rates and the share of steps within the bound."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from pgode.evaluation.robustness.result import Bound, Growth, Statistics

Norms = Float[np.ndarray, "magnitude draw object frame"]


def growth(
    norms: Norms, magnitudes: Sequence[float], horizons: Sequence[int]
) -> tuple[Growth, ...]:
    """Mean norm at each frame from 0, factors at the horizons and the rate, for each magnitude."""
    rows = []
    for magnitude, of_magnitude in zip(magnitudes, norms, strict=True):
        frames = of_magnitude.shape[-1]
        mean = of_magnitude.mean(axis=(0, 1)) if of_magnitude.size else np.full(frames, np.nan)
        rows.append(
            Growth(
                magnitude=magnitude,
                norm=tuple(finite_or_none(value) for value in mean),
                factor={h: finite_or_none(mean[h] / magnitude) for h in horizons},
                rate=growth_rate(mean),
            )
        )
    return tuple(rows)


def growth_rate(norm: Float[np.ndarray, " frame"]) -> float | None:
    """r of the fit norm = c exp(r frame): least squares of the logarithms over all frames.

    None where fewer than two frames have a finite norm above 0.
    """
    frames = np.flatnonzero(np.isfinite(norm) & (norm > 0))
    if len(frames) < 2:
        return None
    return float(np.polyfit(frames, np.log(norm[frames]), 1)[0])


def system_steps(
    norms: Norms, system: Int[np.ndarray, " object"]
) -> Float[np.ndarray, "magnitude draw system step"]:
    """log(|e(t + 1)| / |e(t)|) of each system as a whole, from each frame to the next."""
    first = np.flatnonzero(np.diff(system, prepend=-1))  # Objects are sorted by system.
    squares = np.add.reduceat(norms**2, first, axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(0.5 * np.diff(np.log(squares), axis=3))


def bound(
    steps: Float[np.ndarray, "magnitude draw system step"], theorem: Float[np.ndarray, " system"]
) -> Bound:
    """The theorem's rates over systems, the fastest step and the share of steps within the rate."""
    finite = np.isfinite(steps)
    within = (steps <= theorem[:, None])[finite]
    return Bound(
        theorem=statistics(theorem),
        fastest_step=float(steps[finite].max()) if finite.any() else None,
        share_within=float(within.mean()) if finite.any() else None,
    )


def statistics(values: Float[np.ndarray, " system"]) -> Statistics:
    """Largest value, mean and variance over systems."""
    return Statistics(
        largest=finite_or_none(values.max()),
        mean=finite_or_none(values.mean()),
        variance=finite_or_none(values.var(ddof=1)) if len(values) > 1 else None,
    )


def finite_or_none(value: float) -> float | None:
    """A float; None for NaN and infinity, which JSON cannot represent."""
    return float(value) if np.isfinite(value) else None
