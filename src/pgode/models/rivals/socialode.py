"""Social ODE: a latent ODE of each object's own motion and of its neighbours' influence.

    dz_i/dt = f(z_i) + (1 - a_i) W sum_j  intensity_ij / (1 + |x_i - x_j|^2 / l^2)  m_ij

f is the object's own motion. m_ij = relu(A z_i + B z_j + C e_ij) is the message of neighbour j. Its
weight is the intensity of the interaction (a sigmoid of a linear score of m_ij) times a closeness,
with x the position decoded from z. The aggressiveness a_i in (0, 1), inferred from the object's
history, reduces the influence of all neighbours.

Wen, Wang, Metaxas: Social ODE: Multi-agent Trajectory Forecasting with Neural Ordinary Differential
Equations, ECCV 2022.

Simplified: written from the idea (distance, intensity and aggressiveness in the derivative), not
from the authors' code. A GRU with gaps as inputs reads the history backwards, in place of an
ODE-RNN. z(0) is the state at the end of the condition, so the posterior also sees the last observed
values, and the decoder gives the change since then. Neighbours are those of the data's graph, whose
edge attributes enter intensity and message. In data without named positions, distance is taken over
all features. Goals do not change along the way, and the paper's losses for road traffic are left
out. Constants and known inputs are inputs of the GRU and of f.
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
from pgode.nn.exogenous import Driven, Exogenous, beside
from pgode.nn.feedforward import FeedForward
from pgode.nn.frames import last_observed
from pgode.nn.gaussian import Posterior
from pgode.nn.geometry import edge_displacement
from pgode.nn.recurrent import RecurrentEncoder
from pgode.nn.relation import EdgeRelation
from pgode.ode import Derivative
from pgode.runtime.limits.bounds import WIDTH


class SocialODEConfig(LatentODEConfig):
    """Settings of Social ODE."""

    width: int = Field(
        128, ge=1, le=WIDTH, description="width of the latent state and of every network"
    )


class Influence(nn.Module):
    """The neighbours' influence on each object: intensity times closeness times message."""

    def __init__(self, width: int, attributes: int) -> None:
        super().__init__()
        self.relation = EdgeRelation(width, width, attributes)
        self.intensity = nn.Linear(width, 1)
        self.log_range = nn.Parameter(torch.zeros(()))
        self.out = nn.Linear(width, width, bias=False)

    def forward(
        self,
        z: Float[Tensor, "objects width"],
        positions: Float[Tensor, "objects directions"],
        edge_part: Float[Tensor, "edges width"] | None,
        graph: Graph,
    ) -> Float[Tensor, "objects width"]:
        """W sum_j weight_ij m_ij; `edge_part` is C e_ij, constant in time."""
        messages = self.relation.add_ends(z, graph, edge_part).relu_()
        displacement = edge_displacement(positions, graph)
        weights = torch.sigmoid(self.intensity(messages)) * self.closeness(displacement)
        total: Tensor = self.out(graph.edge_sum(weights * messages))
        return total

    def closeness(
        self, displacement: Float[Tensor, "edges directions"]
    ) -> Float[Tensor, "edges 1"]:
        """1 / (1 + d^2 / l^2): 1 for objects at the same place, a half at the learned range l."""
        square = displacement.square().sum(-1, keepdim=True)
        return 1 / (1 + square * torch.exp(-2 * self.log_range))


class SocialODE(LatentODE):
    """Latent ODE with own motion, and influence by distance, intensity and aggressiveness."""

    config: SocialODEConfig
    config_type = SocialODEConfig
    known_inputs = "ahead"

    def __init__(self, config: SocialODEConfig, normaliser: Normaliser) -> None:
        super().__init__(config, normaliser)
        features, width = len(normaliser.features), config.width
        self.places = normaliser.positions or list(range(features))
        self.exogenous = Exogenous.of(normaliser)
        self.encoder = RecurrentEncoder(features, width, backwards=True, exogenous=self.exogenous)
        self.posterior = Posterior(width + features, width, width)
        self.aggressiveness = FeedForward(width, width, 1)
        self.own_motion = FeedForward(width + self.exogenous.width, width, width)
        self.influence = Influence(width, len(normaliser.edge_attributes))
        # No bias: it would cancel in the decoded change since z(0).
        last = nn.Linear(width, features, bias=False)
        # Untrained forecasts stay close to the last observation, which is already a fair forecast.
        nn.init.normal_(last.weight, std=0.05 * width**-0.5)
        self.decoder = nn.Sequential(nn.Linear(width, width), nn.SiLU(), last)

    def encode(self, batch: Batch) -> Encoded:
        """The posterior of z(0) and the aggressiveness of each object."""
        summary = self.encoder(batch)
        seen = torch.cat([summary, last_observed(batch)[0]], dim=-1)
        aggressiveness = torch.sigmoid(self.aggressiveness(summary))
        return Encoded(self.posterior(seen), {"aggressiveness": aggressiveness})

    def problem(
        self, batch: Batch, encoded: Encoded, initial: Float[Tensor, "objects latent"]
    ) -> InitialValueProblem:
        """Own motion and influence, with features decoded relative to the last observation."""
        anchor = self.anchor(batch, initial)
        derivative = self.derivative(batch, anchor, encoded.contexts["aggressiveness"])
        return InitialValueProblem(derivative, initial, lambda z, times: self.decode(z, anchor))

    def derivative(
        self,
        batch: Batch,
        anchor: Float[Tensor, "objects features"],
        aggressiveness: Float[Tensor, "objects 1"],
    ) -> Driven:
        """dz/dt for the objects of one batch."""
        graph, yielding = batch.graph, 1 - aggressiveness
        edge_part = self.influence.relation.edge_part(graph.attributes)
        places = torch.tensor(self.places, device=anchor.device)

        def given(known: Tensor) -> Derivative:
            def derivative(t: Tensor, z: Tensor) -> Tensor:
                positions = self.decode(z, anchor).index_select(1, places)
                influence: Tensor = self.influence(z, positions, edge_part, graph)
                own: Tensor = self.own_motion(beside(z, known))
                return torch.addcmul(own, yielding, influence)

            return derivative

        return Driven(self.exogenous, given)

    def anchor(
        self, batch: Batch, z0: Float[Tensor, "objects width"]
    ) -> Float[Tensor, "objects features"]:
        """The offset of decoded states with which a forecast starts at the last observation.

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
