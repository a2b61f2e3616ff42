"""HOPE: a second-order graph ODE with a twin encoder.

    d^2 z_i/dt^2 = F(z_i, dz_i/dt, sum_j relu(W [z_i, z_j, dz_i/dt, dz_j/dt, e_ij])) - gamma dz_i/dt

z acts as a position and dz/dt as a momentum, so trends persist without the network having to encode
them; gamma > 0 is a damping learned for each dimension. The initial values of both are drawn from a
posterior given two summaries of the history: softmax attention, which selects neighbours, and
Chebyshev polynomials of the Laplacian of all observations, which reach several steps at once in the
graph and in time.

X. Luo, J. Yuan, Z. Huang, H. Jiang, Y. Qin, W. Ju, M. Zhang, Y. Sun: HOPE: High-order Graph ODE
for Modeling Interacting Dynamics, ICML 2023.

Simplified: in the original, edges have latent states with a separate second-order equation; here
their attributes are inputs of the messages. Attention runs over the temporal graph of PGODE, and
both summaries include the last observation with the pooled vector. The sizes are not those of the
original. Constants and known inputs are beside the observations of both branches and inputs of F.
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
from pgode.nn.attention import AttentionEncoder, Pooling, node_times, observations
from pgode.nn.exogenous import NOTHING, Driven, Exogenous
from pgode.nn.feedforward import FeedForward
from pgode.nn.gaussian import Posterior
from pgode.nn.relation import Relation
from pgode.nn.time_embedding import time_embedding
from pgode.ode import Derivative
from pgode.runtime.limits.bounds import LAYERS, WIDTH

DAMPING = -2.0
"""Initial damping before softplus, which makes it 0.13 per unit of model time (ten frames)."""


class HOPEConfig(LatentODEConfig):
    """Sizes of the twin encoder and of the second-order ODE."""

    width: int = Field(128, ge=1, le=WIDTH, description="width of the graph network inside the ODE")
    latent: int = Field(
        64, ge=1, le=WIDTH, description="dimensions of z, and as many of its momentum"
    )
    encoder_width: int = Field(
        64, ge=1, le=WIDTH, description="width of each branch of the encoder"
    )
    encoder_layers: int = Field(
        2, ge=1, le=LAYERS, description="layers of each branch of the encoder"
    )
    order: int = Field(
        3, ge=1, le=LAYERS, description="Chebyshev polynomials per convolution, T_0 included"
    )


class HOPE(LatentODE):
    """High-order graph ODE: encode twice, draw position and momentum, solve, decode."""

    config: HOPEConfig
    config_type = HOPEConfig
    known_inputs = "ahead"

    def __init__(self, config: HOPEConfig, normaliser: Normaliser) -> None:
        super().__init__(config, normaliser)
        features, width = len(normaliser.features), config.encoder_width
        layers, exogenous = config.encoder_layers, Exogenous.of(normaliser)
        self.attention = AttentionEncoder(features, width, layers, exogenous)
        self.spectral = ChebyshevEncoder(features, width, layers, config.order, exogenous)
        summary = self.attention.pool.outputs + self.spectral.pool.outputs
        self.posterior = Posterior(summary, 2 * width, 2 * config.latent)
        attributes = len(normaliser.edge_attributes)
        self.dynamics = SecondOrder(config.latent, config.width, attributes, exogenous)
        self.decoder = nn.Linear(2 * config.latent, features)

    def encode(self, batch: Batch) -> Encoded:
        """q([z, dz/dt] at 0 | history), from both branches of the encoder."""
        summary = torch.cat([self.attention(batch), self.spectral(batch)], dim=1)
        return Encoded(self.posterior(summary))

    def problem(
        self, batch: Batch, encoded: Encoded, initial: Float[Tensor, "objects latent"]
    ) -> InitialValueProblem:
        """The second-order equation of position and momentum; both are decoded."""
        slope = self.dynamics.bind(batch.graph)
        return InitialValueProblem(slope, initial, lambda z, times: self.decoder(z))


class SecondOrder(Relation):
    """d[z, p]/dt = [p, F(z, p) - gamma p], with p the momentum.

    It inherits from `Relation` instead of holding one to keep the order of its parameters, in which
    the norm of the gradient is summed: another order changes the last digit of trained weights.
    """

    def __init__(
        self, latent: int, width: int, attributes: int, exogenous: Exogenous = NOTHING
    ) -> None:
        super().__init__(2 * latent, width, attributes)
        self.latent, self.exogenous = latent, exogenous
        self.force = FeedForward(2 * latent + width + exogenous.width, width, latent)
        self.damping = nn.Parameter(torch.full((latent,), DAMPING))

    def bind(self, graph: Graph) -> Driven:
        """The right-hand side over one graph."""
        gamma = nn.functional.softplus(self.damping)

        def given(known: Tensor) -> Derivative:
            def derivative(t: Tensor, y: Tensor) -> Tensor:
                momentum = y[:, self.latent :]
                messages = self.neighbour_sum(y, graph)
                force: Tensor = self.force(torch.cat([y, messages, known], dim=1))
                damped = torch.addcmul(force, gamma, momentum, value=-1)
                return torch.cat([momentum, damped], dim=1)

            return derivative

        return Driven(self.exogenous, given)


class ChebyshevEncoder(nn.Module):
    """Graph convolutions over all observations of a batch, each reaching `order` - 1 steps.

    h <- h + silu( sum_k W_k T_k(L) norm(h) ),   T_k = 2 L T_(k-1) - T_(k-2)
    """

    def __init__(
        self,
        features: int,
        width: int,
        layers: int,
        order: int,
        exogenous: Exogenous = NOTHING,
    ) -> None:
        super().__init__()
        self.order, self.exogenous = order, exogenous
        self.embed = nn.Linear(2 * features + exogenous.width, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))
        self.mix = nn.ModuleList(nn.Linear(order * width, width) for _ in range(layers))
        self.pool = Pooling(width)

    def forward(self, batch: Batch) -> Float[Tensor, "objects outputs"]:
        """One vector per object; zero for an object that was never observed."""
        h = self.embed(observations(batch, self.exogenous))
        h = h + time_embedding(node_times(batch), h.shape[1])
        laplacian = Laplacian(batch.history.graph)
        for norm, mix in zip(self.norms, self.mix, strict=True):
            h = h + nn.functional.silu(mix(laplacian.chebyshev(norm(h), self.order)))
        pooled: Tensor = self.pool(h, batch)
        return pooled


class Laplacian:
    """The scaled Laplacian -D^(-1/2) A D^(-1/2) of a graph made undirected.

    Chebyshev polynomials are bounded on [-1, 1] only, so the eigenvalues have to be real and
    within it: A is (w + w^T) / 2 and D sums |A|. Temporal edges then also act forwards in time.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph, self.reverse = graph, graph.reversed()
        size = graph.weights.abs().unsqueeze(1)
        both = graph.edge_sum(size) + self.reverse.edge_sum(self.reverse.attributes[:, :1].abs())
        root = (0.5 * both[:, 0]).clamp(min=1e-12).rsqrt()
        self.weights, self.reverse_weights = (
            -0.5 * side.weights * root[side.receivers] * root[side.senders.long()]
            for side in (self.graph, self.reverse)
        )

    def __call__(self, x: Float[Tensor, "nodes width"]) -> Float[Tensor, "nodes width"]:
        """L x."""
        forwards = self.graph.weighted_sum(x, self.weights)
        return forwards + self.reverse.weighted_sum(x, self.reverse_weights)

    def chebyshev(
        self, x: Float[Tensor, "nodes width"], order: int
    ) -> Float[Tensor, "nodes channels"]:
        """[T_0(L) x, T_1(L) x, ...] along the last axis."""
        terms = [x, self(x)][:order]
        while len(terms) < order:
            terms.append(2 * self(terms[-1]) - terms[-2])
        return torch.cat(terms, dim=1)
