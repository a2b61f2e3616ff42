"""The motion under force laws as an initial value problem, for analyses that perturb its start."""

from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from pgode.batches.windows import Batch
from pgode.models.flow import Field, Flow
from pgode.models.pgode.laws.evidence.observation import present
from pgode.models.pgode.laws.motion import plain
from pgode.models.pgode.laws.motion.moving import move
from pgode.models.pgode.laws.motion.path import Forces
from pgode.models.pgode.laws.situation import Situation, couplings_as

if TYPE_CHECKING:
    from pgode.models.pgode.laws.model import ForceLaws


def flow(model: "ForceLaws", batch: Batch) -> Flow:
    """States [q, v] in scaled units, under what is inferred from the condition.

    A prototype's right-hand side is that of a system in which all objects feel the forces as it
    does, and act on others as they are. Walls and a limit on accelerations are in the solution and
    not in the right-hand sides, which have a Lipschitz constant without them.
    """
    now = model.situation(batch)
    units = model.units
    centre, scale = (torch.from_numpy(each.reshape(-1)) for each in (units.centre, units.scale))
    here = batch.states.device
    centre, scale = centre.to(here), scale.to(here)
    start = torch.from_numpy(np.concatenate(present(batch, units), axis=-1)).to(here)

    def field(forces: Forces) -> Field:
        free = plain.Field.of(forces.to(here), now.layout, model.space._replace(limit=np.inf), here)

        def slope(state: Float[Tensor, "objects inputs"]) -> Float[Tensor, "objects inputs"]:
            q, v = (state * scale + centre).chunk(2, dim=-1)
            acceleration, _, _ = free.acceleration(q[None])
            return torch.cat([v, acceleration[0] - free.drag * v], dim=-1) / scale

        return slope

    def solve(
        state: Float[Tensor, "objects inputs"], times: Float[Tensor, "systems outputs"]
    ) -> Float[Tensor, "outputs objects inputs"]:
        q, v = (state.detach() * scale + centre)[None].chunk(2, dim=-1)
        durations = np.diff(times.cpu().numpy().astype(np.float64), axis=1, prepend=0.0)
        forces = now.forces.to(here)
        path = move(q, v, forces, now.layout, model.space, durations[None], model.steps)
        moved = torch.cat([path.positions[0], path.velocities[0]], dim=-1)
        return (moved - centre) / scale

    return Flow(
        initial=(start - centre) / scale,
        weights=torch.from_numpy(now.weights).to(here),
        mixture=field(now.forces),
        prototypes=tuple(field(_as(model, now, k)) for k in range(model.used)),
        solve=solve,
        decode=lambda states, times: model.decoded(states, batch).transpose(0, 1),
    )


def _as(model: "ForceLaws", now: Situation, prototype: int) -> Forces:
    """The forces on objects that are all of one prototype."""
    numbers = model.numbers[: model.used, : model.used]
    alike = np.eye(model.used)[[prototype] * len(now.weights)]
    felt = couplings_as(alike, now.weights, numbers, now.layout)
    # What the edges' weights, and strengths of objects, make of a law is the same for all laws.
    share = now.forces.coupling.sum(-1, keepdim=True)
    return now.forces._replace(
        coupling=torch.from_numpy(felt) * share,
        drag=torch.full_like(now.forces.drag, float(model.drag[prototype])),
    )
