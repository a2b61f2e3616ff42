"""The intervals of a solve: interval n takes every row from its time n-1 to its time n."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from pgode.ode.checkpointing import checkpointed
from pgode.ode.failures import name_systems
from pgode.runtime.errors import InputError

_FLOAT32 = torch.finfo(torch.float32).eps


@dataclass(frozen=True)
class Intervals:
    """Where each interval begins and how long it is, for every row.

    Rows share the number of steps of an interval but not its length, so objects of systems that
    were observed at different times are solved side by side and nothing is interpolated.

    Lengths are computed once, in float64 on the CPU: the only place where a solve with fixed steps
    waits for the device.
    """

    begins: Float[Tensor, "outputs rows"]
    lengths: Float[Tensor, "outputs rows"]
    elapsed: Float[Tensor, "outputs rows"]
    longest: tuple[float, ...]
    shortest: tuple[float, ...]
    latest: float
    rounding: float

    @classmethod
    def between(
        cls,
        start: Float[Tensor, " rows"],
        times: Float[Tensor, "rows outputs"],
        systems: Int[Tensor, " rows"] | None,
    ) -> "Intervals":
        """Intervals from the start to the first time, and from each time to the next."""
        first = start.detach().to("cpu").double()
        ends = times.detach().to("cpu").double().T.contiguous()
        begins = torch.cat([first[None], ends[:-1]])
        lengths = ends - begins
        low, high = torch.aminmax(lengths, dim=1)
        shortest, longest = low.tolist(), high.tolist()
        latest = max(first.abs().max().item(), ends.abs().max().item())
        # The minimum of lengths with a NaN is NaN, which fails this comparison too.
        if not (min(shortest) >= 0 and math.isfinite(sum(shortest) + sum(longest))):
            _refuse(begins, ends, systems)
        return cls(
            begins=begins,
            lengths=lengths,
            elapsed=ends - first,
            longest=tuple(longest),
            shortest=tuple(shortest),
            latest=latest,
            # Both ends of an interval were rounded when their times were stored.
            rounding=2 * torch.finfo(times.dtype).eps * latest,
        )

    def steps(self, step: float) -> tuple[int, ...]:
        """The number of equal steps, none longer than `step`, that each interval needs.

        With frames 0.1 apart, the difference of two float32 times near 9.6 is off by up to 1e-6,
        and 0.1000004 must not cost two steps. The slack is the rounding of float32 at the latest
        time (times in float64 have often been float32 before), at most a hundredth of a step.
        An interval in which no row moves, such as an output at the start itself, needs no step.
        """
        return tuple(
            steps_within(longest, step, self.latest) if longest > 0 else 0
            for longest in self.longest
        )

    def uniform(self, interval: int) -> bool:
        """Whether the lengths of this interval differ by no more than rounding among the rows."""
        shortest = self.shortest[interval]
        return shortest > 0 and self.longest[interval] - shortest <= self.rounding


def steps_within(length: float, step: float, latest: float) -> int:
    """Equal steps that an interval needs, see `Intervals.steps`; `latest` is the latest time."""
    slack = min(1e-2, 1e-6 + 2 * _FLOAT32 * latest / step)
    return max(1, math.ceil(length / step - slack))


def cross(
    interval: Callable[[Float[Tensor, "rows width"]], Float[Tensor, "rows width"]],
    z: Float[Tensor, "rows width"],
    recompute: bool,
) -> Float[Tensor, "rows width"]:
    """The states after one interval, with or without storing intermediate results.

    A derivative draws no random numbers, so no random state is stored for recomputing it.
    """
    return checkpointed(interval, z) if recompute else interval(z)


def _refuse(
    begins: Float[Tensor, "outputs rows"],
    ends: Float[Tensor, "outputs rows"],
    systems: Int[Tensor, " rows"] | None,
) -> None:
    infinite = ~(torch.isfinite(begins) & torch.isfinite(ends))
    if infinite.any():
        output, row = infinite.nonzero()[0].tolist()
        raise InputError(
            f"{name_systems([row], systems)} cannot be solved to output {output}: the interval "
            f"from {begins[output, row]:g} to {ends[output, row]:g} is not finite. Give every row "
            "finite times; pad a row that has fewer outputs by repeating its last time."
        )
    output, row = (ends < begins).nonzero()[0].tolist()
    before = "start" if output == 0 else f"output {output - 1}"
    raise InputError(
        f"{name_systems([row], systems)} would have to be solved backwards: output {output} is at "
        f"time {ends[output, row]:.9g}, before its {before} at time {begins[output, row]:.9g}. "
        "Output times must not decrease and must not lie before the start: sort them, or move the "
        "start."
    )
