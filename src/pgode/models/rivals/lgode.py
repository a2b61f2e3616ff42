"""LG-ODE: one graph network as the right-hand side of the latent states of all objects.

    x_i     = W_in z_i
    m_i     = sum_j W_2 relu(W_1 [x_i, x_j, e_ij])
    dz_i/dt = W_out (x_i + FFN([x_i, m_i])),       z_i(0) = [draw of q(z_i | history), 0]

Attention over the observations gives the posterior of z(0), which is augmented by zeros so that
trajectories need not cross. A linear map decodes features from the solution.

Z. Huang, Y. Sun, W. Wang: Learning Continuous System Dynamics from Irregularly-Sampled Partial
Observations, NeurIPS 2020.

Simplified: attention runs over the temporal graph of PGODE, in which an observation attends to
the next one of its object instead of all of them. The posterior sees the last observation and
the pooled vector. Edges of all types share one message network, with their attributes as inputs.
W_2 commutes with the sum and is merged into the FFN's first layer. Constants and known inputs are
beside the observations of the encoder and beside z in W_in.
"""

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn

from pgode.batches.graph import Graph
from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.models.latent import Encoded
from pgode.models.latent_ode import InitialValueProblem, LatentODE, LatentODEConfig
from pgode.nn.attention import AttentionEncoder
from pgode.nn.exogenous import NOTHING, Driven, Exogenous, beside
from pgode.nn.feedforward import FeedForward
from pgode.nn.gaussian import Posterior
from pgode.nn.relation import Relation
from pgode.ode import Derivative
from pgode.runtime.limits.bounds import LAYERS, WIDTH


class LGODEConfig(LatentODEConfig):
    """The sizes of the original."""

    width: int = Field(128, ge=1, le=WIDTH, description="width of the graph network inside the ODE")
    latent: int = Field(16, ge=1, le=WIDTH, description="dimensions of z(0) that are inferred")
    augmented: int = Field(64, ge=0, le=WIDTH, description="dimensions of z(0) that start at zero")
    encoder_width: int = Field(64, ge=1, le=WIDTH, description="width of the attention encoder")
    encoder_layers: int = Field(2, ge=1, le=LAYERS, description="attention layers of the encoder")


class LGODE(LatentODE):
    """Latent graph ODE: encode, draw z(0), solve, decode."""

    config: LGODEConfig
    config_type = LGODEConfig
    known_inputs = "ahead"

    def __init__(self, config: LGODEConfig, normaliser: Normaliser) -> None:
        super().__init__(config, normaliser)
        features, width = len(normaliser.features), config.encoder_width
        self.exogenous = Exogenous.of(normaliser)
        self.encoder = AttentionEncoder(features, width, config.encoder_layers, self.exogenous)
        self.posterior = Posterior(self.encoder.pool.outputs, width, config.latent)
        state = config.latent + config.augmented
        attributes = len(normaliser.edge_attributes)
        self.dynamics = GraphNetwork(state, config.width, attributes, self.exogenous)
        self.decoder = nn.Linear(state, features)

    def encode(self, batch: Batch) -> Encoded:
        """q(z(0) | history) of the inferred dimensions."""
        return Encoded(self.posterior(self.encoder(batch)))

    def problem(
        self, batch: Batch, encoded: Encoded, initial: Float[Tensor, "objects latent"]
    ) -> InitialValueProblem:
        """The graph network, from the initial state augmented by zeros."""
        augmented = nn.functional.pad(initial, (0, self.config.augmented))
        slope = self.dynamics.bind(batch.graph)
        return InitialValueProblem(slope, augmented, lambda z, times: self.decoder(z))


class GraphNetwork(nn.Module):
    """The right-hand side: map to the width of the network, one round of messages, map back."""

    def __init__(
        self, state: int, width: int, attributes: int, exogenous: Exogenous = NOTHING
    ) -> None:
        super().__init__()
        self.exogenous = exogenous
        self.enter = nn.Linear(state + exogenous.width, width)
        self.relation = Relation(width, width, attributes)
        self.update = FeedForward(2 * width, width, width)
        self.leave = nn.Linear(width, state)

    def bind(self, graph: Graph) -> Driven:
        """dz/dt over one graph."""

        def given(known: Tensor) -> Derivative:
            def derivative(t: Tensor, z: Tensor) -> Tensor:
                x = self.enter(beside(z, known))
                messages = self.relation.neighbour_sum(x, graph)
                slope: Tensor = self.leave(x + self.update(torch.cat([x, messages], dim=1)))
                return slope

            return derivative

        return Driven(self.exogenous, given)
