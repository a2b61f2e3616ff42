"""Integration over whole frames as one recorded loop, for programs that are exported.

A program that is recorded has shapes but no numbers, so steps cannot follow from times. Frames are
the same for all systems there: 1, 2, ... after the condition. The loop over them is recorded as
such, not unrolled: 36 frames of four stages each would be some thousand operators.
"""

import torch
from jaxtyping import Float
from torch import Tensor
from torch._higher_order_ops.scan import scan  # Not yet public, see torch.export's documentation.

from pgode.batches.windows import Batch
from pgode.nn.exogenous import Driven
from pgode.ode import Derivative, Solution, SolverConfig
from pgode.ode.intervals import steps_within
from pgode.ode.methods import FixedStep, find_method
from pgode.ode.steps import Step


def by_frames(
    derivative: Derivative,
    initial: Float[Tensor, "objects width"],
    batch: Batch,
    frames: int,
    solver: SolverConfig,
) -> Solution:
    """States after 1, 2, ..., `frames` frames."""
    method = find_method(solver.method)
    assert isinstance(method, FixedStep), "adaptive solvers are refused before anything is recorded"
    count = steps_within(solver.frame_time, solver.step, frames * solver.frame_time)
    short = solver.frame_time / count
    driven = isinstance(derivative, Driven) and derivative.exogenous.inputs > 0
    if isinstance(derivative, Driven) and not driven:
        derivative = derivative.now(batch)
    begins = solver.frame_time * torch.arange(frames, device=initial.device, dtype=initial.dtype)
    begins = begins.unsqueeze(1).expand(-1, initial.shape[0])

    def steps(slope: Derivative, begin: Tensor, z: Tensor) -> Tensor:
        for number in range(count):
            z = method.step(slope, Step(begin + number * short, short), z)
        return z

    def frame(z: Tensor, begin: Tensor) -> tuple[Tensor, Tensor]:
        after = steps(derivative, begin, z)
        return after, after.clone()

    def driven_frame(z: Tensor, given: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        assert isinstance(derivative, Driven)
        begin, known = given
        after = steps(derivative.given(known), begin, z)
        return after, after.clone()

    if driven:
        assert isinstance(derivative, Driven)
        known = derivative.exogenous.ahead(batch, frames).transpose(0, 1).contiguous()
        _, states = scan(driven_frame, initial, (begins, known))
    else:
        _, states = scan(frame, initial, begins)
    return Solution(states, frames * count, frames * count * method.stages)
