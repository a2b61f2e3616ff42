"""Solve a batch's differential equation at the times its systems are to be forecast."""

import torch
from jaxtyping import Float
from torch import Tensor

from pgode.batches.windows import Batch
from pgode.ode import Derivative, Solution, SolverConfig, solve


def integrate(
    derivative: Derivative,
    initial: Float[Tensor, "objects width"],
    batch: Batch,
    times: Float[Tensor, "systems outputs"],
    solver: SolverConfig,
) -> Solution:
    """Every object from the end of the condition (time 0) to its system's `times`, in frames."""
    when = (times * solver.frame_time)[batch.system]
    start = torch.zeros_like(when[:, 0])
    return solve(derivative, initial, start, when, solver, batch.system_ids[batch.system])
