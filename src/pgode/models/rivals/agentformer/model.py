"""AgentFormer: a transformer over the tokens of all objects at all frames, with latent intents.

A token is an object i at a frame t. It attends to all tokens (j, s) of its system at once, with
different projections for its own object and for other objects:

    score(i t, j s) = Q_own h_it . K_own h_js      if i = j
                      Q_other h_it . K_other h_js  otherwise

    z_i ~ p(z | condition),    x_i(t + 1) = x_i(t) + decoder(x(0), ..., x(t), z, condition)

Y. Yuan, X. Weng, Y. Ou, K. Kitani: AgentFormer: Agent-Aware Transformers for Socio-Temporal
Multi-Agent Forecasting, ICCV 2021.

All objects of a system attend to each other; the graph of the data is not an input. All pairs of
tokens are scored, so time and memory grow with the square of the number of objects.

Simplified: width 64, 4 heads and feed-forward layers of 128; the original has 256, 8 and 512. Layer
norms come before the blocks, not after; there is no dropout. For the posterior, each object's
summary of the condition attends to the targets; in the original, all target tokens attend to each
other and are pooled. Training minimises the negative ELBO of the original's first stage, without
its loss of the best of 20 samples and without the second stage, which trains a sampler of diverse
intents. Gradients flow through the states that are fed back, which the original detaches. The
change of a frame is added to the previous state, not to the last observation. Constants and known
inputs are part of the tokens of the condition and of the decoder.
"""

import torch
from jaxtyping import Float
from pydantic import Field, model_validator
from torch import Tensor, nn

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.models.forecaster import Forecast, Forecaster, Losses, squared_error
from pgode.models.latent import Elbo, LatentConfig
from pgode.models.rivals.agentformer.attention import Memory
from pgode.models.rivals.agentformer.scene import Scene
from pgode.models.rivals.agentformer.transformer import Tokens, Transformer
from pgode.nn.exogenous import Exogenous
from pgode.nn.frames import between_frames, frames_until
from pgode.nn.gaussian import DiagonalNormal, Posterior
from pgode.runtime.limits.bounds import LARGE, LAYERS, SMALL, WIDTH

CHANGE_SCALE = 10.0
"""Changes per frame are small compared with the states; this makes them comparable."""


class AgentFormerElbo(Elbo):
    """The evidence lower bound, with a wider likelihood than that of latent ODEs."""

    sigma: float = Field(
        0.01, ge=SMALL, le=LARGE, description="deviation of the Gaussian likelihood"
    )


class AgentFormerConfig(LatentConfig):
    """Settings of AgentFormer."""

    width: int = Field(
        64, ge=1, le=WIDTH, description="width of tokens; feed-forward layers have twice that"
    )
    heads: int = Field(4, ge=1, le=LAYERS, description="attention heads")
    layers: int = Field(2, ge=1, le=LAYERS, description="layers of each encoder and of the decoder")
    latent: int = Field(32, ge=1, le=WIDTH, description="width of an object's latent intent z")
    objective: AgentFormerElbo = AgentFormerElbo()

    @model_validator(mode="after")
    def _heads_share_the_width(self) -> "AgentFormerConfig":
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is not a multiple of heads, {self.heads}")
        return self


