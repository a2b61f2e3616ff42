"""PGODE as a careful PyTorch user would write it without our operators: the reference for speed.

The same model, not a weaker one: `Straightforward.like(model)` copies the weights of a `PGODE`
and computes the same loss (up to torchdiffeq's choice of fourth-order method). It differs only
as an ordinary version would:

- the graph is an edge list, gathered by indexing and summed by `index_add`;
- each prototype is a separate module, and its message network psi_r, two layers as in the paper,
  runs on [z_i, z_j, e_ij] of every edge;
- attention scores are stored per edge;
- torchdiffeq integrates (`rk4`, one step per frame) and differentiates by the adjoint method.

Parts that any version would share (posterior, gate, kinematics, losses) are inherited.
"""

from dataclasses import fields, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torchdiffeq import odeint_adjoint

from pgode.batches.graph import Graph
from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.models.latent_ode import InitialValueProblem
from pgode.models.pgode import PGODE, PGODEConfig
from pgode.models.pgode.gates import Contexts
from pgode.nn.relation import Relation
from pgode.ode import Derivative, Solution


class EdgeListGraph(Graph):
    """The same graph, with the encoders' sums over neighbours written per edge."""

    @classmethod
    def of(cls, graph: Graph) -> "EdgeListGraph":
        """View a graph as an edge list."""
        return cls(**{field.name: getattr(graph, field.name) for field in fields(graph)})

    def neighbour_sum(
        self,
        receive: Float[Tensor, "rows channels"],
        send: Float[Tensor, "columns channels"],
        edge: Float[Tensor, "attributes channels"],
    ) -> Float[Tensor, "rows channels"]:
        """sum_j relu(receive_i + send_j + attributes_ij edge)."""
        receivers, senders = self.receivers, self.senders.long()
        messages = torch.relu(receive[receivers] + send[senders] + self.attributes @ edge)
        return torch.zeros_like(receive).index_add(0, receivers, messages)

    def attend(
        self,
        query: Float[Tensor, "rows width"],
        key: Float[Tensor, "columns width"],
        value: Float[Tensor, "columns channels"],
        weights: Float[Tensor, " edges"],
    ) -> Float[Tensor, "rows channels"]:
        """sum_j weights_ij (query_i . key_j) value_j."""
        receivers, senders = self.receivers, self.senders.long()
        scores = (query[receivers] * key[senders]).sum(-1) * weights
        messages = scores.unsqueeze(-1) * value[senders]
        return torch.zeros_like(value).index_add(0, receivers, messages)


class Prototype(nn.Module):
    """One GNN: psi_a( sum_j psi_r([z_i, z_j, e_ij]) ), both networks of two layers (Eq. 9-10)."""

    def __init__(self, inputs: int, width: int, attributes: int) -> None:
        super().__init__()
        self.psi_r = nn.Sequential(
            nn.Linear(2 * inputs + attributes, width), nn.ReLU(), nn.Linear(width, width)
        )
        self.psi_a = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))

    def forward(
        self,
        z: Float[Tensor, "objects inputs"],
        receivers: Int[Tensor, " edges"],
        senders: Int[Tensor, " edges"],
        attributes: Float[Tensor, "edges attributes"],
    ) -> Float[Tensor, "objects width"]:
        """The prototype's output for every object."""
        messages = self.psi_r(torch.cat([z[receivers], z[senders], attributes], dim=-1))
        gathered = messages.new_zeros(len(z), messages.shape[1]).index_add(0, receivers, messages)
        out: Tensor = self.psi_a(gathered)
        return out


class EdgeListPrototypes(nn.Module):
    """sum_k w_ik prototype_k(z), one prototype after the other."""

    def __init__(self, inputs: int, width: int, count: int, attributes: int) -> None:
        super().__init__()
        self.prototypes = nn.ModuleList(Prototype(inputs, width, attributes) for _ in range(count))

    def forward(
        self,
        z: Float[Tensor, "objects inputs"],
        gate: Float[Tensor, "objects count"],
        receivers: Int[Tensor, " edges"],
        senders: Int[Tensor, " edges"],
        attributes: Float[Tensor, "edges attributes"],
    ) -> Float[Tensor, "objects width"]:
        """The mixed output of all prototypes."""
        outputs = [p(z, receivers, senders, attributes) for p in self.prototypes]
        return (torch.stack(outputs, dim=1) * gate.unsqueeze(-1)).sum(1)


class Straightforward(PGODE):
    """PGODE with the parts above in place of ours."""

    def __init__(self, config: PGODEConfig, normaliser: Normaliser) -> None:
        super().__init__(config, normaliser)
        del self.dynamics
        self.mixed = EdgeListPrototypes(
            self.state.inputs, config.width, self.prototypes, len(normaliser.edge_attributes)
        )

    def contexts(self, batch: Batch) -> Contexts:
        """Our encoders, on an edge list."""
        graph = EdgeListGraph.of(batch.history.graph)
        return super().contexts(replace(batch, history=replace(batch.history, graph=graph)))

    def derivative(
        self, gate: Float[Tensor, "objects count"], contexts: Contexts, batch: Batch
    ) -> Derivative:
        """Our state, on an edge list."""
        self.weights = gate
        edges = (batch.graph.receivers, batch.graph.senders.long(), batch.graph.attributes)
        return self.state.derivative(lambda z: self.mixed(z, gate, *edges), contexts, batch)

    def solve(
        self, problem: InitialValueProblem, batch: Batch, times: Float[Tensor, "systems outputs"]
    ) -> Solution:
        """Integrate with torchdiffeq; all systems must share their times."""
        if not bool((times == times[0]).all()):
            raise ValueError("the straightforward version needs the same times in every system")
        grid = torch.cat([times.new_zeros(1), times[0] * self.config.solver.frame_time])
        # The gate is computed outside the derivative: unless it is listed, the adjoint method gives
        # it no gradient.
        states = odeint_adjoint(
            problem.derivative,
            problem.initial,
            grid,
            method="rk4",
            adjoint_params=(self.weights, *self.mixed.parameters(), *self.state.parameters()),
        )
        steps = len(grid) - 1
        return Solution(states[1:], steps, 4 * steps)

    @classmethod
    @torch.no_grad()
    def like(cls, model: PGODE) -> "Straightforward":
        """The same function as `model`: its weights, and identity for psi_r's second layer.

        `PGODE` has that layer within psi_a's first, which is the same function.
        """
        twin = cls(model.config, model.normaliser)
        shared = {k: v for k, v in model.state_dict().items() if not k.startswith("dynamics.")}
        twin.load_state_dict(shared, strict=False)
        gather, update, width = model.dynamics.gather, model.dynamics.update, model.config.width
        assert isinstance(gather, Relation)
        split = torch.cat([gather.receive.weight, gather.send.weight, gather.edge.T], dim=1)
        for k, prototype in enumerate(twin.mixed.prototypes):
            assert isinstance(prototype, Prototype)
            rows = slice(k * width, (k + 1) * width)
            _set(prototype.psi_r[0], split[rows], gather.receive.bias[rows])
            _set(prototype.psi_r[2], torch.eye(width), torch.zeros(width))
            _set(prototype.psi_a[0], update.first[k].T, update.first_bias[k, 0])
            _set(prototype.psi_a[2], update.second[k].T, update.second_bias[k])
        return twin


def _set(linear: nn.Module, weight: Tensor, bias: Tensor) -> None:
    assert isinstance(linear, nn.Linear)
    linear.weight.copy_(weight)
    linear.bias.copy_(bias)
