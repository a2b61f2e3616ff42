"""NODE: a latent ordinary differential equation for each object on its own.

A recurrent network reads an object's condition and gives the posterior of its latent state at the
end of the condition, where a neural ODE starts:

    z_i(0) ~ N(mu_i, sigma_i^2),    dz_i/dt = f(z_i),    x_i(t) = x_i(0) + D (z_i(t) - z_i(0))

Ricky T. Q. Chen, Yulia Rubanova, Jesse Bettencourt and David Duvenaud, "Neural Ordinary
Differential Equations", NeurIPS 2018, as the latent model of Yulia Rubanova, Ricky T. Q. Chen and
David Duvenaud, "Latent ODEs for Irregularly-Sampled Time Series", NeurIPS 2019.

Simplified: the encoder is a plain GRU with the gaps in time as inputs, without an ODE between
observations. As in the original, it stops reading at the time of z(0). Here that is the last
observation, so it reads forwards, and only the future is decoded, not the condition. The linear
decoder gives the change since the last observation x(0); the original decodes the state. Constants
and known inputs are inputs of the encoder and of f.
"""

from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.models.latent import Encoded
from pgode.models.latent_ode import InitialValueProblem, LatentODE, LatentODEConfig
from pgode.nn.exogenous import Driven, Exogenous, beside
from pgode.nn.feedforward import FeedForward
from pgode.nn.frames import last_observed
from pgode.nn.gaussian import Posterior
from pgode.nn.recurrent import RecurrentEncoder
from pgode.runtime.limits.bounds import WIDTH


class NODEConfig(LatentODEConfig):
    """Sizes of the latent ODE."""

    width: int = Field(
        64, ge=1, le=WIDTH, description="width of the latent state and of the encoder"
    )
    hidden: int = Field(200, ge=1, le=WIDTH, description="hidden units of f")


class NODE(LatentODE):
    """Latent ODE of every object, without interaction."""

    config: NODEConfig
    config_type = NODEConfig
    known_inputs = "ahead"

    def __init__(self, config: NODEConfig, normaliser: Normaliser) -> None:
        super().__init__(config, normaliser)
        features, width = len(normaliser.features), config.width
        self.exogenous = Exogenous.of(normaliser)
        self.encoder = RecurrentEncoder(features, width, backwards=False, exogenous=self.exogenous)
        self.posterior = Posterior(width, width, width)
        self.f = FeedForward(width + self.exogenous.width, config.hidden, width)
        self.decoder = nn.Linear(width, features, bias=False)

    def encode(self, batch: Batch) -> Encoded:
        """q(z_i(0) | condition of object i)."""
        posterior = self.posterior(self.encoder(batch))
        return Encoded(posterior, {"initial_state": posterior.mean})

    def problem(
        self, batch: Batch, encoded: Encoded, initial: Float[Tensor, "objects latent"]
    ) -> InitialValueProblem:
        """dz/dt = f(z); the change of z since time 0 is decoded."""
        start, _ = last_observed(batch)
        slope = Driven(self.exogenous, lambda given: lambda t, z: self.f(beside(z, given)))
        return InitialValueProblem(
            slope, initial, lambda z, times: start + self.decoder(z - initial)
        )