class AgentFormer(Forecaster):
    """Agent-aware transformer with a conditional variational autoencoder."""

    config: AgentFormerConfig
    config_type = AgentFormerConfig
    known_inputs = "ahead"

    def __init__(self, config: AgentFormerConfig, normaliser: Normaliser) -> None:
        super().__init__(config, normaliser)
        features, width, latent = len(normaliser.features), config.width, config.latent
        self.positions = normaliser.positions
        self.exogenous = Exogenous.of(normaliser)
        self.condition_tokens = Tokens(2 * features + self.exogenous.width, width)
        self.encoder = Transformer(config.layers, width, config.heads, crosses=False)
        self.prior = Posterior(width, width, latent)
        self.target_tokens = Tokens(2 * features, width)
        self.target_encoder = Transformer(config.layers, width, config.heads, crosses=True)
        self.posterior = Posterior(width, width, latent)
        self.decoder_tokens = Tokens(2 * features + latent + self.exogenous.width, width)
        self.decoder = Transformer(config.layers, width, config.heads, crosses=True)
        self.change = nn.Linear(width, features)
        # An untrained model then nearly keeps the last state, instead of a random walk from it.
        nn.init.normal_(self.change.weight, std=1e-4)
        nn.init.zeros_(self.change.bias)

    def loss(self, batch: Batch) -> Losses:
        """Negative ELBO per observed value, times 2 sigma^2.

        The factor makes the reconstruction term the squared error itself.
        """
        config, frames = self.config, frames_until(batch.target_times)
        scene = Scene.of(batch, self.positions)
        known = self.exogenous.ahead(batch, frames)
        context = self.encode(batch, scene)
        prior = self.prior(scene.listed(context.mean(2)))
        posterior = self.posterior(self.encode_targets(batch, scene, context))
        start = posterior.start(config.objective.sample, batch.share)
        rollout = self.decode(scene, context, start, known)
        error = squared_error(batch, between_frames(rollout, batch.target_times, batch))
        weight = config.objective.unit * config.objective.kl_weight
        terms = {
            "reconstruction": error,
            "kl": weight * divergence(posterior, prior) / batch.values,
        }
        return Losses(terms["reconstruction"] + terms["kl"], {**terms, "mse": error})

    def forecast(
        self, batch: Batch, times: Float[Tensor, "systems outputs"], samples: int = 0
    ) -> Forecast:
        """Forecast with the mean intents of the prior; each sample draws other intents."""
        frames = frames_until(times)
        scene = Scene.of(batch, self.positions)
        known = self.exogenous.ahead(batch, frames)
        context = self.encode(batch, scene)
        prior = self.prior(scene.listed(context.mean(2)))
        intents = [prior.mean, *(prior.sample() for _ in range(samples))]
        forecasts = torch.stack(
            [between_frames(self.decode(scene, context, z, known), times, batch) for z in intents]
        )
        return Forecast(forecasts[0], forecasts[1:], {"intent": prior.mean})

    def encode(
        self, batch: Batch, scene: Scene
    ) -> Float[Tensor, "systems members condition width"]:
        """The tokens of the condition after attention to each other."""
        states = scene.states
        times = torch.arange(1 - states.shape[2], 1, device=states.device, dtype=states.dtype)
        changes = CHANGE_SCALE * nn.functional.pad(states.diff(dim=2), (0, 0, 1, 0))
        known = scene.padded(self.exogenous.at(batch, times.expand(batch.systems, -1)))
        seen = torch.cat([states, changes, known], dim=-1)
        tokens = self.condition_tokens(seen, times[None, None])
        encoded: Tensor = self.encoder(tokens, scene.absent)[0]
        return encoded

    def encode_targets(
        self,
        batch: Batch,
        scene: Scene,
        context: Float[Tensor, "systems members condition width"],
    ) -> Float[Tensor, "objects width"]:
        """Inputs of the posterior: each object's mean token after attention to the targets."""
        observed = batch.targets_observed
        relative = torch.where(observed, batch.targets - scene.origin.unsqueeze(1), 0)
        inputs = scene.padded(torch.cat([relative, observed.to(relative.dtype)], dim=-1))
        tokens = self.target_tokens(inputs, batch.target_times.unsqueeze(1))
        seen = scene.padded(observed.any(-1))
        targets = self.target_encoder.memories(tokens, None if seen.all() else ~seen)
        summary = context.mean(2, keepdim=True)
        encoded, _ = self.target_encoder(summary, scene.absent, context=targets)
        return scene.listed(encoded.squeeze(2))

    def decode(
        self,
        scene: Scene,
        context: Float[Tensor, "systems members condition width"],
        z: Float[Tensor, "objects latent"],
        known: Float[Tensor, "objects frames exogenous"],
    ) -> Float[Tensor, "objects frames+1 features"]:
        """Roll out from the last state over the frames that `known` is given for.

        A token does not attend to later ones, so its keys and values never change: they are kept,
        and each frame computes its own tokens only.
        """
        intents = scene.padded(z).unsqueeze(2)
        before, state = scene.states[:, :, -2:][:, :, :1], scene.states[:, :, -1:]
        condition = self.decoder.memories(context, scene.absent)
        past: list[Memory] = []
        rollout = [state]
        for frame, given in enumerate(scene.padded(known).unbind(2)):
            fed = [state, CHANGE_SCALE * (state - before), intents, given.unsqueeze(2)]
            seen = torch.cat(fed, dim=-1)
            tokens = self.decoder_tokens(seen, state.new_full((1, 1, 1), frame))
            decoded, past = self.decoder(tokens, scene.absent, past, condition)
            before, state = state, state + self.change(decoded)
            rollout.append(state)
        return scene.listed(torch.cat(rollout, dim=2)) + scene.origin.unsqueeze(1)


def divergence(posterior: DiagonalNormal, prior: DiagonalNormal) -> Float[Tensor, ""]:
    """Kullback-Leibler divergence of the posterior from the prior, summed over all objects."""
    spread = (posterior.mean - prior.mean).square() + posterior.log_variance.exp()
    log_ratio = prior.log_variance - posterior.log_variance
    return 0.5 * (log_ratio + spread * torch.exp(-prior.log_variance) - 1).sum()
