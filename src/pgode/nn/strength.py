"""Strength of a system's interactions, estimated from its history by least squares."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from pgode.batches.graph import Graph
from pgode.batches.windows import Batch
from pgode.nn.feedforward import FeedForward
from pgode.nn.geometry import Motion, edge_displacement, pair_share, system_sum
from pgode.nn.initialisation import scaled
from pgode.ode.checkpointing import checkpointed

ACCELERATION_SCALE = 10.0
"""Changes of velocity per frame are small compared with velocities; this makes them comparable."""

FREQUENCIES = (1.0, 2.0, 4.0, 8.0)
"""Frequencies of the waves that encode a strength, per factor of e in strength."""

REGULARISER = 0.01
"""Regularises the ratio where forces are weak."""

INITIAL_SCALE = 0.01
"""The last layer of the pull's network starts this much smaller, so that phi is close to 1."""


class Strength(nn.Module):
    """The least-squares ratio of changes of velocity to a learned pull between neighbours.

        s_i = sum_t dv_i(t) . p_i(t) / sum_t |p_i(t)|^2,   p_i = 1/(N - 1) sum_j (x_i - x_j) phi_ij

    with phi_ij = 1 + a network of the distance and the edge's attributes: the least-squares factor
    between p and the observed changes of velocity, for each object and, with sums over objects in
    numerator and denominator, for each system. Networks approximate division poorly, so an encoder
    that has to distinguish strong from weak forces gains most from the quotient itself. Rotations
    of the system do not change it.
    """

    def __init__(self, width: int, attributes: int) -> None:
        super().__init__()
        self.pull_network = FeedForward(1 + attributes, width, 1)
        scaled(self.pull_network.second, INITIAL_SCALE)

    @property
    def outputs(self) -> int:
        """Length of the encoded strength of an object, and of that of a system."""
        return 2 * len(FREQUENCIES)

    def forward(
        self, motion: Motion, batch: Batch
    ) -> tuple[Float[Tensor, "objects outputs"], Float[Tensor, "objects outputs"]]:
        """The strengths of each object and of its system, encoded as waves."""
        own, system = self.estimate(motion, batch)
        return _waves(own), _waves(system)

    def estimate(
        self, motion: Motion, batch: Batch
    ) -> tuple[Float[Tensor, "objects 1"], Float[Tensor, "objects 1"]]:
        """s of each object, and of its system."""
        pull = self.pull(motion.position, batch.graph) * pair_share(batch).unsqueeze(2)
        change = ACCELERATION_SCALE * motion.velocity.diff(dim=1)
        # Both lie between two frames; an extrapolated frame makes neither count.
        seen = (motion.seen[:, 1:] * motion.seen[:, :-1]).unsqueeze(2)
        pull = seen * (pull[:, 1:] + pull[:, :-1]) / 2
        own = torch.stack([(change * pull).sum((1, 2)), pull.square().sum((1, 2))], dim=1)
        parts = (own, system_sum(own, batch))
        of_object, of_system = (sums[:, :1] / (sums[:, 1:] + REGULARISER) for sums in parts)
        return of_object, of_system

    def pull(
        self, position: Float[Tensor, "objects frames dims"], graph: Graph
    ) -> Float[Tensor, "objects frames dims"]:
        """sum_j (x_i - x_j) phi(|x_i - x_j|^2, e_ij) at each frame; phi starts near 1.

        Frame by frame, and nothing per edge is kept for the backward pass. It is evaluated once
        per training step, so computing it again costs little, while the edges of a molecule at
        all frames would take most of the memory.
        """
        frames = torch.split(position, 1, dim=1)
        return torch.cat([checkpointed(self._pull, x, graph) for x in frames], dim=1)

    def _pull(
        self, position: Float[Tensor, "objects 1 dims"], graph: Graph
    ) -> Float[Tensor, "objects 1 dims"]:
        displacement = edge_displacement(position, graph)
        square = displacement.square().sum(-1, keepdim=True)
        pulls = displacement * (
            1 + self.pull_network(torch.cat([square, graph.attributes.unsqueeze(1)], dim=-1))
        )
        return graph.edge_sum(pulls.flatten(1)).view_as(position)


def _waves(strength: Float[Tensor, "objects 1"]) -> Float[Tensor, "objects outputs"]:
    """Sine and cosine of asinh, a signed logarithm: they resolve differences of a few per cent."""
    phase = torch.asinh(10 * strength) * strength.new_tensor(FREQUENCIES)
    return torch.cat([phase.sin(), phase.cos()], dim=1)
