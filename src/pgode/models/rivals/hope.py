"""HOPE: a second-order graph ODE that starts from what two different encoders saw.

    d^2 z_i/dt^2 = F(z_i, dz_i/dt, sum_j relu(W [z_i, z_j, dz_i/dt, dz_j/dt, e_ij])) - gamma dz_i/dt

z is like a position and dz/dt like a momentum, so that trends outlast a step without the network
having to hold them; gamma > 0 is a damping learned for each dimension. Both start from a posterior
over two summaries of the history: softmax attention (who matters), and Chebyshev polynomials of
the Laplacian of all observations (what several steps away in the graph or in time says).

X. Luo, J. Yuan, Z. Huang, H. Jiang, Y. Qin, W. Ju, M. Zhang, Y. Sun: HOPE: High-order Graph ODE
for Modeling Interacting Dynamics, ICML 2023.

Simplified: the original gives edges latent states and a second-order equation of their own; here
they act through their attributes in the messages. Attention runs over the temporal graph of PGODE,
and both summaries have the last observation beside the pooled vector. The sizes are ours.
"""

from dataclasses import replace

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn

from pgode.batches.graph import Graph
from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.models.latent import Encoded, LatentConfig, LatentForecaster
from pgode.nn.attention import AttentionEncoder, Pooling, node_times, observations
from pgode.nn.feedforward import FeedForward
from pgode.nn.gaussian import Posterior
from pgode.nn.integrate import integrate
from pgode.nn.time_embedding import time_embedding
from pgode.ode import Derivative, SolverConfig

DAMPING = -2.0
"""Where the raw damping starts: softplus of it is 0.13 per unit of ODE time, or ten frames."""


class HOPEConfig(LatentConfig):
    """Sizes of the twin encoder and of the second-order ODE."""

    width: int = Field(128, ge=1, description="width of the graph network inside the ODE")
    latent: int = Field(64, ge=1, description="dimensions of z, and as many of its momentum")
    encoder_width: int = Field(64, ge=1, description="width of each branch of the encoder")
    encoder_layers: int = Field(2, ge=1, description="layers of each branch of the encoder")
    order: int = Field(3, ge=1, description="Chebyshev polynomials per convolution, T_0 included")
    solver: SolverConfig = SolverConfig()


class HOPE(LatentForecaster):
    """High-order graph ODE: encode twice, draw position and momentum, solve, decode."""

    config: HOPEConfig
    config_type = HOPEConfig

    def __init__(self, config: HOPEConfig, normaliser: Normaliser) -> None:
        super().__init__(config, normaliser)
        features, width = len(normaliser.features), config.encoder_width
        self.attention = AttentionEncoder(features, width, config.encoder_layers)
        self.spectral = ChebyshevEncoder(features, width, config.encoder_layers, config.order)
        summary = self.attention.pool.outputs + self.spectral.pool.outputs
        self.posterior = Posterior(summary, 2 * width, 2 * config.latent)
        self.dynamics = SecondOrder(config.latent, config.width, len(normaliser.edge_attributes))
        self.decoder = nn.Linear(2 * config.latent, features)

    def encode(self, batch: Batch) -> Encoded:
        """q([z, dz/dt] at 0 | history), from both branches of the encoder."""
        summary = torch.cat([self.attention(batch), self.spectral(batch)], dim=1)
        return Encoded(self.posterior(summary))

    def rollout(
        self,
        batch: Batch,
        encoded: Encoded,
        initial: Float[Tensor, "objects latent"],
        times: Float[Tensor, "systems outputs"],
    ) -> tuple[Float[Tensor, "objects outputs features"], int]:
        """Solve for position and momentum, and decode both."""
        derivative = self.dynamics.bind(batch.graph)
        solution = integrate(derivative, initial, batch, times, self.config.solver)
        return self.decoder(solution.states).transpose(0, 1), solution.evaluations


class SecondOrder(nn.Module):
    """d[z, p]/dt = [p, F(z, p) - gamma p], with p the momentum."""

    def __init__(self, latent: int, width: int, attributes: int) -> None:
        super().__init__()
        self.latent = latent
        self.receive = nn.Linear(2 * latent, width)
        self.send = nn.Linear(2 * latent, width, bias=False)
        self.edge = nn.Parameter(torch.empty(attributes, width))
        bound = (2 * latent) ** -0.5
        nn.init.uniform_(self.edge, -bound, bound)
        self.force = FeedForward(2 * latent + width, width, latent)
        self.damping = nn.Parameter(torch.full((latent,), DAMPING))

    def bind(self, graph: Graph) -> Derivative:
        """The right-hand side over one graph."""
        gamma = nn.functional.softplus(self.damping)

        def derivative(t: Tensor, y: Tensor) -> Tensor:
            momentum = y[:, self.latent :]
            heard = graph.neighbour_sum(self.receive(y), self.send(y), self.edge)
            force: Tensor = self.force(torch.cat([y, heard], dim=1))
            return torch.cat([momentum, torch.addcmul(force, gamma, momentum, value=-1)], dim=1)

        return derivative


class ChebyshevEncoder(nn.Module):
    """Graph convolutions that reach `order` - 1 steps at once, over all observations of a batch.

    h <- h + silu( sum_k W_k T_k(L) norm(h) ),   T_k = 2 L T_(k-1) - T_(k-2)
    """

    def __init__(self, features: int, width: int, layers: int, order: int) -> None:
        super().__init__()
        self.order = order
        self.embed = nn.Linear(2 * features, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))
        self.mix = nn.ModuleList(nn.Linear(order * width, width) for _ in range(layers))
        self.pool = Pooling(width)

    def forward(self, batch: Batch) -> Float[Tensor, "objects outputs"]:
        """One vector per object; zero for an object that was never observed."""
        h = self.embed(observations(batch))
        h = h + time_embedding(node_times(batch), h.shape[1])
        laplacian = Laplacian(batch.history.graph)
        for norm, mix in zip(self.norms, self.mix, strict=True):
            h = h + nn.functional.silu(mix(laplacian.chebyshev(norm(h), self.order)))
        pooled: Tensor = self.pool(h, batch)
        return pooled


class Laplacian:
    """The scaled Laplacian -D^(-1/2) A D^(-1/2) of a graph taken as undirected.

    Polynomials of Chebyshev stay bounded on [-1, 1] only, so its eigenvalues have to be real and
    there: A is (w + w^T) / 2 and D sums |A|. Edges then also carry the past forwards in time.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph, self.reverse = graph, _reversed(graph)
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
        """[T_0(L) x, T_1(L) x, ...], side by side."""
        terms = [x, self(x)][:order]
        while len(terms) < order:
            terms.append(2 * self(terms[-1]) - terms[-2])
        return torch.cat(terms, dim=1)


def _reversed(graph: Graph) -> Graph:
    """The same edges the other way round."""
    order = graph.reverse_edges.long()
    return replace(
        graph,
        offsets=graph.reverse_offsets,
        senders=graph.reverse_receivers,
        attributes=graph.attributes[order],
        reverse_offsets=graph.offsets,
        reverse_receivers=graph.senders,
        reverse_edges=order.argsort().to(graph.reverse_edges.dtype),
    )
