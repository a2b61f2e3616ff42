"""A linear regression on the object's own past, in closed form, that a network then corrects."""

from collections.abc import Iterator

import numpy as np
import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn

from pgode.batches.normaliser import Normaliser
from pgode.batches.origins import Origins, every
from pgode.batches.windows import Batch, Windows
from pgode.nn.frames import whole_frames
from pgode.runtime.limits.bounds import FRAMES, LARGE
from pgode.runtime.settings import Settings

WINDOWS = 2000
"""About the most windows that the regression is fitted to."""
TOGETHER = 32
"""Windows that are cut at a time."""


class LinearPastConfig(Settings):
    """Which past values the regression sees, and how it is fitted."""

    spacing: int = Field(1, ge=1, le=FRAMES, description="frames between the past values it sees")
    lags: int | None = Field(
        None,
        ge=1,
        le=FRAMES,
        description="past values of each feature; as many as the condition has",
    )
    steps: int | None = Field(
        None,
        ge=1,
        le=FRAMES,
        description="frames ahead with weights of their own; as many as are trained",
    )
    constant: bool = Field(
        True, description="a constant term; without it the forecast is proportional to the past"
    )
    ridge: float = Field(
        0.01,
        ge=0,
        le=LARGE,
        description="pull towards the last value, as a share of each input's square",
    )

    def settled(self, training: Windows) -> "LinearPastConfig":
        """With lags and steps as the windows have them."""
        lags = self.lags or 1 + (training.condition - 1) // self.spacing
        return self.model_copy(update={"lags": lags, "steps": self.steps or training.horizon})


class LinearPast(nn.Module):
    """x_i(t) = x_i(last) + W_t [x_i(0), x_i(-s), x_i(-2s), ..., 1], one W for each frame ahead.

    The weights are those of least squares over all training windows and objects, so they take no
    gradients and cannot overfit much; between frames they are interpolated, and after the last
    step they stay. All features of an object's past may bear on each of its features. Without a
    constant term, values are measured from zero in the units of the data after their transform:
    an object twice as large is then forecast twice as large.
    """

    weights: Float[Tensor, "steps inputs features"]
    zero: Float[Tensor, " features"]

    def __init__(self, config: LinearPastConfig, normaliser: Normaliser) -> None:
        super().__init__()
        self.spacing, self.ridge = config.spacing, config.ridge
        self.constant = config.constant
        self.lags, self.steps = config.lags or 1, config.steps or 1
        features = len(normaliser.features)
        inputs = self.lags * features + int(config.constant)
        self.register_buffer("weights", torch.zeros(self.steps, inputs, features))
        centre, scale = torch.tensor(normaliser.centre), torch.tensor(normaliser.scale)
        zero = torch.zeros(features) if config.constant else -centre / scale
        self.register_buffer("zero", zero, persistent=False)

    def forward(
        self, when: Float[Tensor, "outputs objects"], batch: Batch
    ) -> Float[Tensor, "outputs objects features"]:
        """The change since the last value, at times in frames after the condition."""
        inputs, _ = self._inputs(batch)
        changes = torch.einsum("ni,sif->snf", inputs, self.weights)
        changes = torch.cat([torch.zeros_like(changes[:1]), changes])
        place = when.clamp(0, self.steps)
        below = place.floor().long().clamp(max=self.steps - 1)
        share = (place - below).unsqueeze(-1)
        rows = torch.arange(when.shape[1], device=when.device)
        return torch.lerp(changes[below, rows], changes[below + 1, rows], share)

    def last(self, batch: Batch) -> Float[Tensor, "objects features"]:
        """The values that changes are counted from."""
        return self._inputs(batch)[1]

    @torch.no_grad()
    def fit(self, training: Windows) -> None:
        """Least squares over all windows of the training split, or many of them.

        Each frame ahead and each feature has its own weights; values that were not observed do not
        count. The pull is towards no change.
        """
        steps, inputs, features = self.weights.shape
        gram = np.zeros((steps, features, inputs, inputs))
        right = np.zeros((steps, features, inputs))
        for batch in _all_windows(training, self.steps):
            past, last = (each.cpu() for each in self._inputs(batch.to(self.zero.device)))
            x, known = past.double().numpy(), batch.targets_observed.numpy().astype(np.float64)
            change = (batch.targets - last.unsqueeze(1)).double().numpy() * known
            ahead = change.shape[1]
            gram[:ahead] += np.einsum("ni,nj,nsf->sfij", x, x, known, optimize=True)
            right[:ahead] += np.einsum("ni,nsf->sfi", x, change, optimize=True)
        size = np.sqrt(np.einsum("sfii->sfi", gram))
        size = np.where(size > 0, size, 1.0)
        # Inputs that were never seen have a row of zeros: the pull alone then decides.
        scaled = gram / (size[..., :, None] * size[..., None, :])
        scaled += max(self.ridge, 1e-9) * np.eye(inputs)
        found = np.linalg.solve(scaled, (right / size)[..., None])[..., 0] / size
        self.weights.copy_(torch.from_numpy(found.swapaxes(1, 2)))

    def _inputs(
        self, batch: Batch
    ) -> tuple[Float[Tensor, "objects inputs"], Float[Tensor, "objects features"]]:
        """Past values, newest first, and the newest alone."""
        reach = (self.lags - 1) * self.spacing + 1
        frames = whole_frames(batch, reach)
        past = (frames - self.zero).flip(1)[:, :: self.spacing].flatten(1)
        if self.constant:
            past = torch.cat([past, torch.ones_like(past[:, :1])], dim=1)
        return past, frames[:, -1]


def _all_windows(training: Windows, horizon: int) -> Iterator[Batch]:
    length = training.condition + 1
    count = int(np.maximum(training.frames - length + 1, 1).sum())
    found = every(training.frames, length, max(1, -(-count // WINDOWS)))
    for part in Origins(found.systems, found.starts).chunks(TOGETHER):
        yield training.batch(part.systems, part.starts, horizon)
