"""How strong a system's interactions are: measured on its history, not guessed from it."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from pgode.batches.graph import Graph
from pgode.batches.windows import Batch
from pgode.nn.feedforward import FeedForward
from pgode.nn.geometry import Motion, apart, pair_share, system_sum

ACCELERATION = 10.0
"""Changes of velocity per frame are small beside velocities; this brings them to one size."""

WAVES = (1.0, 2.0, 4.0, 8.0)
"""Frequencies, per factor of e, at which a strength is shown to the networks."""

STEADY = 0.01
"""Keeps the strength of what hardly any pull was seen of near 0."""

START = 0.01
"""How far from 1 the pull's own network starts."""


class Strength(nn.Module):
    """How much of a learned pull between neighbours was seen in the changes of velocity.

        s_i = sum_t dv_i(t) . p_i(t) / sum_t |p_i(t)|^2,   p_i = 1/(N - 1) sum_j (x_i - x_j) phi_ij

    with phi_ij = 1 + a network of the distance and the edge's attributes: the least-squares factor
    between p and what moved the objects, for each object and, with sums over objects too, for each
    system. A network can hardly divide, so a context that has to tell strong forces from weak ones
    is helped most by being given the quotient. It does not change when the system is rotated.
    """

    def __init__(self, width: int, attributes: int) -> None:
        super().__init__()
        self.pull_network = FeedForward(1 + attributes, width, 1)
        with torch.no_grad():
            self.pull_network.second.weight.mul_(START)
            self.pull_network.second.bias.mul_(START)

    @property
    def outputs(self) -> int:
        """Length of what `forward` gives for an object, and of what it gives for its system."""
        return 2 * len(WAVES)

    def forward(
        self, motion: Motion, batch: Batch
    ) -> tuple[Float[Tensor, "objects outputs"], Float[Tensor, "objects outputs"]]:
        """Waves of the strength of each object, and of its system."""
        own, system = self.measured(motion, batch)
        return _waves(own), _waves(system)

    def measured(
        self, motion: Motion, batch: Batch
    ) -> tuple[Float[Tensor, "objects 1"], Float[Tensor, "objects 1"]]:
        """s of each object, and of its system."""
        pull = self.pull(motion.position, batch.graph) * pair_share(batch).unsqueeze(2)
        change = ACCELERATION * motion.velocity.diff(dim=1)
        # Both as seen between two frames; where a frame is made up, neither counts.
        seen = (motion.seen[:, 1:] * motion.seen[:, :-1]).unsqueeze(2)
        pull = seen * (pull[:, 1:] + pull[:, :-1]) / 2
        own = torch.stack([(change * pull).sum((1, 2)), pull.square().sum((1, 2))], dim=1)
        parts = (own, system_sum(own, batch))
        ours, whole = (sums[:, :1] / (sums[:, 1:] + STEADY) for sums in parts)
        return ours, whole

    def pull(
        self, position: Float[Tensor, "objects frames dims"], graph: Graph
    ) -> Float[Tensor, "objects frames dims"]:
        """sum_j (x_i - x_j) phi(|x_i - x_j|^2, e_ij) at each frame; phi starts near 1.

        One frame at a time, and nothing per edge is kept until the backward pass: it is measured
        once per step, so doing it again costs little, while all frames of a molecule's edges
        would be most of the memory of training.
        """
        frames = torch.split(position, 1, dim=1)
        return torch.cat([self._kept_short(x, graph) for x in frames], dim=1)

    def _kept_short(
        self, position: Float[Tensor, "objects 1 dims"], graph: Graph
    ) -> Float[Tensor, "objects 1 dims"]:
        if not torch.is_grad_enabled():
            return self._pull(position, graph)
        found: Tensor = checkpoint(
            self._pull, position, graph, use_reentrant=False, preserve_rng_state=False
        )
        return found

    def _pull(
        self, position: Float[Tensor, "objects 1 dims"], graph: Graph
    ) -> Float[Tensor, "objects 1 dims"]:
        between = apart(position, graph)
        square = between.square().sum(-1, keepdim=True)
        pulls = between * (
            1 + self.pull_network(torch.cat([square, graph.attributes.unsqueeze(1)], dim=-1))
        )
        return graph.edge_sum(pulls.flatten(1)).view_as(position)


def _waves(strength: Float[Tensor, "objects 1"]) -> Float[Tensor, "objects outputs"]:
    """Asinh is a logarithm with a sign; waves of it show differences of a few per cent."""
    phase = torch.asinh(10 * strength) * strength.new_tensor(WAVES)
    return torch.cat([phase.sin(), phase.cos()], dim=1)
