"""I-GPODE: accelerations as a sum of two Gaussian-process functions, own and pairwise.

    dv_i/dt = f_self([x_i, c_i, d_i]) + sum_j f_pair([p_i - p_j, r_i, r_j, e_ij, c_i])
    dp_i/dt = v_i

x = [p, r] is the state itself: positions p and all other features r, including velocities. f_self
and f_pair are sparse variational Gaussian processes (`sparse_gp.py`), so the model separates an
object's own motion from the effect of its neighbours, and is uncertain about both functions. The
loss is a negative ELBO with KL(q(u) || p(u)) of both. c_i is a small latent vector per object from
the encoder, for hidden properties that show in the history, such as a strength of interaction. d_i
are constants and known inputs, where data have them; the encoder sees them too.

Yildiz, Kandemir, Rakitsch: Learning interacting dynamical systems with latent Gaussian process
ODEs, NeurIPS 2022.

Simplified: written from the idea, not from the authors' code. A function is drawn by drawing its
inducing values and taking the conditional mean, without the residual of the prior between the
points that decoupled sampling adds, so draws agree too much far from the inducing points. q(u) is
mean-field in whitened values. The GRU gives a correction to the last observed state, not the state.
c_i follows the paper's latent variant, which learns variables per object besides the state.
KL(q(u) || p(u)) counts once per batch instead of once per data set. If the data have no named
velocities, all features follow a first-order equation of the same form.
"""

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.models.forecaster import Forecast, Forecaster, Losses
from pgode.models.latent import Elbo, variational_losses
from pgode.models.latent_ode import LatentODEConfig
from pgode.models.rivals.igpode.sparse_gp import Function, SparseGP
from pgode.nn.exogenous import Driven, Exogenous
from pgode.nn.frames import last_observed
from pgode.nn.gaussian import DiagonalNormal, Posterior
from pgode.nn.integrate import integrate
from pgode.nn.recurrent import RecurrentEncoder
from pgode.ode import Derivative, Solution
from pgode.runtime.limits.bounds import LARGE, SMALL, WIDTH


class IGPODEElbo(Elbo):
    """The evidence lower bound of initial states and functions."""

    sample: bool = Field(True, description="draw initial states and functions in training")


class IGPODEConfig(LatentODEConfig):
    """Settings of I-GPODE."""

    objective: IGPODEElbo = IGPODEElbo()
    width: int = Field(64, ge=1, le=WIDTH, description="width of the recurrent encoder")
    latent: int = Field(4, ge=1, le=WIDTH, description="size of each object's latent vector")
    points: int = Field(50, ge=1, le=WIDTH, description="inducing points of each Gaussian process")
    reach: float = Field(
        0.02, ge=SMALL, le=LARGE, description="prior deviation of x(0) from the last state"
    )


