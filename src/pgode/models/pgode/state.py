"""What is integrated: the latent state of Eq. 10 alone, or with named positions and velocities."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.models.pgode.config import PGODEConfig
from pgode.models.pgode.coupling import Coupling
from pgode.models.pgode.gates import Contexts
from pgode.models.pgode.history_readout import Recall
from pgode.models.pgode.prototypes import Mixture
from pgode.nn.feedforward import FeedForward
from pgode.nn.frames import last_observed

SMALL = 0.01
"""What changes a state starts this much smaller: untrained, objects keep their velocities, and
features that are decoded as a change keep their values."""

Derivative = Callable[[Tensor, Tensor], Tensor]


class Latent(nn.Module):
    """dz/dt = mixture(z) - z, decoded by an FFN (Eq. 10).

    With `anchor` the decoder gives the change since the last observation, to which `recall` adds
    what the object's own past says.
    """

    def __init__(self, config: PGODEConfig, normaliser: Normaliser) -> None:
        super().__init__()
        self.recovery, self.anchor = config.recovery, config.anchor
        self.inputs = config.width
        self.features = list(range(len(normaliser.features)))
        self.decoder = _decoder(config, len(self.features))
        self.recall = _recall(config, normaliser, self.features)

    def initial(
        self, z0: Float[Tensor, "objects width"], batch: Batch
    ) -> Float[Tensor, "objects inputs"]:
        """The state at the last observation."""
        return z0

    def derivative(self, mixture: Mixture, contexts: Contexts, batch: Batch) -> Derivative:
        """The right-hand side of Eq. 10."""
        if self.recovery:
            return lambda t, z: mixture(z) - z
        return lambda t, z: mixture(z)

    def decode(
        self, states: Float[Tensor, "outputs objects inputs"], batch: Batch
    ) -> Float[Tensor, "objects outputs features"]:
        """States at the requested times to features."""
        decoded: Tensor = self.decoder(states)
        if self.anchor:
            decoded = decoded + _past(states, self.recall, self.features, batch)
        return decoded.transpose(0, 1)


class Kinematic(nn.Module):
    """State [q, v, z]: dq/dt = v is exact, dv/dt is read off the mixture, z follows Eq. 10.

    With `coupling`, dv/dt has a pull along the line to each neighbour beside it.

    q and v start at the last observation (moved on to the end of the condition where it is
    older), are seen by the prototypes, and need no decoder. Other features are decoded from z.
    """

    gain: Float[Tensor, " positions"]
    offset: Float[Tensor, " positions"]

    def __init__(self, config: PGODEConfig, normaliser: Normaliser) -> None:
        super().__init__()
        self.recovery, self.anchor = config.recovery, config.anchor
        self.positions, self.velocities = normaliser.positions, normaliser.velocities
        features = len(normaliser.features)
        named = {*self.positions, *self.velocities}
        self.others = [k for k in range(features) if k not in named]
        self.size = len(self.positions)
        self.inputs = config.width + 2 * self.size
        gain, offset = normaliser.drift()
        self.register_buffer("gain", torch.tensor(gain), persistent=False)
        self.register_buffer("offset", torch.tensor(offset), persistent=False)
        self.frame_time = config.solver.frame_time
        self.acceleration = nn.Linear(config.width, self.size, bias=False)
        with torch.no_grad():
            self.acceleration.weight.mul_(SMALL)
        self.coupling = Coupling(config) if config.coupling else None
        self.decoder = _decoder(config, len(self.others)) if self.others else None
        self.recall = _recall(config, normaliser, self.others) if self.others else None

    def initial(
        self, z0: Float[Tensor, "objects width"], batch: Batch
    ) -> Float[Tensor, "objects inputs"]:
        """Last observed q and v, and z(0)."""
        value, when = last_observed(batch)
        velocity = value[:, self.velocities]
        elapsed = -when[:, self.positions]
        position = value[:, self.positions] + (velocity * self.gain + self.offset) * elapsed
        return torch.cat([position, velocity, z0], dim=-1)

    def derivative(self, mixture: Mixture, contexts: Contexts, batch: Batch) -> Derivative:
        """d[q, v, z]/dt."""
        size = self.size
        pull = None if self.coupling is None else self.coupling.bind(contexts, batch)
        gain, offset = self.gain / self.frame_time, self.offset / self.frame_time

        def derivative(t: Tensor, y: Tensor) -> Tensor:
            mixed = mixture(y)
            velocity = torch.addcmul(offset, y[:, size : 2 * size], gain)
            latent = mixed - y[:, 2 * size :] if self.recovery else mixed
            acceleration = self.acceleration(mixed)
            if pull is not None:
                acceleration = acceleration + pull(y[:, :size])
            return torch.cat([velocity, acceleration, latent], dim=-1)

        return derivative

    def decode(
        self, states: Float[Tensor, "outputs objects inputs"], batch: Batch
    ) -> Float[Tensor, "objects outputs features"]:
        """q and v are the state itself; other features come from z."""
        size = self.size
        parts = [states[..., : 2 * size]]
        if self.decoder is not None:
            latent = states[..., 2 * size :]
            rest = self.decoder(latent)
            if self.anchor:
                rest = rest + _past(latent, self.recall, self.others, batch)
            parts.append(rest)
        order = [*self.positions, *self.velocities, *self.others]
        place = torch.tensor(order, device=states.device).argsort()
        return torch.cat(parts, dim=-1)[..., place].transpose(0, 1)


def _decoder(config: PGODEConfig, features: int) -> FeedForward:
    """From z to features, or to their change since the last observation."""
    made = FeedForward(config.width, config.width, features)
    if config.anchor:
        with torch.no_grad():
            for parameter in made.second.parameters():
                parameter.mul_(SMALL)
    return made


def _recall(config: PGODEConfig, normaliser: Normaliser, features: list[int]) -> Recall | None:
    recalls = config.anchor and config.recall
    return Recall(config.width, normaliser, features, relax=config.relax) if recalls else None


def _past(
    states: Float[Tensor, "outputs objects width"],
    recall: Recall | None,
    features: list[int],
    batch: Batch,
) -> Float[Tensor, "... objects features"]:
    """What a decoded change is added to: the last observation, and what is recalled before it."""
    last, _ = last_observed(batch)
    chosen = last[:, features]
    return chosen if recall is None else chosen + recall(states, last, batch)
