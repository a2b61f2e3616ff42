"""Integration of a batch from the end of its condition to the requested times."""

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
    """Solve from the end of the condition (time 0) to each system's `times`, counted in frames."""
    when = (times * solver.frame_time)[batch.system]
    start = torch.zeros_like(when[:, 0])
    return solve(derivative, initial, start, when, solver, batch.system_ids[batch.system])
