"""Graphs by distance, rebuilt from the forecast: the ODE is solved in pieces of one graph each."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from pgode.batches.graph import Graph
from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.data.neighbours import pairs_within
from pgode.models.latent_ode import InitialValueProblem
from pgode.nn.integrate import integrate
from pgode.ode import Derivative, Solution, SolverConfig
from pgode.runtime.errors import InputError

ATTRIBUTES = ("weight", "distance")
SLACK = 1e-6
"""Tolerance for rounding of output times, relative to the interval."""


@dataclass(frozen=True)
class GraphProblem(InitialValueProblem):
    """An initial value problem whose derivative depends on the graph of a batch."""

    on_graph: Callable[[Batch], Derivative]
    """The derivative on the graph of another batch of the same objects."""


class GraphRebuilder:
    """Joins objects nearer than the data's cutoff, each time the data's interval has passed.

    Future graphs are unknown, so they are rebuilt from the forecast. No gradient goes through the
    choice of neighbours.
    """

    def __init__(self, normaliser: Normaliser) -> None:
        rule = normaliser.graph_rule
        if rule is None or normaliser.edge_attributes != ATTRIBUTES:
            raise InputError(
                f"model.rebuild_graph needs graphs defined by distance, but the data's edges have "
                f"the attributes {', '.join(normaliser.edge_attributes)} and "
                f"{'no cutoff' if rule is None else 'a cutoff'}. Expected data made by pgode "
                f"simulate protein or pgode import md, or built with graph_cutoff. Leave "
                f"model.rebuild_graph out."
            )
        self.cutoff, self.every = rule[0], rule[1] / normaliser.frame_duration
        self._normaliser = normaliser

    def graph(self, features: Float[Tensor, "objects features"], batch: Batch) -> Graph:
        """The graph of objects at these (scaled) features."""
        raw = self._normaliser.raw(features.detach().cpu().double().numpy())
        places = raw[:, self._normaliser.positions]
        receivers, senders, distances = pairs_within(
            places, self.cutoff, batch.system.cpu().numpy()
        )
        attributes = self._normaliser.attributes(np.stack([np.ones_like(distances), distances], 1))
        graph = Graph.from_edges(receivers, senders, attributes, batch.objects)
        return graph.to(features.device, features.dtype)

    def solve(
        self,
        problem: GraphProblem,
        batch: Batch,
        times: Float[Tensor, "systems outputs"],
        solver: SolverConfig,
    ) -> Solution:
        """Solve from one rebuilt graph to the next; each output comes from the piece it lies in."""
        # The piece of each output. An output at the time of a rebuild belongs to the piece before.
        number = (times / self.every - SLACK).floor().clamp(min=0)
        outputs: list[Tensor] = [problem.initial] * times.shape[1]
        state, steps, evaluations, last = problem.initial, 0, 0, int(number.max())
        for piece_number in range(last + 1):
            inside = number == piece_number
            columns = inside.any(0).nonzero()[:, 0].tolist()
            local = times[:, columns] - piece_number * self.every
            if piece_number < last:
                end = times.new_full((len(times), 1), self.every)
                local = torch.cat([local.clamp(max=self.every), end], 1)
            derivative = problem.on_graph(batch)
            # Each piece begins at time 0, so the inputs' clock is set back with it.
            since = replace(batch, input_times=batch.input_times - piece_number * self.every)
            solution = integrate(derivative, state, since, local.clamp(min=0), solver)
            steps, evaluations = steps + solution.steps, evaluations + solution.evaluations
            for output, column in zip(solution.states, columns, strict=False):
                rows = inside[batch.system, column].unsqueeze(1)
                outputs[column] = torch.where(rows, output, outputs[column])
            if piece_number < last:
                state = solution.states[-1]
                end = times.new_full((len(times), 1), (piece_number + 1) * self.every)
                features = problem.decode(state.unsqueeze(0), end)[0]
                batch = replace(batch, graph=self.graph(features, batch))
        return Solution(torch.stack(outputs), steps, evaluations)
