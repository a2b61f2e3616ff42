"""The initial value problem that PGODE solves for its mean forecast."""

import torch
from jaxtyping import Float
from torch import Tensor

from pgode.batches.windows import Batch
from pgode.models.flow import Field, Flow
from pgode.models.pgode.model import PGODE
from pgode.nn.integrate import integrate


def flow(model: PGODE, batch: Batch) -> Flow:
    """The problem whose solution is the model's mean forecast of a batch.

    The initial state is [q, v, z] with kinematics and z without, z at the posterior's mean. Gate
    and contexts come from the observations and stay as they are when the state is perturbed, as
    the theorem has it.
    """
    contexts = model.encode(batch)
    gate = model.gate(contexts, batch)
    config = model.config
    initial = model.state.initial(model.posterior(contexts).mean, batch)
    # Fixed right-hand sides: they do not depend on time, which a derivative is given all the same.
    now = torch.zeros_like(initial[:, 0])

    def bound(weights: Float[Tensor, "objects prototypes"]) -> Field:
        derivative = model.state.derivative(
            model.dynamics.bind(weights, contexts, batch), contexts, batch
        )
        return lambda state: derivative(now, state) * config.solver.frame_time

    def solve(start: Tensor, times: Tensor) -> Tensor:
        derivative = model.state.derivative(
            model.dynamics.bind(gate, contexts, batch), contexts, batch
        )
        solved = integrate(derivative, start, batch, times, config.solver)
        return solved.states

    alone = torch.eye(gate.shape[1], dtype=gate.dtype, device=gate.device)
    return Flow(
        initial=initial,
        weights=_used(gate, config.top),
        mixture=bound(gate),
        prototypes=tuple(bound(row.expand_as(gate).contiguous()) for row in alone),
        solve=solve,
        decode=lambda states: model.state.decode(states, batch),
    )


def _used(
    gate: Float[Tensor, "objects prototypes"], top: int | None
) -> Float[Tensor, "objects prototypes"]:
    """The weights that the mixture has: PGODE-S keeps the largest and scales them to sum to 1."""
    if top is None:
        return gate
    chosen = gate.topk(top, dim=1)
    share = chosen.values / chosen.values.sum(1, keepdim=True)
    return torch.zeros_like(gate).scatter(1, chosen.indices, share)
