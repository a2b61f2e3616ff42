"""Constants of objects and known inputs, in the forms in which models take them.

Both are numbers that rotations leave unchanged. A model asks for their widths when it is built, and
for tensors of these widths with each batch; where data have neither, all widths are 0, and models
are the same as without this module.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.ode import Derivative


@dataclass(frozen=True)
class Exogenous:
    """How many constants and inputs a model sees, and how it sees those of a batch."""

    constants: int = 0
    inputs: int = 0

    @classmethod
    def of(cls, normaliser: Normaliser) -> "Exogenous":
        """All that the data have."""
        return cls(len(normaliser.constants), len(normaliser.inputs))

    @property
    def width(self) -> int:
        """Length of [constants, inputs at one time]."""
        return self.constants + self.inputs

    def history_width(self, frames: int) -> int:
        """Length of what `history` returns."""
        return self.constants + frames * self.inputs

    def past(self, batch: Batch) -> Float[Tensor, "objects condition width"]:
        """[constants, inputs] at each frame of the condition."""
        return self._beside_constants(batch, batch.inputs[:, : batch.states.shape[1]])

    def at(
        self, batch: Batch, times: Float[Tensor, "systems outputs"]
    ) -> Float[Tensor, "objects outputs width"]:
        """[constants, inputs in force] at some times, see `Batch.inputs_at`."""
        if not self.inputs:
            none = batch.constants.new_empty(batch.objects, times.shape[1], 0)
            return self._beside_constants(batch, none)
        return self._beside_constants(batch, batch.inputs_at(times.to(batch.input_times)))

    def ahead(self, batch: Batch, frames: int) -> Float[Tensor, "objects frames width"]:
        """[constants, inputs] of each of the next whole frames, for models that step by frames."""
        return self.at(batch, _whole(batch, 1, frames))

    def history(
        self, batch: Batch, frames: int, end: int = 0
    ) -> Float[Tensor, "objects history_width"]:
        """The constants, and the inputs of as many whole frames up to `end`, in one row."""
        inputs = Exogenous(0, self.inputs).at(batch, _whole(batch, end + 1 - frames, end))
        return torch.cat([batch.constants[:, : self.constants], inputs.flatten(1)], dim=1)

    def _beside_constants(
        self, batch: Batch, inputs: Float[Tensor, "objects times inputs"]
    ) -> Float[Tensor, "objects times width"]:
        constants = batch.constants[:, None, : self.constants]
        repeated = constants.expand(-1, inputs.shape[1], -1)
        return torch.cat([repeated, inputs[:, :, : self.inputs]], dim=2)


NOTHING = Exogenous()
"""Of a model that sees neither constants nor inputs, whatever the data have."""


@dataclass(frozen=True)
class Driven:
    """A right-hand side that depends on constants and on the inputs in force.

    Inputs change from frame to frame and are constant between. `integrate` therefore asks for one
    derivative per interval: looked up by time alone, an input would be ambiguous at the ends of a
    step, which lie on two intervals.
    """

    exogenous: Exogenous
    given: Callable[[Float[Tensor, "objects width"]], Derivative]
    """The derivative while these are the constants and inputs."""

    def __call__(
        self, t: Float[Tensor, " objects"], z: Float[Tensor, "objects state"]
    ) -> Float[Tensor, "objects state"]:
        """The derivative where data have neither constants nor inputs."""
        return self.given(z.new_empty(len(z), 0))(t, z)

    def now(self, batch: Batch) -> Derivative:
        """The derivative on the way to the first frame that is forecast."""
        return self.given(self.exogenous.ahead(batch, 1)[:, 0])


def beside(
    x: Float[Tensor, "*batch channels"], given: Float[Tensor, "*batch width"]
) -> Float[Tensor, "*batch both"]:
    """[x, given]; x itself, without a copy, where nothing is given."""
    return x if given.shape[-1] == 0 else torch.cat([x, given], dim=-1)


def _whole(batch: Batch, first: int, last: int) -> Float[Tensor, "systems frames"]:
    """Whole frames from `first` to `last`, for each system."""
    frames = torch.arange(first, last + 1, device=batch.times.device, dtype=batch.times.dtype)
    return frames.expand(batch.systems, -1)
