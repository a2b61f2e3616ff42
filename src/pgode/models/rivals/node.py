"""NODE: each object on its own, by a latent ordinary differential equation.

A recurrent network reads an object's condition and gives a posterior of its latent state at the
end of it, from which a neural ODE goes on:

    z_i(0) ~ N(mu_i, sigma_i^2),    dz_i/dt = f(z_i),    x_i(t) = x_i(0) + D (z_i(t) - z_i(0))

Ricky T. Q. Chen, Yulia Rubanova, Jesse Bettencourt and David Duvenaud, "Neural Ordinary
Differential Equations", NeurIPS 2018, as the latent model of Yulia Rubanova, Ricky T. Q. Chen and
David Duvenaud, "Latent ODEs for Irregularly-Sampled Time Series", NeurIPS 2019.

Simplified: the encoder is a plain GRU that is told the gaps in time, without an ODE of its own
between observations. As in the original it ends its reading at the time of z(0); but that is here
the last observation, so it reads forwards, and only what follows is decoded, not the condition.
The linear decoder gives the change since the last observation x(0); the original decodes the state.
"""

from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.models.latent import Encoded, LatentConfig, LatentForecaster
from pgode.nn.feedforward import FeedForward
from pgode.nn.frames import last_observed
from pgode.nn.gaussian import Posterior
from pgode.nn.integrate import integrate
from pgode.nn.recurrent import RecurrentEncoder
from pgode.ode import SolverConfig


class NODEConfig(LatentConfig):
    """Sizes of the latent ODE."""

    width: int = Field(64, ge=1, description="width of the latent state and of the encoder")
    hidden: int = Field(200, ge=1, description="hidden units of f")
    solver: SolverConfig = SolverConfig()


class NODE(LatentForecaster):
    """Latent ODE of every object, without interaction."""

    config: NODEConfig
    config_type = NODEConfig

    def __init__(self, config: NODEConfig, normaliser: Normaliser) -> None:
        super().__init__(config, normaliser)
        features, width = len(normaliser.features), config.width
        self.encoder = RecurrentEncoder(features, width, backwards=False)
        self.posterior = Posterior(width, width, width)
        self.f = FeedForward(width, config.hidden, width)
        self.decoder = nn.Linear(width, features, bias=False)

    def encode(self, batch: Batch) -> Encoded:
        """q(z_i(0) | condition of object i)."""
        posterior = self.posterior(self.encoder(batch))
        return Encoded(posterior, {"initial_state": posterior.mean})

    def rollout(
        self,
        batch: Batch,
        encoded: Encoded,
        initial: Float[Tensor, "objects latent"],
        times: Float[Tensor, "systems outputs"],
    ) -> tuple[Float[Tensor, "objects outputs features"], int]:
        """Integrate dz/dt = f(z) to every requested time and decode the change."""
        solution = integrate(lambda t, z: self.f(z), initial, batch, times, self.config.solver)
        change: Tensor = self.decoder(solution.states - initial).transpose(0, 1)
        start, _ = last_observed(batch)
        return start.unsqueeze(1) + change, solution.evaluations
