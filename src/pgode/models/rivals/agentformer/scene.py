"""Systems of different sizes as one padded block."""

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

from pgode.batches.windows import Batch
from pgode.nn.frames import whole_frames


@dataclass(frozen=True)
class Scene:
    """The condition as a padded block of systems, with positions relative to each system's centre.

    The centre is the mean last position of the observed objects; an object that was never observed
    is put at the centre. `slot` is each object's row in the flattened block.
    """

    relative: Float[Tensor, "objects condition features"]
    origin: Float[Tensor, "objects features"]
    present: Bool[Tensor, "systems members"]
    slot: Int[Tensor, " objects"]

    @classmethod
    def of(cls, batch: Batch, positions: list[int]) -> "Scene":
        """The condition of a batch, in whole frames."""
        states, system = whole_frames(batch, batch.states.shape[1]), batch.system
        counts = torch.bincount(system, minlength=batch.systems)
        number = torch.arange(batch.objects, device=system.device)
        member = torch.arange(counts.max().item(), device=system.device)
        slot = system * member.shape[0] + number - (counts.cumsum(0) - counts)[system]
        position = torch.zeros_like(states[0, 0], dtype=torch.bool)
        position[positions] = True
        seen = batch.observed.any(1) & position
        none = states.new_zeros(batch.systems, states.shape[2])
        total = none.index_add(0, system, torch.where(seen, states[:, -1], 0))
        centre = total / none.index_add(0, system, seen.to(states.dtype)).clamp(min=1)
        origin = centre[system]
        relative = torch.where((seen | ~position).unsqueeze(1), states - origin.unsqueeze(1), 0)
        return cls(relative, origin, member < counts.unsqueeze(1), slot)

    def padded(
        self, values: Shaped[Tensor, "objects ..."]
    ) -> Shaped[Tensor, "systems members ..."]:
        """Values of objects as a block; 0 where there is no object."""
        rows = values.new_zeros(self.present.numel(), *values.shape[1:])
        return rows.index_copy(0, self.slot, values).view(*self.present.shape, *values.shape[1:])

    def listed(self, block: Shaped[Tensor, "systems members ..."]) -> Shaped[Tensor, "objects ..."]:
        """The values of a block, one row per object."""
        return block.flatten(0, 1)[self.slot]

    @cached_property
    def states(self) -> Float[Tensor, "systems members condition features"]:
        """The relative states as a block."""
        return self.padded(self.relative)

    @cached_property
    def absent(self) -> Bool[Tensor, "systems members 1"] | None:
        """Mask of the padding; None if the block is full, so that no mask is needed."""
        full = not torch.compiler.is_exporting() and bool(self.present.all())
        return None if full else ~self.present.unsqueeze(2)
