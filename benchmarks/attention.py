"""Softmax attention over a protein's observations: `python -m benchmarks.attention`.

Forward and backward pass of one layer of 64 channels over the temporal graph of four systems of
166 objects and 12 frames, compiled and in plain torch, which stores what every edge carries.
"""

import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from pgode.batches.normaliser import Normaliser
from pgode.batches.operators import softmax_attend
from pgode.batches.windows import Windows
from pgode.data.simulate import simulate

SYSTEMS, OBJECTS, CONDITION, WIDTH, ROUNDS = 4, 166, 12, 64, 3


def seconds(work: Callable[[], None]) -> float:
    """The shortest of some rounds, after one that may compile."""
    work()
    taken = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def main() -> None:
    """Measure both ways in one run."""
    torch.set_num_threads(1)
    data = simulate(
        "springs", objects=OBJECTS, frames=CONDITION + 1, train=SYSTEMS, val=0, test=0, ood=0
    )
    windows = Windows(data, Normaliser.fit(data), CONDITION, 1)
    batch = windows.batch(np.arange(SYSTEMS), np.zeros(SYSTEMS, np.int64))
    graph = batch.history.by_kind
    given = (graph.rows_of_senders, graph.rows_of_receivers, graph.weights)
    inputs = [torch.randn(rows, WIDTH) for rows in (graph.rows, graph.columns, graph.columns)]
    for each in inputs:
        each.requires_grad_()

    def both_passes(operator: Callable[..., tuple[Tensor, Tensor]]) -> None:
        torch.autograd.grad(operator(*given, *inputs)[0].sum(), inputs)

    compiled = seconds(lambda: both_passes(softmax_attend))
    plain = seconds(lambda: both_passes(softmax_attend._init_fn))
    print(f"{graph.edges} edges: compiled {compiled:.3f} s, plain {plain:.3f} s", end="")
    print(f" ({plain / compiled:.1f} x)")


if __name__ == "__main__":
    main()
