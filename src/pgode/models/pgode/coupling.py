"""A pull along the line to each neighbour, with a strength of its own (not in the paper)."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from pgode.batches.windows import Batch
from pgode.models.pgode.config import PGODEConfig
from pgode.models.pgode.gates import Contexts
from pgode.nn.feedforward import FeedForward

Pull = Callable[[Float[Tensor, "objects dims"]], Float[Tensor, "objects dims"]]

SMALL = 0.01
"""The strengths start this much smaller: an untrained pull would throw objects about."""

RANK = 16
"""Length of the vectors whose product is the strength of a pair."""


class Coupling(nn.Module):
    """sum_j w_ij (a_i . b_j) (q_i - q_j): part of the acceleration, beside that of the prototypes.

    a and b are read off the contexts, so the strength of a pair holds along a trajectory. Forces
    along the line between two objects are what most systems of particles have, and a strength
    times a distance is a product, which a network of relus only learns piece by piece. The sum is
    `Graph.attend` with the positions as values: nothing is stored per edge.
    """

    def __init__(self, config: PGODEConfig) -> None:
        super().__init__()
        self.uses_object, self.uses_system = config.gate != "system", config.gate != "object"
        inputs = config.width * (self.uses_object + self.uses_system)
        self.receive = FeedForward(inputs, config.width, RANK)
        self.send = FeedForward(inputs, config.width, RANK)
        with torch.no_grad():
            for parameter in self.receive.second.parameters():
                parameter.mul_(SMALL)

    def bind(self, contexts: Contexts, batch: Batch) -> Pull:
        """The pull on every object as a function of the positions alone."""
        parts = [contexts.object] if self.uses_object else []
        parts += [contexts.system[batch.system]] if self.uses_system else []
        known = torch.cat(parts, dim=-1)
        receive, send = self.receive(known), self.send(known)
        graph, weights = batch.graph, batch.graph.weights

        def pull(q: Tensor) -> Tensor:
            sums = graph.attend(receive, send, nn.functional.pad(q, (0, 1), value=1.0), weights)
            return sums[:, -1:] * q - sums[:, :-1]

        return pull
