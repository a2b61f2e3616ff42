"""A pull along the line to each neighbour, with a strength for each pair (not in the paper)."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from pgode.batches.windows import Batch
from pgode.models.pgode.gates import Contexts, GateConfig
from pgode.nn.feedforward import FeedForward
from pgode.nn.initialisation import scaled

Pull = Callable[[Float[Tensor, "objects dims"]], Float[Tensor, "objects dims"]]

SMALL = 0.01
"""Factor on the initial strengths: an untrained pull would accelerate objects out of the box."""

RANK = 16
"""Length of the vectors whose product is the strength of a pair."""


class Coupling(nn.Module):
    """sum_j w_ij (a_i . b_j) (q_i - q_j): an acceleration added to that of the prototypes.

    a and b are functions of the contexts, so the strength of a pair is constant along a trajectory.
    Most forces between particles act along the line between them, and a strength times a distance
    is a product, which a network of relus only approximates piece by piece. The sum is
    `Graph.attend` with the positions as values: nothing is stored per edge.
    """

    def __init__(self, width: int, gate: GateConfig) -> None:
        super().__init__()
        self.gate = gate
        inputs = gate.inputs(width)
        self.receive = FeedForward(inputs, width, RANK)
        self.send = FeedForward(inputs, width, RANK)
        scaled(self.receive.second, SMALL)

    def bind(self, contexts: Contexts, batch: Batch) -> Pull:
        """The pull on every object as a function of the positions alone."""
        visible = torch.cat(self.gate.visible(contexts, batch), dim=-1)
        receive, send = self.receive(visible), self.send(visible)
        graph, weights = batch.graph, batch.graph.weights

        def pull(q: Tensor) -> Tensor:
            sums = graph.attend(receive, send, nn.functional.pad(q, (0, 1), value=1.0), weights)
            return sums[:, -1:] * q - sums[:, :-1]

        return pull
