"""The integrated state: that of Eq. 10, alone or with named positions and velocities."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

import torch
from jaxtyping import Float
from pydantic import BeforeValidator, Field, model_validator
from torch import Tensor, nn
from torch.nn.functional import linear

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.models.pgode.direct_effect import DirectEffect
from pgode.models.pgode.dynamics.update import Mixture
from pgode.models.pgode.history_readout import HistoryReadout
from pgode.models.pgode.linear_past import LinearPast, LinearPastConfig
from pgode.models.pgode.trend import Trend
from pgode.nn.exogenous import NOTHING, Exogenous, beside
from pgode.nn.feedforward import FeedForward
from pgode.nn.frames import last_observed
from pgode.nn.initialisation import scaled
from pgode.ode import Derivative
from pgode.runtime.settings import Settings, kind_of

SMALL = 0.01
"""Factor on the initial weights of layers that change a state: untrained, objects keep their
velocities, and features that are decoded as a change keep their values."""


class LatentStateConfig(Settings):
    """The latent state z of Eq. 10, and how features are decoded from it."""

    removed: ClassVar[Mapping[str, str]] = {
        "coupling": "force laws (model.dynamics=laws) find the forces between pairs in the data"
    }

    kind: Literal["latent"] = "latent"
    residual_decoder: bool = Field(
        True, description="decode the change since the last observation, not the state itself"
    )
    history_readout: bool = Field(
        True, description="with residual_decoder: add a weighted mean of the object's past"
    )
    mean_structure: bool = Field(
        True, description="with history_readout: move towards a molecule's mean structure"
    )
    trend: bool = Field(
        True,
        description="with residual_decoder: positions without velocities continue their line",
    )

    @model_validator(mode="after")
    def _readouts_have_a_base(self) -> "LatentStateConfig":
        if self.history_readout and not self.residual_decoder:
            raise ValueError(
                "history_readout adds to the change that residual_decoder=true decodes; set "
                "history_readout=false too"
            )
        if self.trend and not self.residual_decoder:
            raise ValueError(
                "trend is part of the change that residual_decoder=true decodes; set trend=false "
                "too"
            )
        if self.mean_structure and not self.history_readout:
            raise ValueError(
                "mean_structure is part of history_readout; set mean_structure=false too"
            )
        return self


class KinematicConfig(LatentStateConfig):
    """State [q, v, z] with dq/dt = v exact, where the data name velocities; z alone elsewhere."""

    kind: Literal["kinematic"] = "kinematic"  # type: ignore[assignment]


class RegressedConfig(LatentStateConfig):
    """State z, decoded as a change from a linear regression on the object's past."""

    kind: Literal["regressed"] = "regressed"  # type: ignore[assignment]
    history_readout: bool = Field(
        False, description="add a weighted mean of the object's past to the regression too"
    )
    mean_structure: bool = Field(False, description="move towards a molecule's mean structure")
    trend: bool = Field(False, description="add the line of positions without velocities too")
    linear: LinearPastConfig = LinearPastConfig()

    @model_validator(mode="after")
    def _regression_is_the_base(self) -> "RegressedConfig":
        if not self.residual_decoder:
            raise ValueError("kind=regressed decodes a change; leave residual_decoder out")
        return self


StateConfig = Annotated[
    KinematicConfig | RegressedConfig | LatentStateConfig,
    Field(discriminator="kind"),
    BeforeValidator(kind_of("kinematic")),
]


class Readout(nn.Module):
    """Features that are decoded from z: as they are, or as a change since the last observation.

    A change adds to the last observation, to a readout of the past (`history_readout`), to a line
    (`trend`) and to the direct effect of known inputs (`direct_effect`).
    """

    def read(
        self,
        config: LatentStateConfig,
        width: int,
        normaliser: Normaliser,
        features: list[int],
        exogenous: Exogenous,
    ) -> None:
        """Make what decodes these features; nothing if there are none."""
        self.decoded, self.exogenous = features, exogenous
        self.residual = residual = config.residual_decoder
        self.decoder = _decoder(config, width + exogenous.width, width, len(features))
        self.history = _history(config, width, normaliser, features)
        straight = config.trend and not normaliser.velocities
        positions = [q for q in normaliser.positions if q in features and straight]
        self.trend = Trend(width, positions) if positions else None
        named = {*normaliser.positions, *normaliser.velocities}
        values = [k for k in features if k not in named]
        acts = residual and bool(values) and exogenous.inputs > 0
        self.effect = DirectEffect(exogenous, width, values) if acts else None

    def change(
        self,
        latent: Float[Tensor, "outputs objects width"],
        batch: Batch,
        times: Float[Tensor, "systems outputs"],
    ) -> Float[Tensor, "outputs objects decoded"]:
        """The decoded features at `times`, from z at these times."""
        assert self.decoder is not None
        given = self.exogenous.at(batch, times).transpose(0, 1)
        decoded: Tensor = self.decoder(beside(latent, given))
        if not self.residual:
            return decoded
        past = batch if self.effect is None else self.effect.removed(batch)
        last, _ = last_observed(past)
        base = last[:, self.decoded]
        if self.history is not None:
            base = base + self.history(latent, last, past)
        decoded = decoded + base
        if self.trend is not None:
            decoded = decoded + self.trend(latent, past, times)[..., self.decoded]
        if self.effect is not None:
            decoded = decoded + self.effect(batch, times)[..., self.decoded]
        return decoded


