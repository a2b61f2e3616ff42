"""LG-ODE: one graph network drives the latent states of all objects.

    x_i     = W_in z_i
    m_i     = sum_j W_2 relu(W_1 [x_i, x_j, e_ij])
    dz_i/dt = W_out (x_i + FFN([x_i, m_i])),       z_i(0) = [draw of q(z_i | history), 0]

Attention over the observations gives the posterior of z(0), zeros widen it so that trajectories
need not cross, and a linear map reads features off the solution.

Z. Huang, Y. Sun, W. Wang: Learning Continuous System Dynamics from Irregularly-Sampled Partial
Observations, NeurIPS 2020.

Simplified: attention runs over the temporal graph of PGODE, in which an observation hears the
next one of its object instead of all of them; the posterior sees the last observation beside the
pooled vector; edges of all types share one message network, which is told their attributes; W_2
is part of the FFN's first map, with which it commutes.
"""

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn

from pgode.batches.graph import Graph
from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.models.latent import Encoded, LatentConfig, LatentForecaster
from pgode.nn.attention import AttentionEncoder
from pgode.nn.feedforward import FeedForward
from pgode.nn.gaussian import Posterior
from pgode.nn.integrate import integrate
from pgode.ode import Derivative, SolverConfig


class LGODEConfig(LatentConfig):
    """The sizes of the original."""

    width: int = Field(128, ge=1, description="width of the graph network inside the ODE")
    latent: int = Field(16, ge=1, description="dimensions of z(0) that are inferred")
    augmented: int = Field(64, ge=0, description="dimensions of z(0) that start at zero")
    encoder_width: int = Field(64, ge=1, description="width of the attention encoder")
    encoder_layers: int = Field(2, ge=1, description="attention layers of the encoder")
    solver: SolverConfig = SolverConfig()


class LGODE(LatentForecaster):
    """Latent graph ODE: encode, draw z(0), solve, decode."""

    config: LGODEConfig
    config_type = LGODEConfig

    def __init__(self, config: LGODEConfig, normaliser: Normaliser) -> None:
        super().__init__(config, normaliser)
        features, width = len(normaliser.features), config.encoder_width
        self.encoder = AttentionEncoder(features, width, config.encoder_layers)
        self.posterior = Posterior(self.encoder.pool.outputs, width, config.latent)
        state = config.latent + config.augmented
        self.dynamics = GraphNetwork(state, config.width, len(normaliser.edge_attributes))
        self.decoder = nn.Linear(state, features)

    def encode(self, batch: Batch) -> Encoded:
        """q(z(0) | history) of the inferred dimensions."""
        return Encoded(self.posterior(self.encoder(batch)))

    def rollout(
        self,
        batch: Batch,
        encoded: Encoded,
        initial: Float[Tensor, "objects latent"],
        times: Float[Tensor, "systems outputs"],
    ) -> tuple[Float[Tensor, "objects outputs features"], int]:
        """Widen the state with zeros, solve and decode."""
        widened = nn.functional.pad(initial, (0, self.config.augmented))
        derivative = self.dynamics.bind(batch.graph)
        solution = integrate(derivative, widened, batch, times, self.config.solver)
        return self.decoder(solution.states).transpose(0, 1), solution.evaluations


class GraphNetwork(nn.Module):
    """The right-hand side: into the width of the network, one round of messages, and back."""

    def __init__(self, state: int, width: int, attributes: int) -> None:
        super().__init__()
        self.enter = nn.Linear(state, width)
        self.receive = nn.Linear(width, width)
        self.send = nn.Linear(width, width, bias=False)
        self.edge = nn.Parameter(torch.empty(attributes, width))
        nn.init.uniform_(self.edge, -(width**-0.5), width**-0.5)
        self.update = FeedForward(2 * width, width, width)
        self.leave = nn.Linear(width, state)

    def bind(self, graph: Graph) -> Derivative:
        """dz/dt over one graph."""

        def derivative(t: Tensor, z: Tensor) -> Tensor:
            x = self.enter(z)
            heard = graph.neighbour_sum(self.receive(x), self.send(x), self.edge)
            changed: Tensor = self.leave(x + self.update(torch.cat([x, heard], dim=1)))
            return changed

        return derivative
