"""PGODE's initial value problem, with its right-hand side split into prototypes."""

from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor

from pgode.batches.windows import Batch
from pgode.models.flow import Field, Flow
from pgode.models.pgode.dynamics.prototypes import MessagesConfig
from pgode.models.pgode.dynamics.sparse import top_weights
from pgode.models.pgode.gates import contexts_of

if TYPE_CHECKING:
    from pgode.models.pgode.model import PGODE


def flow(model: "PGODE", batch: Batch) -> Flow:
    """The problem whose solution is the model's mean forecast of a batch.

    The initial state is [q, v, z] with kinematics and z without, z at the posterior's mean. Gate
    and contexts come from the observations and stay fixed when the state is perturbed, as the
    theorem assumes.
    """
    encoded = model.encode(batch)
    problem = model.problem(batch, encoded, encoded.posterior.mean)
    contexts = contexts_of(encoded)
    gate = model.gate(contexts, batch)
    solver = model.config.solver
    # Right-hand sides depend on time by known inputs alone, but a derivative has it as an argument.
    now = torch.zeros_like(problem.initial[:, 0])

    def bound(weights: Float[Tensor, "objects prototypes"]) -> Field:
        derivative = model.derivative(weights, contexts, batch).now(batch)
        return lambda state: derivative(now, state) * solver.frame_time

    alone = torch.eye(gate.shape[1], dtype=gate.dtype, device=gate.device)
    return Flow(
        initial=problem.initial,
        weights=_weights_in_use(model, gate),
        mixture=bound(gate),
        prototypes=tuple(bound(row.expand_as(gate).contiguous()) for row in alone),
        solve=lambda start, times: (
            model.solve(replace(problem, initial=start), batch, times).states
        ),
        decode=lambda states, times: problem.decode(states, times).transpose(0, 1),
    )


def _weights_in_use(
    model: "PGODE", gate: Float[Tensor, "objects prototypes"]
) -> Float[Tensor, "objects prototypes"]:
    """The weights of the mixture: PGODE-S keeps the largest and scales them to sum to 1."""
    dynamics = model.config.dynamics
    if not isinstance(dynamics, MessagesConfig) or dynamics.top_k is None:
        return gate
    share, chosen = top_weights(gate, dynamics.top_k)
    return torch.zeros_like(gate).scatter(1, chosen, share)