class Latent(Readout):
    """dz/dt = mixture(z) - z, decoded by an FFN (Eq. 10)."""

    def __init__(
        self,
        config: LatentStateConfig,
        width: int,
        normaliser: Normaliser,
        exogenous: Exogenous = NOTHING,
    ) -> None:
        super().__init__()
        self.inputs = width
        features = list(range(len(normaliser.features)))
        self.read(config, width, normaliser, features, exogenous)

    def initial(
        self, z0: Float[Tensor, "objects width"], batch: Batch
    ) -> Float[Tensor, "objects inputs"]:
        """The state at the last observation."""
        return z0

    def derivative(self, mixture: Mixture) -> Derivative:
        """The right-hand side of Eq. 10."""
        return lambda t, z: mixture(z) - z

    def decode(
        self,
        states: Float[Tensor, "outputs objects inputs"],
        batch: Batch,
        times: Float[Tensor, "systems outputs"],
    ) -> Float[Tensor, "outputs objects features"]:
        """States at the requested times to features."""
        return self.change(states, batch, times)


class Kinematic(Readout):
    """State [q, v, z]: dq/dt = v is exact, dv/dt is a linear map of the mixture, z follows Eq. 10.

    q and v start at the last observation (extrapolated to the end of the condition where it is
    older), are inputs of the prototypes, and need no decoder. Other features are decoded from z.
    """

    gain: Float[Tensor, " positions"]
    offset: Float[Tensor, " positions"]

    def __init__(
        self,
        config: KinematicConfig,
        width: int,
        normaliser: Normaliser,
        frame_time: float,
        exogenous: Exogenous = NOTHING,
    ) -> None:
        super().__init__()
        self.positions, self.velocities = normaliser.positions, normaliser.velocities
        features = len(normaliser.features)
        named = {*self.positions, *self.velocities}
        self.others = [k for k in range(features) if k not in named]
        self.size = len(self.positions)
        self.inputs = width + 2 * self.size
        gain, offset = normaliser.drift()
        self.register_buffer("gain", torch.tensor(gain), persistent=False)
        self.register_buffer("offset", torch.tensor(offset), persistent=False)
        self.frame_time = frame_time
        self.acceleration = scaled(nn.Linear(width, self.size, bias=False), SMALL)
        self.read(config, width, normaliser, self.others, exogenous)

    def initial(
        self, z0: Float[Tensor, "objects width"], batch: Batch
    ) -> Float[Tensor, "objects inputs"]:
        """Last observed q and v, and z(0)."""
        value, when = last_observed(batch)
        velocity = value[:, self.velocities]
        elapsed = -when[:, self.positions]
        position = value[:, self.positions] + (velocity * self.gain + self.offset) * elapsed
        return torch.cat([position, velocity, z0], dim=-1)

    def derivative(self, mixture: Mixture) -> Derivative:
        """d[q, v, z]/dt."""
        size = self.size
        gain, offset = self.gain / self.frame_time, self.offset / self.frame_time
        acceleration = self.acceleration.weight

        def derivative(t: Tensor, y: Tensor) -> Tensor:
            mixed = mixture(y)
            velocity = torch.addcmul(offset, y[:, size : 2 * size], gain)
            latent = mixed - y[:, 2 * size :]
            return torch.cat([velocity, linear(mixed, acceleration), latent], dim=-1)

        return derivative

    def decode(
        self,
        states: Float[Tensor, "outputs objects inputs"],
        batch: Batch,
        times: Float[Tensor, "systems outputs"],
    ) -> Float[Tensor, "outputs objects features"]:
        """q and v are the state itself; other features come from z."""
        size = self.size
        parts = [states[..., : 2 * size]]
        if self.others:
            parts.append(self.change(states[..., 2 * size :], batch, times))
        order = [*self.positions, *self.velocities, *self.others]
        place = torch.tensor(order, device=states.device).argsort()
        return torch.cat(parts, dim=-1)[..., place]


class Regressed(Latent):
    """As `Latent`, but the base of the decoded change is a linear regression on the past."""

    def __init__(
        self,
        config: RegressedConfig,
        width: int,
        normaliser: Normaliser,
        exogenous: Exogenous = NOTHING,
    ) -> None:
        super().__init__(config, width, normaliser, exogenous)
        self.linear = LinearPast(config.linear, normaliser)

    def decode(
        self,
        states: Float[Tensor, "outputs objects inputs"],
        batch: Batch,
        times: Float[Tensor, "systems outputs"],
    ) -> Float[Tensor, "outputs objects features"]:
        """The regression at each time, corrected by what is decoded from z."""
        change = self.change(states, batch, times) - last_observed(batch)[0]
        base: Tensor = self.linear.last(batch) + self.linear(times[batch.system].T, batch)
        return change + base


def _decoder(
    config: LatentStateConfig, inputs: int, width: int, features: int
) -> FeedForward | None:
    """From z (and constants and inputs) to features, or to their change; None without features."""
    if not features:
        return None
    decoder = FeedForward(inputs, width, features)
    if config.residual_decoder:
        scaled(decoder.second, SMALL)
    return decoder


def _history(
    config: LatentStateConfig, width: int, normaliser: Normaliser, features: list[int]
) -> HistoryReadout | None:
    if not config.history_readout or not features:
        return None
    return HistoryReadout(width, normaliser, features, mean_structure=config.mean_structure)
