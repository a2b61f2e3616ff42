"""Linear regression of each object on its own past: the baseline that learns, but no interaction.

It is fitted in closed form, so it costs seconds and has nothing to tune.
"""

from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from pydantic import Field
from torch import Tensor

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch, Windows
from pgode.models.forecaster import ModelConfig, Progress
from pgode.models.naive.extrapolation import Naive
from pgode.models.naive.past_windows import PastWindows, filled, last_values, recent
from pgode.nn.frames import between_frames
from pgode.runtime.limits.bounds import FRAMES, LARGE

MOST = 800
"""Most regressors; of objects with many features fewer frames of the past are used."""


class LinearPastConfig(ModelConfig):
    """Which frames are regressed on which; what is not given follows from the training data."""

    past: int | None = Field(
        default=None,
        ge=1,
        le=FRAMES,
        description="last observed frames it sees; the condition if not given",
    )
    horizon: int | None = Field(
        default=None,
        ge=1,
        le=FRAMES,
        description="frames it forecasts; those of training if not given",
    )
    gaps: bool | None = Field(
        default=None, description="whether missing values are regressors; if data have any"
    )
    ridge: float | None = Field(
        default=None,
        ge=0,
        le=LARGE,
        description="penalty relative to each regressor; held-out training windows choose it",
    )

    def settled(self, training: Windows, seed: int) -> tuple["LinearPastConfig", str]:
        """With the sizes that the training windows have."""
        gaps = self.gaps
        if gaps is None:
            gaps = PastWindows.has_gaps(training)
        features = len(training.normaliser.features) * (2 if gaps else 1)
        past = min(self.past or training.condition, max(MOST // features, 1))
        settled = {"past": past, "horizon": self.horizon or training.horizon, "gaps": gaps}
        return self.model_copy(update=settled), ""


class LinearPast(Naive):
    """Each feature's change since its last observation is linear in the object's own past.

    Regressors of frame h are the observed frames relative to the last observation of each
    feature, these last observations themselves, the object's constants, the known inputs at frame
    h, and 1. Missing values are interpolated; where training has any, regressors also say which
    they are. The weights are the same for all objects, and a large penalty leads to "last value",
    which it is before it is fitted. Beyond its horizon it stays at the last frame.
    """

    config_type: ClassVar[type[ModelConfig]] = LinearPastConfig
    trainable: ClassVar[bool] = True
    weights: Tensor

    def __init__(self, config: ModelConfig, normaliser: Normaliser) -> None:
        super().__init__(config, normaliser)
        assert isinstance(config, LinearPastConfig)
        self.past, self.gaps, self.ridge = config.past or 0, bool(config.gaps), config.ridge
        features = len(normaliser.features)
        size = features * max(self.past, 1) + len(normaliser.constants) + len(normaliser.inputs) + 1
        size += features * self.past if self.gaps else 0
        self.register_buffer("weights", torch.zeros(config.horizon or 0, size, features))
        self.penalties: list[float] = []

    def prepare(self, training: Windows, seed: int, progress: Progress) -> bool:
        """Fit the weights by ridge regression on windows of the training split."""
        rows = PastWindows(training, self.past, self.weights.shape[0])
        found, self.penalties = rows.fit(
            self.regressors, self.weights.shape[1], self.ridge, progress
        )
        self.weights.copy_(found)
        return True

    def findings(self) -> tuple[str, ...]:
        """The penalty of each feature."""
        pairs = zip(self.normaliser.features, self.penalties, strict=False)
        chosen = ", ".join(f"{penalty:g} for {name}" for name, penalty in pairs)
        return (f"penalty of the regression: {chosen}",) if chosen else ()

    def extrapolate(
        self, batch: Batch, times: Float[Tensor, "systems outputs"]
    ) -> Float[Tensor, "objects outputs features"]:
        """The forecasts of whole frames, interpolated to any times."""
        frames = self.weights.shape[0]
        states, observed = recent(batch.states, batch.observed, self.past)
        last = last_values(batch.states, batch.observed)
        if not frames:
            return last.unsqueeze(1).expand(-1, times.shape[1], -1)
        whole = torch.arange(1.0, frames + 1).to(times).expand(batch.systems, -1)
        inputs = batch.inputs_at(whole).transpose(0, 1)
        regressors = self.regressors(states, observed, last, batch.constants, inputs)
        change = (regressors @ self.weights).transpose(0, 1).reshape(len(last), frames, -1)
        change = torch.where(batch.observed.any(1).unsqueeze(1), change, 0)
        rollout = torch.cat([last.unsqueeze(1), last.unsqueeze(1) + change], 1)
        return between_frames(rollout, times.clamp(max=float(frames)), batch)

    def regressors(
        self,
        states: Float[Tensor, "objects past features"],
        observed: Bool[Tensor, "objects past features"],
        last: Float[Tensor, "objects features"],
        constants: Float[Tensor, "objects constants"],
        inputs: Float[Tensor, "frames objects inputs"],
    ) -> Float[Tensor, "objects P"] | Float[Tensor, "frames objects P"]:
        """The regressors of each object; of each frame, too, where there are known inputs."""
        seen = observed.any(1, keepdim=True)
        relative = torch.where(seen, filled(states, observed) - last.unsqueeze(1), 0)
        # The last frame is 0 relative to itself, unless it is missing.
        parts = [relative[:, :-1].flatten(1), last]
        if self.gaps:
            parts.append((~observed).to(states.dtype).flatten(1))
        parts.append(constants)
        one = torch.ones_like(last[:, :1])
        if not inputs.shape[2]:
            return torch.cat([*parts, one], 1)
        frames = inputs.shape[0]
        same = torch.cat(parts, 1).expand(frames, -1, -1)
        return torch.cat([same, inputs, one.expand(frames, -1, -1)], 2)
