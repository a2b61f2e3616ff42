"""Where a forecast stops: values that are not finite, and values far outside the training data."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float, Int

FAR = 10.0
"""Values this many times as far from the middle as any of the training data are not to be trusted:
no model has seen anything like them."""
FINITE, NEAR = "system_finite", "system_near"
LISTED = 5
"""Systems that a sentence lists."""


@dataclass
class Endings:
    """Of each system, the last forecast time, in frames, before its values are not finite or far.

    The last time of all where that does not happen, 0 where it does at the first time.
    """

    frames: Float[np.ndarray, " outputs"]
    finite: Float[np.ndarray, " system"]
    near: Float[np.ndarray, " system"]

    @classmethod
    def none(cls, frames: Float[np.ndarray, " outputs"], systems: int) -> "Endings":
        """Nothing has ended."""
        last = np.full(systems, frames[-1])
        return cls(frames, last, last.copy())

    def close(
        self,
        parts: Sequence[Float[np.ndarray, "object output feature"]],
        far: Bool[np.ndarray, "object output"],
        system: Int[np.ndarray, " object"],
        first: int,
    ) -> None:
        """Remember how the systems of a batch end, and make their values after that missing.

        `parts` are mean, ends of intervals and samples; `first` is the number of the first system.
        One object that is not finite ends its system, since it acts on the others.
        """
        begins = np.flatnonzero(np.diff(system, prepend=-1))  # Objects are sorted by system.
        finite = np.all([np.isfinite(part).all(2) for part in parts], axis=0)
        sound = _lasts(np.logical_and.reduceat(finite, begins))
        near = _lasts(np.logical_and.reduceat(finite & ~far, begins))
        until = np.concatenate([[0.0], self.frames])
        rows = slice(first, first + len(begins))
        self.finite[rows], self.near[rows] = until[sound], until[near]
        if (sound < len(self.frames)).any():
            after = np.arange(len(self.frames)) >= sound[system][:, None]
            for part in parts:
                part[after] = np.nan

    def label(self, dataset: xr.Dataset, frame_duration: float, units: str) -> None:
        """Store when systems end, in time after their last frame, if any does."""
        said = {
            FINITE: "last forecast time before values are not finite; later ones are missing",
            NEAR: f"last forecast time before values are {FAR:g} times as far from the middle as "
            f"any of the training data",
        }
        for name, ends in ((FINITE, self.finite), (NEAR, self.near)):
            if (ends < self.frames[-1]).any():
                last = float(self.frames[-1]) * frame_duration
                about = {"units": units, "long_name": said[name], "forecast_until": last}
                dataset[name] = (("system",), ends * frame_duration, about)


def _lasts(holds: Bool[np.ndarray, "system output"]) -> Int[np.ndarray, " system"]:
    """Outputs from the first on at which it holds."""
    return np.asarray(np.logical_and.accumulate(holds, axis=1).sum(1))


def sentences(dataset: xr.Dataset, name_of: Callable[[int], str]) -> list[str]:
    """When systems of a forecast stop being finite or near, in words; none if none does."""
    units = dataset["times"].attrs.get("units", "")
    unit = f" {units}" if units else ""
    said = []
    for name, what, then in (
        (FINITE, "stop being finite", "later values are missing"),
        (
            NEAR,
            f"leave {FAR:g} times the range of the training data",
            "values after that are not to be trusted",
        ),
    ):
        if name not in dataset:
            continue
        ends = dataset[name].values
        ended = np.flatnonzero(ends < dataset[name].attrs["forecast_until"])
        order = ended[np.argsort(ends[ended], kind="stable")]
        listed = ", ".join(f"{name_of(int(k))} after {ends[k]:.4g}{unit}" for k in order[:LISTED])
        more = f", and {len(order) - LISTED} more" if len(order) > LISTED else ""
        said.append(f"{len(order)} of {len(ends)} systems {what}: {listed}{more}; {then}")
    return said
