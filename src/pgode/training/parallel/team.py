"""What a trainer needs to know of the processes it trains with: alone, or a share of each step."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor, nn

from pgode.batches.origins import Origins
from pgode.batches.parallel.cutting import bounds_of, own_share
from pgode.batches.parallel.peers import Peers
from pgode.batches.windows import Batch, Windows
from pgode.models.forecaster import Losses
from pgode.training.parallel.validating import Validation


class Team:
    """One process that trains alone."""

    size = 1
    leads = True
    """Whether this process writes and shows progress."""

    def batch(
        self,
        windows: Windows,
        systems: Int[np.ndarray, " n"],
        starts: Int[np.ndarray, " n"],
        horizon: int,
    ) -> Batch:
        """The own share of a step."""
        return windows.batch(systems, starts, horizon)

    def summed(
        self, losses: Losses, batch: Batch, parameters: Sequence[nn.Parameter], stop: bool
    ) -> tuple[dict[str, float], bool]:
        """The terms of the whole batch and whether any process was asked to stop.

        The gradients of the parameters become those of the whole batch.
        """
        terms = {name: float(value.detach()) for name, value in losses.terms.items()}
        return {"total": float(losses.total.detach()), **terms}, stop

    def give_up(self) -> None:
        """The own share of a step could not be solved."""

    def begin(self, state: Callable[[], bytes]) -> bytes:
        """The state to start from, which the leading process finds; empty if it was stopped."""
        return state()

    def part(self, origins: Origins) -> Origins:
        """The windows to validate on in this process."""
        return origins

    def validated(self, own: Validation) -> Validation:
        """The sums of all processes."""
        return own


ALONE = Team()


class Together(Team):
    """One of several processes."""

    def __init__(self, peers: Peers) -> None:
        self.peers, self.size, self.leads = peers, peers.size, peers.leads

    def batch(
        self,
        windows: Windows,
        systems: Int[np.ndarray, " n"],
        starts: Int[np.ndarray, " n"],
        horizon: int,
    ) -> Batch:
        """About the same number of objects for each process."""
        return own_share(windows, self.peers, systems, starts, horizon)

    def summed(
        self, losses: Losses, batch: Batch, parameters: Sequence[nn.Parameter], stop: bool
    ) -> tuple[dict[str, float], bool]:
        """One message for everything: terms, the wish to stop, and all gradients."""
        self.peers.exchange()
        weight = batch.share.weight
        dtype = losses.total.dtype
        numbers = torch.stack([losses.total, *losses.terms.values()]).detach().to(dtype)
        used = numbers.new_tensor([float(each.grad is not None) for each in parameters])
        flat = torch.cat([numbers, numbers.new_tensor([float(stop)]), used, *_slopes(parameters)])
        flat[: len(numbers)] *= weight
        if weight == 0:
            flat[len(numbers) + 1 + len(used) :] = 0
        flat = self.peers.sum(flat)
        sizes = [each.numel() for each in parameters]
        numbers, stops, used, *slopes = torch.split(flat, [len(numbers), 1, len(used), *sizes])
        for each, own, count in zip(parameters, slopes, used.tolist(), strict=True):
            each.grad = own.view_as(each).to(each.dtype) if count else None
        names = ["total", *losses.terms]
        return dict(zip(names, numbers.tolist(), strict=True)), bool(stops.item())

    def give_up(self) -> None:
        """The others, who may wait already, take no step either."""
        self.peers.give_up()

    def begin(self, state: Callable[[], bytes]) -> bytes:
        """May take long in the leading process, so that the others look for a sign first."""
        content = b""
        if self.leads:
            content = state()
            self.peers.tell("begin", "now")
        else:
            self.peers.told("begin")
        return self.peers.broadcast(content)

    def part(self, origins: Origins) -> Origins:
        """A run of windows, about as many as every other process has."""
        bounds = bounds_of(np.ones(len(origins), np.int64), self.size)
        own = slice(bounds[self.peers.rank], bounds[self.peers.rank + 1])
        return Origins(origins.systems[own], origins.starts[own])

    def validated(self, own: Validation) -> Validation:
        """Sums of errors, and all weights."""
        width = 0 if own.gates is None else own.gates.shape[1]
        rows = 0 if own.gates is None else len(own.gates)
        counts, widths = self.peers.exchange(rows=rows, number=width if rows else 0.0)
        numbers = [own.error, own.count, float(not own.solved), own.memory]
        error, count, failed, memory = self.peers.sum(
            torch.tensor(numbers, dtype=torch.float64)
        ).tolist()
        gates = None
        if any(counts):
            columns = round(widths / sum(each > 0 for each in counts))
            weights = np.zeros((0, columns), np.float32) if own.gates is None else own.gates
            gates = self.peers.rows(torch.from_numpy(weights), counts).numpy()
        return Validation(error, count, gates, not failed, memory)


def _slopes(parameters: Sequence[nn.Parameter]) -> list[Tensor]:
    return [
        (torch.zeros_like(each) if each.grad is None else each.grad).flatten()
        for each in parameters
    ]
