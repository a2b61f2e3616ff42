"""Compiled loops of softmax attention; scores are computed again where a gradient needs them."""

import math

import numba
import numpy as np

# A dot product can only be vectorised if its terms may be added in any order.
_compiled = numba.njit(nogil=True, cache=True, fastmath={"contract", "nsz", "arcp", "reassoc"})


@_compiled
def _dot(x, y):
    total = x.dtype.type(0)
    for c in range(len(x)):
        total += x[c] * y[c]
    return total


@_compiled
def _add(out, factor, x):
    for c in range(len(x)):
        out[c] += factor * x[c]


@_compiled
def softmax_attend_rows(
    start, stop, offsets, order, senders, edges, weights, query, key, value, out, level
):
    """out_i and level_i = log sum_j exp(query_i . key_j), for rows start..stop."""
    longest = 0
    for place in range(start, stop):
        i = order[place] if len(order) else place
        longest = max(longest, offsets[i + 1] - offsets[i])
    scores = np.empty(longest, query.dtype)
    for place in range(start, stop):
        i = order[place] if len(order) else place
        out[i] = 0
        level[i] = 0
        first, last = offsets[i], offsets[i + 1]
        if first == last:
            continue
        largest = query.dtype.type(-np.inf)
        for r in range(first, last):
            scores[r - first] = _dot(query[i], key[senders[r]])
            largest = max(largest, scores[r - first])
        total = query.dtype.type(0)
        for r in range(first, last):
            scores[r - first] = math.exp(scores[r - first] - largest)
            total += scores[r - first]
        for r in range(first, last):
            _add(out[i], scores[r - first] / total * weights[edges[r]], value[senders[r]])
        level[i] = largest + math.log(total)


@_compiled
def query_gradient_rows(
    start,
    stop,
    offsets,
    order,
    senders,
    edges,
    weights,
    query,
    key,
    value,
    level,
    offered,
    grad,
    grad_query,
):
    """Gradient of `query`, for rows start..stop; `offered` is grad_i . out_i."""
    for place in range(start, stop):
        i = order[place] if len(order) else place
        grad_query[i] = 0
        for r in range(offsets[i], offsets[i + 1]):
            j = senders[r]
            share = math.exp(_dot(query[i], key[j]) - level[i])
            slope = share * (weights[edges[r]] * _dot(grad[i], value[j]) - offered[i])
            _add(grad_query[i], query.dtype.type(slope), key[j])


@_compiled
def key_and_value_gradient_rows(
    start,
    stop,
    offsets,
    order,
    receivers,
    edges,
    weights,
    query,
    key,
    value,
    level,
    offered,
    grad,
    grad_key,
    grad_value,
):
    """Gradients of `key` and `value`, for senders start..stop of the reversed list."""
    for place in range(start, stop):
        j = order[place] if len(order) else place
        grad_key[j] = 0
        grad_value[j] = 0
        for r in range(offsets[j], offsets[j + 1]):
            i = receivers[r]
            weight = weights[edges[r]]
            share = math.exp(_dot(query[i], key[j]) - level[i])
            slope = share * (weight * _dot(grad[i], value[j]) - offered[i])
            _add(grad_key[j], query.dtype.type(slope), query[i])
            _add(grad_value[j], query.dtype.type(share * weight), grad[i])