class IGPODE(Forecaster):
    """Sparse Gaussian processes for own motion and pairwise interaction, in state space."""

    config: IGPODEConfig
    config_type = IGPODEConfig
    known_inputs = "ahead"
    gain: Float[Tensor, " velocities"]
    offset: Float[Tensor, " velocities"]

    def __init__(self, config: IGPODEConfig, normaliser: Normaliser) -> None:
        super().__init__(config, normaliser)
        features, latent = len(normaliser.features), config.latent
        self.velocities = len(normaliser.velocities)
        first = normaliser.positions or list(range(features))
        named = [*first, *normaliser.velocities]
        # Order of the state: features that interact by their difference, velocities, all others.
        self.order = [*named, *(k for k in range(features) if k not in named)]
        self.relative = len(first)
        gain, offset = normaliser.drift() if self.velocities else ([], [])
        self.register_buffer("gain", torch.tensor(gain), persistent=False)
        self.register_buffer("offset", torch.tensor(offset), persistent=False)
        self.exogenous = exogenous = Exogenous.of(normaliser)
        self.encoder = RecurrentEncoder(
            features, config.width, backwards=False, exogenous=exogenous
        )
        self.start = Posterior(config.width, config.width, features + latent)
        outputs = features - self.velocities
        pair = 2 * features - self.relative + len(normaliser.edge_attributes) + latent
        self.alone = SparseGP(features + latent + exogenous.width, outputs, config.points)
        self.pair = SparseGP(pair, outputs, config.points)

    def loss(self, batch: Batch) -> Losses:
        """Negative ELBO per observed value: reconstruction, initial states, functions."""
        objective = self.config.objective
        posterior = self.posterior(batch)
        functions = self.functions(objective.sample)
        start = posterior.start(objective.sample, batch.share)
        solution = self.solve(batch, start, functions, batch.target_times)
        terms = variational_losses(batch, self.decode(solution), posterior, objective)
        divergence = self.alone.divergence() + self.pair.divergence()
        weight = objective.unit * objective.kl_weight
        terms["functions"] = batch.share.once(weight * divergence / batch.values)
        total = torch.stack(list(terms.values())).sum()
        return Losses(total, {**terms, "mse": terms["reconstruction"]})

    def forecast(
        self, batch: Batch, times: Float[Tensor, "systems outputs"], samples: int = 0
    ) -> Forecast:
        """Mean functions from the mean state; each sample draws functions and initial states."""
        posterior = self.posterior(batch)
        solution = self.solve(batch, posterior.mean, self.functions(draw=False), times)
        mean = self.decode(solution)
        drawn = [
            self.decode(self.solve(batch, posterior.sample(), self.functions(draw=True), times))
            for _ in range(samples)
        ]
        stacked = torch.stack(drawn) if drawn else mean.new_empty(0, *mean.shape)
        contexts = {"object_context": posterior.mean[:, len(self.order) :]}
        return Forecast(mean, stacked, contexts, solution.evaluations)

    def posterior(self, batch: Batch) -> DiagonalNormal:
        """q of the correction to each object's last state (in units of reach), and of c."""
        start: DiagonalNormal = self.start(self.encoder(batch))
        return start

    def functions(self, draw: bool) -> tuple[Function, Function]:
        """f_self and f_pair, one for all objects and the whole trajectory."""
        return self.alone.function(draw), self.pair.function(draw)

    def solve(
        self,
        batch: Batch,
        start: Float[Tensor, "objects features+latent"],
        functions: tuple[Function, Function],
        times: Float[Tensor, "systems outputs"],
    ) -> Solution:
        """Integrate the state from the end of the condition to every requested time."""
        correction, latent = start.tensor_split([len(self.order)], dim=-1)
        initial = self.last_state(batch) + self.config.reach * correction
        derivative = self.derivative(batch, latent, functions)
        return integrate(derivative, initial, batch, times, self.config.solver)

    def last_state(self, batch: Batch) -> Float[Tensor, "objects features"]:
        """The last observed values in the state's order; positions are extrapolated to time 0."""
        value, when = (each[:, self.order] for each in last_observed(batch))
        if not self.velocities:
            return value
        size = self.relative
        rate = value[:, size : 2 * size] * self.gain + self.offset
        return torch.cat([value[:, :size] - rate * when[:, :size], value[:, size:]], dim=-1)

    def derivative(
        self,
        batch: Batch,
        latent: Float[Tensor, "objects latent"],
        functions: tuple[Function, Function],
    ) -> Driven:
        """d[p, v, others]/dt for the objects of one batch."""
        graph, size, (alone, pair) = batch.graph, self.relative, functions
        # Attributes can be large (flows, distances), where a kernel no longer resolves them.
        fixed = torch.cat([graph.attributes.asinh(), graph.at_receivers(latent)], dim=-1)
        frame = self.config.solver.frame_time
        gain, offset = self.gain / frame, self.offset / frame

        def force(x: Tensor, known: Tensor) -> Tensor:
            own, other = graph.at_receivers(x), graph.at_senders(x)
            parts = [own[:, :size] - other[:, :size], own[:, size:], other[:, size:], fixed]
            pairs = graph.edge_sum(pair(torch.cat(parts, dim=-1)))
            return pairs + alone(torch.cat([x, latent, known], dim=-1))

        def given(known: Tensor) -> Derivative:
            def second_order(t: Tensor, x: Tensor) -> Tensor:
                velocity = torch.addcmul(offset, x[:, size : 2 * size], gain)
                return torch.cat([velocity, force(x, known)], dim=-1)

            return second_order if self.velocities else lambda t, x: force(x, known)

        return Driven(self.exogenous, given)

    def decode(self, solution: Solution) -> Float[Tensor, "objects outputs features"]:
        """The states themselves, with features in the order of the data."""
        place = torch.tensor(self.order, device=solution.states.device).argsort()
        return solution.states[..., place].transpose(0, 1)
