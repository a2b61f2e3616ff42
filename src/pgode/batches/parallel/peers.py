"""The processes that train one model together, and what they tell each other in a step."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.distributed as dist
from jaxtyping import Float, Shaped
from torch import Tensor
from torch._C._distributed_c10d import Store

from pgode.runtime.errors import SolverError, TrainingError

PAUSE = 0.05
"""Seconds between two looks into the store."""


class LostProcessError(TrainingError):
    """Another of the processes that train together is gone."""


class PeerFailedError(SolverError):
    """Another process could not solve its share, so this step has no gradient."""


class Peers:
    """A process among those that train together, each with its rank.

    Everything exchanged within a step begins with the same short message: whether the sender can
    go on, how many rows it will send, and a number to be summed. A process whose forecast cannot
    be solved sends it too (`give_up`), wherever the others are, so nobody waits for it in vain.
    """

    def __init__(self, store: Store, rank: int, size: int) -> None:
        self.store, self.rank, self.size = store, rank, size

    @property
    def leads(self) -> bool:
        """Whether this process writes, shows progress and decides."""
        return self.rank == 0

    def sum(self, values: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """The sum of all processes' values, with the same bits in each of them."""
        total = values.detach().clone(memory_format=torch.contiguous_format)
        self._together(lambda: dist.all_reduce(total))
        return total

    def rows(
        self, own: Shaped[Tensor, "rows channels"], counts: Sequence[int]
    ) -> Shaped[Tensor, "all channels"]:
        """The rows of all processes in the order of their ranks, of which each has its count."""
        padded = own.new_zeros(max(max(counts), 1), *own.shape[1:])
        padded[: len(own)] = own.detach()
        parts = [torch.empty_like(padded) for _ in counts]
        self._together(lambda: dist.all_gather(parts, padded))
        return torch.cat([part[:count] for part, count in zip(parts, counts, strict=True)])

    def exchange(self, rows: int = 0, number: float = 0.0) -> tuple[list[int], float]:
        """How many rows each process will send, and the sum of a number."""
        return self._exchange(ready=True, rows=rows, number=number)

    def give_up(self) -> None:
        """Tell the others, who are ahead or behind in the same step, that it has no gradient."""
        self._exchange(ready=False, rows=0, number=0.0)

    def _exchange(self, *, ready: bool, rows: int, number: float) -> tuple[list[int], float]:
        message = torch.zeros(self.size + 2, dtype=torch.float64)
        message[0], message[1], message[2 + self.rank] = float(ready), number, rows
        message = self.sum(message)
        if ready and int(message[0]) < self.size:
            raise PeerFailedError("another process could not solve its share of the batch")
        return [int(count) for count in message[2:]], float(message[1])

    def tell(self, key: str, content: str) -> None:
        """Leave a message for all processes, whenever they come to read it."""
        self._together(lambda: self.store.set(f"pgode/{key}", content))

    def told(self, key: str) -> str:
        """Wait for a message, however long it takes."""

        def read() -> str:
            while not self.store.check([f"pgode/{key}"]):
                time.sleep(PAUSE)
            return bytes(self.store.get(f"pgode/{key}")).decode()

        return str(self._together(read))

    def broadcast(self, content: bytes) -> bytes:
        """The content that the leading process has; what the others give is ignored."""
        length = self.sum(torch.tensor(float(len(content)) if self.leads else 0.0).double())
        buffer = torch.zeros(int(length), dtype=torch.uint8)
        if self.leads:
            buffer.copy_(torch.frombuffer(bytearray(content), dtype=torch.uint8))
        self._together(lambda: dist.broadcast(buffer, 0))
        return buffer.numpy().tobytes()

    def _together(self, work: Callable[[], Any]) -> Any:
        """Do what needs all processes; an error of the connection means that one is gone."""
        try:
            return work()
        except RuntimeError as error:
            raise LostProcessError(
                f"process {self.rank + 1} of {self.size} lost its connection to the others: "
                f"{_first_line(error)}. Expected all to train until the end. The run is saved; "
                f"continue it with --resume, with any number of processes."
            ) from error


def _first_line(error: Exception) -> str:
    text = (str(error).strip() or type(error).__name__).splitlines()[0]
    return text.rpartition("] ")[2].rstrip(". ")[:120]
