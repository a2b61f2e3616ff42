"""Fixed steps over whole frames as one recorded loop, for programs that are exported.

A program that is recorded has shapes but no numbers, so steps cannot follow from times. Frames are
the same for all rows there: 1, 2, ... after the start. The loop over them is recorded as such, not
unrolled: 36 frames of four stages each would be thousands of operators.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

# Not public yet, but the only loop that torch.export records with what a derivative has bound.
from torch._higher_order_ops.scan import scan

from pgode.ode.intervals import steps_within
from pgode.ode.methods import FixedStep, find_method
from pgode.ode.settings import SolverConfig
from pgode.ode.solution import Solution
from pgode.ode.steps import Derivative, Step


def solve_frames(
    derivative: Callable[[Float[Tensor, "rows width"]], Derivative],
    initial: Float[Tensor, "rows state"],
    given: Float[Tensor, "frames rows width"],
    config: SolverConfig,
) -> Solution:
    """States after each frame; `derivative` is asked for once per frame, with what is given."""
    method, frames = find_method(config.method), given.shape[0]
    assert isinstance(method, FixedStep), "adaptive solvers are refused before anything is recorded"
    count = steps_within(config.frame_time, config.step, frames * config.frame_time)
    short, step = config.frame_time / count, method.step
    begins = config.frame_time * torch.arange(frames, device=initial.device, dtype=initial.dtype)

    def frame(z: Tensor, now: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        begin, known = now
        slope = derivative(known)
        for number in range(count):
            z = step(slope, Step(begin + number * short, short), z)
        return z, z.clone()

    _, states = scan(frame, initial, (begins.unsqueeze(1).expand(-1, initial.shape[0]), given))
    return Solution(states, frames * count, frames * count * method.stages)
