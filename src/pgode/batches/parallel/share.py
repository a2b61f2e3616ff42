"""A process's share of a batch: sums, draws and rows that refer to the whole batch.

Losses divide by counts of the whole batch, and gradients are summed over processes, so that a step
of several processes is that of one up to rounding.
"""

from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

from pgode.batches.parallel.peers import Peers


class Share:
    """All of a batch: one process trains alone."""

    weight = 1.0
    """Factor on the losses."""

    def values(self, observed: Bool[Tensor, "objects horizon features"]) -> Int[Tensor, ""]:
        """Observed target values of the whole batch."""
        return observed.sum()

    def systems(self, own: int) -> int:
        """Systems of the whole batch."""
        return own

    @property
    def first_system(self) -> int:
        """The place of the share's first system in the whole batch."""
        return 0

    def own(self, rows: Shaped[Tensor, "rows ..."]) -> Shaped[Tensor, "own ..."]:
        """Those rows (one per system or object) that count."""
        return rows

    def gather(self, rows: Shaped[Tensor, "rows channels"]) -> Shaped[Tensor, "all channels"]:
        """The rows of all shares; gradients find their way back."""
        return rows

    def total(self, value: Float[Tensor, ""]) -> Float[Tensor, ""]:
        """The sum of a count over all shares."""
        return value

    def once(self, value: Float[Tensor, ""]) -> Float[Tensor, ""]:
        """A term that every share has in full, so that their sum has it once."""
        return value

    def normal_like(
        self, x: Float[Tensor, "objects channels"]
    ) -> Float[Tensor, "objects channels"]:
        """Standard normal draws, a row per object."""
        return torch.randn_like(x)

    def exponential_like(
        self, x: Float[Tensor, "edges channels"]
    ) -> Float[Tensor, "edges channels"]:
        """Exponential draws, a row per pair of objects of one system."""
        return torch.empty_like(x, memory_format=torch.legacy_contiguous_format).exponential_()


WHOLE = Share()


class PartOfBatch(Share):
    """One of several shares.

    `objects` are the numbers of objects of all systems of the whole batch, of which this share has
    those from `first` to `last`. A share without systems calculates with another's, at weight 0.
    """

    def __init__(
        self,
        peers: Peers,
        objects: Int[np.ndarray, " systems"],
        bounds: Int[np.ndarray, " ranks+1"],
        values: int,
    ) -> None:
        self.peers, self.objects = peers, objects
        self.first, self.last = int(bounds[peers.rank]), int(bounds[peers.rank + 1])
        self.weight = float(self.first < self.last)
        self.used = int((np.diff(bounds) > 0).sum())
        self._values = values

    def values(self, observed: Bool[Tensor, "objects horizon features"]) -> Int[Tensor, ""]:
        """Counted when the batch was cut."""
        return torch.tensor(self._values, device=observed.device)

    def systems(self, own: int) -> int:
        """Of all shares."""
        return len(self.objects)

    @property
    def first_system(self) -> int:
        """Where the own systems begin."""
        return self.first

    def own(self, rows: Shaped[Tensor, "rows ..."]) -> Shaped[Tensor, "own ..."]:
        """None where another's systems are only calculated with."""
        return rows if self.weight else rows[:0]

    def gather(self, rows: Shaped[Tensor, "rows channels"]) -> Shaped[Tensor, "all channels"]:
        """In the order of the shares."""
        gathered: Tensor = _Gathered.apply(self.own(rows), self.peers)  # type: ignore[no-untyped-call]
        return gathered

    def total(self, value: Float[Tensor, ""]) -> Float[Tensor, ""]:
        """One short message."""
        return value.new_tensor(self.peers.exchange(number=float(value))[1])

    def once(self, value: Float[Tensor, ""]) -> Float[Tensor, ""]:
        """Divided among the shares that have systems."""
        return value / self.used

    def normal_like(
        self, x: Float[Tensor, "objects channels"]
    ) -> Float[Tensor, "objects channels"]:
        """The own rows of draws for the whole batch."""
        drawn = torch.randn(int(self.objects.sum()), *x.shape[1:], dtype=x.dtype, device=x.device)
        return self._rows(drawn, self.objects, len(x))

    def exponential_like(
        self, x: Float[Tensor, "edges channels"]
    ) -> Float[Tensor, "edges channels"]:
        """The own rows of draws for the whole batch."""
        pairs = self.objects * (self.objects - 1)
        drawn = x.new_empty(int(pairs.sum()), *x.shape[1:]).exponential_()
        return self._rows(drawn, pairs, len(x))

    def _rows(
        self, drawn: Float[Tensor, "all channels"], sizes: Int[np.ndarray, " systems"], count: int
    ) -> Float[Tensor, "rows channels"]:
        begin = int(sizes[: self.first].sum()) if self.weight else 0
        return drawn[begin : begin + count]


class _Gathered(torch.autograd.Function):
    """All shares' rows; the gradient of a row is the sum over the processes that used it."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, peers: Peers) -> Tensor:
        counts, _ = peers.exchange(rows=len(rows))
        ctx.peers, ctx.begin, ctx.count = peers, sum(counts[: peers.rank]), len(rows)
        return peers.rows(rows, counts)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        ctx.peers.exchange()
        total = ctx.peers.sum(gradients[0])
        return total[ctx.begin : ctx.begin + ctx.count], None
