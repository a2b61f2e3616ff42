"""Torch operators over compressed graph rows: numba kernels on the CPU, plain torch elsewhere.

Each takes the graph twice, as rows of senders and as rows of receivers (the reversed list), both
as [offsets, neighbours, edge numbers, order], with the order in which kernels take the rows. A
backward pass then only needs the reversed list: the gradient of `weighted_sum` is a `weighted_sum`,
and the three gradients of `attend` are `attend`s.
"""

from pgode.batches.operators.attend import attend
from pgode.batches.operators.edge_sum import edge_sum, spread
from pgode.batches.operators.neighbour_sum import neighbour_sum, neighbour_sum_backward
from pgode.batches.operators.rows import row_of_edge
from pgode.batches.operators.softmax_attend import softmax_attend, softmax_attend_backward
from pgode.batches.operators.weighted_sum import weighted_sum

__all__ = [
    "attend",
    "edge_sum",
    "neighbour_sum",
    "neighbour_sum_backward",
    "row_of_edge",
    "softmax_attend",
    "softmax_attend_backward",
    "spread",
    "weighted_sum",
]
