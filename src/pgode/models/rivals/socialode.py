"""Social ODE: a latent ODE in which each object moves on its own and gives way to its neighbours.

    dz_i/dt = f(z_i) + (1 - a_i) W sum_j  intensity_ij / (1 + |x_i - x_j|^2 / l^2)  m_ij

f is the object's own motion. m_ij = relu(A z_i + B z_j + C e_ij) is what neighbour j tells it,
weighted by the intensity of their interaction (a sigmoid of a linear score of m_ij) and by how
close they are, x being the position decoded from z. The aggressiveness a_i in (0, 1), read off the
object's history, is how little it minds the others.

Wen, Wang, Metaxas: Social ODE: Multi-agent Trajectory Forecasting with Neural Ordinary Differential
Equations, ECCV 2022.

Simplified: written from the idea (distance, intensity and aggressiveness in the derivative), not
from the authors' code. The history is read backwards by a GRU with gaps as inputs instead of an
ODE-RNN; z(0) is placed at the end of the condition, so the posterior also sees the last observed
values, and the decoder gives the change since then. Neighbours are those of the data's graph, whose
edge attributes enter intensity and message. Data without named positions measure distance over all
features. No change of goals along the way, and none of the paper's losses for road traffic.
"""

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn

from pgode.batches.graph import Graph
from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.models.latent import Encoded, LatentConfig, LatentForecaster
from pgode.nn.feedforward import FeedForward
from pgode.nn.frames import last_observed
from pgode.nn.gaussian import Posterior
from pgode.nn.integrate import integrate
from pgode.nn.recurrent import RecurrentEncoder
from pgode.ode import Derivative, SolverConfig


class SocialODEConfig(LatentConfig):
    """Settings of Social ODE."""

    width: int = Field(128, ge=1, description="width of the latent state and of every network")
    solver: SolverConfig = SolverConfig()


class Influence(nn.Module):
    """What each object hears from its neighbours: intensity times closeness times message."""

    def __init__(self, width: int, attributes: int) -> None:
        super().__init__()
        self.receive = nn.Linear(width, width)
        self.send = nn.Linear(width, width, bias=False)
        self.edge = nn.Linear(attributes, width, bias=False)
        self.intensity = nn.Linear(width, 1)
        self.log_range = nn.Parameter(torch.zeros(()))
        self.out = nn.Linear(width, width, bias=False)

    def forward(
        self,
        z: Float[Tensor, "objects width"],
        positions: Float[Tensor, "objects directions"],
        edge: Float[Tensor, "edges width"],
        graph: Graph,
    ) -> Float[Tensor, "objects width"]:
        """W sum_j weight_ij m_ij; `edge` is the part of the attributes, constant in time."""
        messages = graph.at_receivers(self.receive(z)) + graph.at_senders(self.send(z))
        messages = messages.add_(edge).relu_()
        apart = graph.at_receivers(positions) - graph.at_senders(positions)
        weights = torch.sigmoid(self.intensity(messages)) * self.closeness(apart)
        gathered: Tensor = self.out(graph.edge_sum(weights * messages))
        return gathered

    def closeness(self, apart: Float[Tensor, "edges directions"]) -> Float[Tensor, "edges 1"]:
        """1 / (1 + d^2 / l^2): 1 for objects at one place, a half at the learned range l."""
        return 1 / (1 + apart.square().sum(-1, keepdim=True) * torch.exp(-2 * self.log_range))


class SocialODE(LatentForecaster):
    """Latent ODE with own motion, and influence by distance, intensity and aggressiveness."""

    config: SocialODEConfig
    config_type = SocialODEConfig

    def __init__(self, config: SocialODEConfig, normaliser: Normaliser) -> None:
        super().__init__(config, normaliser)
        features, width = len(normaliser.features), config.width
        self.places = normaliser.positions or list(range(features))
        self.encoder = RecurrentEncoder(features, width, backwards=True)
        self.posterior = Posterior(width + features, width, width)
        self.aggressiveness = FeedForward(width, width, 1)
        self.own_motion = FeedForward(width, width, width)
        self.influence = Influence(width, len(normaliser.edge_attributes))
        # No bias: one would cancel where the decoded change since z(0) is all that counts.
        last = nn.Linear(width, features, bias=False)
        # Forecasts begin close to the last observation, which is already a fair one.
        nn.init.normal_(last.weight, std=0.05 * width**-0.5)
        self.decoder = nn.Sequential(nn.Linear(width, width), nn.SiLU(), last)

    def encode(self, batch: Batch) -> Encoded:
        """The posterior of z(0) and the aggressiveness of each object."""
        summary = self.encoder(batch)
        seen = torch.cat([summary, last_observed(batch)[0]], dim=-1)
        aggressiveness = torch.sigmoid(self.aggressiveness(summary))
        return Encoded(self.posterior(seen), {"aggressiveness": aggressiveness})

    def rollout(
        self,
        batch: Batch,
        encoded: Encoded,
        initial: Float[Tensor, "objects latent"],
        times: Float[Tensor, "systems outputs"],
    ) -> tuple[Float[Tensor, "objects outputs features"], int]:
        """Integrate from the end of the condition to every requested time, and decode."""
        anchor = self.anchor(batch, initial)
        derivative = self.derivative(batch, anchor, encoded.contexts["aggressiveness"])
        solution = integrate(derivative, initial, batch, times, self.config.solver)
        return self.decode(solution.states, anchor).transpose(0, 1), solution.evaluations

    def derivative(
        self,
        batch: Batch,
        anchor: Float[Tensor, "objects features"],
        aggressiveness: Float[Tensor, "objects 1"],
    ) -> Derivative:
        """dz/dt for the objects of one batch."""
        graph, yielding = batch.graph, 1 - aggressiveness
        edge = self.influence.edge(graph.attributes)

        def derivative(t: Tensor, z: Tensor) -> Tensor:
            positions = self.decode(z, anchor)[:, self.places]
            heard: Tensor = self.influence(z, positions, edge, graph)
            own: Tensor = self.own_motion(z)
            return torch.addcmul(own, yielding, heard)

        return derivative

    def anchor(
        self, batch: Batch, z0: Float[Tensor, "objects width"]
    ) -> Float[Tensor, "objects features"]:
        """What decoded latent states are added to, so that a trajectory starts where it was seen.

        A feature that was not observed at time 0 starts at its last value plus decoder(z(0)).
        """
        start: Tensor = self.decoder(z0)
        return last_observed(batch)[0] - start * batch.observed[:, -1]

    def decode(
        self, z: Float[Tensor, "*outputs objects width"], anchor: Float[Tensor, "objects features"]
    ) -> Float[Tensor, "*outputs objects features"]:
        """Latent states to features."""
        decoded: Tensor = anchor + self.decoder(z)
        return decoded
