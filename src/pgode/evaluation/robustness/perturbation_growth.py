"""From the norms of a difference to factors, rates and whether a bound held."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int

Norms = Float[np.ndarray, "magnitude draw object frame"]


def growth(
    norms: Norms, magnitudes: Sequence[float], horizons: Sequence[int]
) -> list[dict[str, Any]]:
    """For each magnitude: the mean norm at each frame from 0, factors at horizons, and the rate.

    A factor is the mean norm divided by the magnitude of the perturbation.
    """
    found = []
    for magnitude, each in zip(magnitudes, norms, strict=True):
        mean = each.mean(axis=(0, 1)) if each.size else np.full(each.shape[-1], np.nan)
        found.append(
            {
                "magnitude": magnitude,
                "norm": [known(value) for value in mean],
                "factor": {str(h): known(mean[h] / magnitude) for h in horizons},
                "rate": rate(mean),
            }
        )
    return found


def rate(norm: Float[np.ndarray, " frame"]) -> float | None:
    """r of the fit norm = c exp(r frame): least squares of the logarithms over all frames.

    None where fewer than two frames have a difference at all.
    """
    frames = np.flatnonzero(np.isfinite(norm) & (norm > 0))
    if len(frames) < 2:
        return None
    return float(np.polyfit(frames, np.log(norm[frames]), 1)[0])


def system_steps(
    norms: Norms, system: Int[np.ndarray, " object"]
) -> Float[np.ndarray, "magnitude draw system step"]:
    """log(|e(t + 1)| / |e(t)|) of each whole system, from each frame to the next."""
    first = np.flatnonzero(np.diff(system, prepend=-1))  # Objects of a system stand together.
    squares = np.add.reduceat(norms**2, first, axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(0.5 * np.diff(np.log(squares), axis=3))


def bounded(
    steps: Float[np.ndarray, "magnitude draw system step"],
    mixture: Float[np.ndarray, " system"],
    theorem: Float[np.ndarray, " system"],
) -> dict[str, Any]:
    """Rates per frame: the fastest that was measured, and those that the two bounds allow.

    `fastest` is the largest of all systems, draws, magnitudes and frames, and `holds` the share of
    them that is within the theorem's rate for its own system.
    """
    seen = np.isfinite(steps)
    return {
        "fastest": float(steps[seen].max()) if seen.any() else None,
        "mixture": statistics(mixture),
        "theorem": statistics(theorem),
        "holds": float((steps <= theorem[:, None])[seen].mean()) if seen.any() else None,
    }


def statistics(values: Float[np.ndarray, " system"]) -> dict[str, float | None]:
    """Largest, mean and variance over systems; one system has no variance."""
    variance = known(values.var(ddof=1)) if len(values) > 1 else None
    return {
        "largest": known(values.max()),
        "mean": known(values.mean()),
        "variance": variance,
    }


def comparisons(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each run of one prototype beside each run of several."""
    known_to = [run for run in runs if run["prototypes"] is not None]
    singles = [run for run in known_to if run["prototypes"] == 1]
    return [against(one, run) for one in singles for run in known_to if run["prototypes"] > 1]


def against(single: dict[str, Any], several: dict[str, Any]) -> dict[str, Any]:
    """What was measured for several prototypes beside one, and Theorem 3.1 about the two.

    `farther` is how far a perturbation of the smallest magnitude has moved the forecast at the last
    frame, several over one. `theorem` is None for runs without Lipschitz constants.
    """
    ends = [
        min(run["forecast"], key=lambda row: float(row["magnitude"])) for run in (single, several)
    ]
    first, second = (end["norm"][-1] for end in ends)
    known_to_both = single["lipschitz"] is not None and several["lipschitz"] is not None
    return {
        "single": single["name"],
        "several": several["name"],
        "magnitude": ends[0]["magnitude"],
        "farther": second / first if first and second is not None else None,
        "theorem": _theorem(single, several) if known_to_both else None,
    }


def _theorem(single: dict[str, Any], several: dict[str, Any]) -> dict[str, bool | None]:
    """`premise_...`: is L^k below L for every k, in mean and in variance over systems?

    `bound_...`: is the bound's rate lower for several prototypes? None without a variance.
    """
    one, bound = single["lipschitz"]["prototypes"][0], single["bound"]["theorem"]
    each, other = several["lipschitz"]["prototypes"], several["bound"]["theorem"]
    found: dict[str, bool | None] = {}
    for word in ("mean", "variance"):
        below = [_below(k[word], one[word]) for k in each]
        found[f"premise_{word}"] = None if None in below else all(below)
        found[f"bound_{word}"] = _below(other[word], bound[word])
    return found


def _below(value: float | None, other: float | None) -> bool | None:
    return None if value is None or other is None else value < other


def known(value: float) -> float | None:
    """A number for JSON, which has none that are not finite."""
    return float(value) if np.isfinite(value) else None
