"""Compiled loops behind `pgode.batches.graph`; they store nothing per edge.

Every backward pass gathers: the gradient of a receiver is a sum over its row, the gradient of a
sender over its row of the reversed list. No two threads ever write to the same row, so a result
does not depend on the order in which threads finish. Kernels that gather take rows in a given
`order`, or as they are stored if it is empty.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numba
import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import _get_current_dispatch_mode

_compiled = numba.njit(nogil=True, cache=True, fastmath={"contract", "nsz", "arcp"})
# A dot product can only be vectorised if its terms may be added in any order.
_reordered = numba.njit(nogil=True, cache=True, fastmath={"contract", "nsz", "arcp", "reassoc"})

PARALLEL_WORK = 400_000
"""Edges times channels below which a second thread costs more than it saves."""


@_compiled
def neighbour_sum_rows(start, stop, offsets, order, senders, attributes, receive, send, edge, out):
    """out_i = sum_j relu(receive_i + send_j + attributes_ij edge), for rows start..stop."""
    channels = receive.shape[1]
    count = attributes.shape[1]
    total = np.empty(channels, receive.dtype)
    for place in range(start, stop):
        i = order[place] if len(order) else place
        for c in range(channels):
            out[i, c] = 0
        for e in range(offsets[i], offsets[i + 1]):
            j = senders[e]
            if count == 1:
                weight = attributes[e, 0]
                for c in range(channels):
                    x = receive[i, c] + send[j, c] + weight * edge[0, c]
                    out[i, c] += x if x > 0 else receive.dtype.type(0)
                continue
            for c in range(channels):
                total[c] = receive[i, c] + send[j, c]
            for m in range(count):
                weight = attributes[e, m]
                for c in range(channels):
                    total[c] += weight * edge[m, c]
            for c in range(channels):
                out[i, c] += total[c] if total[c] > 0 else receive.dtype.type(0)


@_compiled
def neighbour_sum_receiver_gradient(
    start,
    stop,
    offsets,
    order,
    senders,
    attributes,
    receive,
    send,
    edge,
    grad,
    grad_receive,
    grad_edge,
):
    """Gradients of `receive` (rows start..stop) and of `edge` (the part of these rows)."""
    channels = receive.shape[1]
    count = attributes.shape[1]
    zero = receive.dtype.type(0)
    total = np.empty(channels, receive.dtype)
    for place in range(start, stop):
        i = order[place] if len(order) else place
        for c in range(channels):
            grad_receive[i, c] = 0
        for e in range(offsets[i], offsets[i + 1]):
            j = senders[e]
            if count == 1:
                weight = attributes[e, 0]
                for c in range(channels):
                    x = receive[i, c] + send[j, c] + weight * edge[0, c]
                    passed = grad[i, c] if x > 0 else zero
                    grad_receive[i, c] += passed
                    grad_edge[0, c] += weight * passed
                continue
            for c in range(channels):
                total[c] = receive[i, c] + send[j, c]
            for m in range(count):
                weight = attributes[e, m]
                for c in range(channels):
                    total[c] += weight * edge[m, c]
            for c in range(channels):
                total[c] = grad[i, c] if total[c] > 0 else zero
                grad_receive[i, c] += total[c]
            for m in range(count):
                weight = attributes[e, m]
                for c in range(channels):
                    grad_edge[m, c] += weight * total[c]


@_compiled
def neighbour_sum_sender_gradient(
    start, stop, offsets, order, receivers, edges, attributes, receive, send, edge, grad, grad_send
):
    """Gradient of `send` for senders start..stop; `offsets`, `receivers`, `edges` are reversed."""
    channels = receive.shape[1]
    count = attributes.shape[1]
    zero = receive.dtype.type(0)
    total = np.empty(channels, receive.dtype)
    for place in range(start, stop):
        j = order[place] if len(order) else place
        for c in range(channels):
            grad_send[j, c] = 0
        for r in range(offsets[j], offsets[j + 1]):
            i = receivers[r]
            e = edges[r]
            if count == 1:
                weight = attributes[e, 0]
                for c in range(channels):
                    x = receive[i, c] + send[j, c] + weight * edge[0, c]
                    grad_send[j, c] += grad[i, c] if x > 0 else zero
                continue
            for c in range(channels):
                total[c] = receive[i, c] + send[j, c]
            for m in range(count):
                weight = attributes[e, m]
                for c in range(channels):
                    total[c] += weight * edge[m, c]
            for c in range(channels):
                grad_send[j, c] += grad[i, c] if total[c] > 0 else zero


@_compiled
def weighted_sum_rows(start, stop, offsets, order, senders, edges, weights, send, out):
    """out_i = sum_j weights_ij send_j; the backward pass is the same with the reversed list."""
    channels = send.shape[1]
    for place in range(start, stop):
        i = order[place] if len(order) else place
        for c in range(channels):
            out[i, c] = 0
        for r in range(offsets[i], offsets[i + 1]):
            j = senders[r]
            weight = weights[edges[r]]
            for c in range(channels):
                out[i, c] += weight * send[j, c]


@_compiled
def edge_sum_rows(start, stop, offsets, edges, values, out):
    """out_i = sum of the values of the edges of row i."""
    channels = values.shape[1]
    for i in range(start, stop):
        for c in range(channels):
            out[i, c] = 0
        for r in range(offsets[i], offsets[i + 1]):
            e = edges[r]
            for c in range(channels):
                out[i, c] += values[e, c]


@_compiled
def spread_rows(start, stop, offsets, edges, x, out):
    """Copy the values of a row to its edges: the backward pass of `edge_sum_rows`."""
    channels = x.shape[1]
    for i in range(start, stop):
        for r in range(offsets[i], offsets[i + 1]):
            e = edges[r]
            for c in range(channels):
                out[e, c] = x[i, c]


@_reordered
def attend_rows(start, stop, offsets, order, senders, edges, weights, query, key, value, out):
    """out_i = sum_j weights_ij (query_i . key_j) value_j.

    All three backward passes have this form too (see `pgode.batches.operators.attend`), over the
    neighbours of a row or over the reversed list, so no other attention loop is needed.
    """
    width = query.shape[1]
    channels = value.shape[1]
    for place in range(start, stop):
        i = order[place] if len(order) else place
        for c in range(channels):
            out[i, c] = 0
        for r in range(offsets[i], offsets[i + 1]):
            j = senders[r]
            score = query.dtype.type(0)
            for c in range(width):
                score += query[i, c] * key[j, c]
            score *= weights[edges[r]]
            for c in range(channels):
                out[i, c] += score * value[j, c]


SCATTERED, CLUSTER = 8192, 1024
"""Rows from which an order pays, and rows in one of its clusters, whose values fit a near cache."""


@_compiled
def clustered(offsets, senders):
    """An order of the rows in which neighbours are near each other, cluster by cluster.

    A cluster grows from one row over its neighbours; the next begins at a neighbour of an earlier
    one. Where objects are listed in any order, their neighbours' values are then still in the cache
    when the next row needs them.
    """
    rows = len(offsets) - 1
    order, border = np.empty(rows, np.int32), np.empty(rows, np.int32)
    taken = np.zeros(rows, np.bool_)
    done, first, last, unseen = 0, 0, 0, 0
    while done < rows:
        seed = -1
        while seed < 0 and first < last:
            seed = border[first] if not taken[border[first]] else -1
            first += 1
        while seed < 0:
            seed = unseen if not taken[unseen] else -1
            unseen += 1
        begin, place = done, done
        order[done], taken[seed] = seed, True
        done += 1
        while place < done:
            i = order[place]
            place += 1
            for e in range(offsets[i], offsets[i + 1]):
                j = senders[e]
                if taken[j]:
                    continue
                if done - begin < CLUSTER:
                    order[done], taken[j] = j, True
                    done += 1
                elif last < rows:
                    border[last] = j
                    last += 1
    return order


@cache
def _pool(workers: int, process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix=f"pgode-kernels-{process}")


def over_rows(
    kernel: Callable[..., None],
    offsets: np.ndarray,
    channels: int,
    *arrays: Any,
    order: np.ndarray | None = None,
    shares: np.ndarray | None = None,
) -> None:
    """Run `kernel(start, stop, offsets, *arrays)` over all rows, on as many threads as torch uses.

    A kernel that has an order takes it after the offsets. Rows are divided into parts with about
    the same number of edges. The kernels hold no interpreter lock. Sums over all rows go into
    `shares[part]`, so that no two threads add to the same number.
    """
    parts = parts_for(offsets, channels)
    counts = offsets
    if order is not None:
        arrays = (order, *arrays)
        if parts > 1 and len(order):
            counts = np.append(0, np.cumsum(np.diff(offsets)[order]))
    if parts == 1:
        kernel(0, len(offsets) - 1, offsets, *arrays, *(() if shares is None else shares[:1]))
        return
    cuts = balanced_cuts(counts, parts)

    def run(part: int) -> None:
        share = () if shares is None else (shares[part],)
        kernel(int(cuts[part]), int(cuts[part + 1]), offsets, *arrays, *share)

    waiting = [_pool(parts - 1, os.getpid()).submit(run, part) for part in range(1, parts)]
    run(0)
    for job in waiting:
        job.result()


def parts_for(offsets: np.ndarray, channels: int) -> int:
    """The number of parts that the rows of one call are divided into."""
    workers = torch.get_num_threads()
    return workers if int(offsets[-1]) * channels >= PARALLEL_WORK else 1


def balanced_cuts(offsets: np.ndarray, parts: int) -> np.ndarray:
    """Rows at which `parts` ranges begin and end, with about the same number of edges in each."""
    cuts = np.searchsorted(offsets, np.linspace(0, int(offsets[-1]), parts + 1))
    cuts[0], cuts[-1] = 0, len(offsets) - 1
    return np.asarray(cuts)


# --- kernels on tensors, without torch's dispatcher -----------------------------------------------


def arrays(*tensors: Tensor) -> list[np.ndarray]:
    """The tensors as the kernels take them."""
    return [tensor.detach().contiguous().numpy() for tensor in tensors]


_ORDINARY = (Tensor, nn.Parameter)


def only_numbers(*tensors: Tensor) -> bool:
    """Whether nothing but the result is wanted: no gradient, no record, and ordinary CPU tensors.

    Modes record what runs, or compute shapes alone; both need a registered operator, as gradients
    do. Calling one takes three times as long as its kernel where a system has ten objects.
    """
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
        return False
    if any(type(tensor) not in _ORDINARY or not tensor.is_cpu for tensor in tensors):
        return False
    recorded = torch.compiler.is_compiling() or torch._C._get_tracing_state() is not None
    return not recorded and _get_current_dispatch_mode() is None


def neighbour_sum_now(
    graph: list[np.ndarray], receive: Tensor, send: Tensor, edge: Tensor
) -> Tensor:
    """The sums of `neighbour_sum_rows`; the graph is [offsets, order, senders, attributes]."""
    out = torch.empty_like(receive, memory_format=torch.contiguous_format)
    offsets, order, *rest = graph
    values = (*arrays(receive, send, edge), out.numpy())
    over_rows(neighbour_sum_rows, offsets, receive.shape[1], *rest, *values, order=order)
    return out
