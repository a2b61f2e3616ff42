"""Integration of a batch from the end of its condition to the requested times."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from pgode.batches.windows import Batch
from pgode.nn.exogenous import Driven
from pgode.ode import Derivative, Solution, SolverConfig, solve
from pgode.ode.recorded import solve_frames

NEAR = 5e-5
"""An input that begins this near an output, in frames, begins there: rounding is no interval."""


def integrate(
    derivative: Derivative,
    initial: Float[Tensor, "objects width"],
    batch: Batch,
    times: Float[Tensor, "systems outputs"],
    solver: SolverConfig,
) -> Solution:
    """Solve from the end of the condition (time 0) to each system's `times`, counted in frames."""
    if torch.compiler.is_exporting():
        return _recorded(derivative, initial, batch, times.shape[1], solver)
    if isinstance(derivative, Driven):
        if derivative.exogenous.inputs:
            return _between_inputs(derivative, initial, batch, times, solver)
        derivative = derivative.now(batch)
    when = (times * solver.frame_time)[batch.system]
    start = torch.zeros_like(when[:, 0])
    return solve(derivative, initial, start, when, solver, batch.system_ids[batch.system])


def _recorded(
    derivative: Derivative,
    initial: Float[Tensor, "objects width"],
    batch: Batch,
    frames: int,
    solver: SolverConfig,
) -> Solution:
    """States after 1, 2, ... frames, the only times of a forecast that is exported."""
    nothing = initial.new_zeros(frames, initial.shape[0], 0)
    if not isinstance(derivative, Driven):
        return solve_frames(lambda known: derivative, initial, nothing, solver)
    if not derivative.exogenous.inputs:
        always = derivative.now(batch)
        return solve_frames(lambda known: always, initial, nothing, solver)
    known = derivative.exogenous.ahead(batch, frames).transpose(0, 1).contiguous()
    return solve_frames(derivative.given, initial, known, solver)


def _between_inputs(
    driven: Driven,
    initial: Float[Tensor, "objects width"],
    batch: Batch,
    times: Float[Tensor, "systems outputs"],
    solver: SolverConfig,
) -> Solution:
    """Solve from one change of the inputs, or output, to the next.

    No step then crosses a change of the inputs. Systems have their own clocks: an interval has
    another length for each, and the objects of a system that has passed it already stay.
    """
    grid, place = _grid(batch, times)
    ends = grid.cpu()
    begins = torch.cat([torch.zeros_like(ends[:, :1]), ends[:, :-1]], dim=1)
    moves = (ends > begins).any(0).tolist()
    known = driven.exogenous.at(batch, grid)
    when = (grid * solver.frame_time)[batch.system]
    begin, numbers = torch.zeros_like(when[:, 0]), batch.system_ids[batch.system]
    state, states, steps, evaluations = initial, [], 0, 0
    for column, moving in enumerate(moves):
        if moving:
            slope = driven.given(known[:, column])
            end = when[:, column : column + 1]
            solution = solve(slope, state, begin, end, solver, numbers)
            state, begin = solution.states[0], end[:, 0]
            steps, evaluations = steps + solution.steps, evaluations + solution.evaluations
        states.append(state)
    index = place[batch.system].T.unsqueeze(2).expand(-1, -1, initial.shape[1])
    return Solution(torch.stack(states).gather(0, index), steps, evaluations)


def _grid(
    batch: Batch, times: Float[Tensor, "systems outputs"]
) -> tuple[Float[Tensor, "systems columns"], Int[Tensor, "systems outputs"]]:
    """Outputs and the changes of inputs before the last output, in order; and where outputs are."""
    changes = batch.input_times[:, batch.states.shape[1] :].to(times)
    changes = changes.clamp(min=0).minimum(times.amax(1, keepdim=True))
    apart = (changes.unsqueeze(2) - times.unsqueeze(1)).abs()
    nearest = apart.min(dim=2)
    snapped = times.gather(1, nearest.indices)
    changes = torch.where(nearest.values <= NEAR, snapped, changes)
    grid, order = torch.cat([times, changes], dim=1).sort(dim=1, stable=True)
    return grid, order.argsort(dim=1)[:, : times.shape[1]]
