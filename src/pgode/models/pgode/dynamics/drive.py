"""What constants and known inputs add to a right-hand side."""

from jaxtyping import Float
from torch import Tensor

from pgode.models.pgode.dynamics.update import Mixture
from pgode.nn.exogenous import beside
from pgode.nn.feedforward import FeedForward


class Drive(FeedForward):
    """A mixture that sees [z, d], plus a network of the same, with d the constants and inputs.

        sum_k w_ik psi_a^k( sum_j psi_r^k([z_i, d_i, z_j, d_j, e_ij]) ) + psi_d([z_i, d_i])

    Messages know d of both ends, a neighbour's mass or size among them. The network acts on objects
    without neighbours too, which have no messages.
    """

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__(inputs, width, width)

    def bind(self, mixture: Mixture, given: Float[Tensor, "objects exogenous"]) -> Mixture:
        """The right-hand side of z alone, while these are the constants and inputs."""

        def driven(z: Tensor) -> Tensor:
            seen = beside(z, given)
            added: Tensor = self(seen)
            return mixture(seen) + added

        return driven
