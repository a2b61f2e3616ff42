"""Mixed prototypes of a few objects as one compiled function, for forecasts without gradients.

With ten objects, a product of a batched BLAS is half idle, and calling some fifteen operators per
stage takes a third of the time of a forecast. Here a stage is one call, and its products add up
four rows of weights at a time for all objects, which keeps the weights in the nearest cache.
Numbers differ from those of the operators by rounding alone.
"""

import numba
import numpy as np
from jaxtyping import Float
from torch import Tensor

from pgode.batches.graph import Graph
from pgode.batches.kernels import arrays, neighbour_sum_rows, only_numbers
from pgode.models.pgode.dynamics.messages import ContextRelation
from pgode.models.pgode.dynamics.update import Mixture, Update

FEW = 32
"""Objects in a batch up to which this is faster than torch's operators."""

_compiled = numba.njit(nogil=True, cache=True, fastmath={"contract", "nsz", "arcp", "reassoc"})


@_compiled
def _add_product(x, weights, out):
    """out += x @ weights. Rows are taken as views: indices into a matrix would not vectorise."""
    objects, inputs, outputs = x.shape[0], weights.shape[0], weights.shape[1]
    whole = inputs - inputs % 4
    for k in range(0, whole, 4):
        w0, w1, w2, w3 = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
        for i in range(0, objects - 1, 2):
            a0, a1, a2, a3 = x[i, k], x[i, k + 1], x[i, k + 2], x[i, k + 3]
            b0, b1, b2, b3 = x[i + 1, k], x[i + 1, k + 1], x[i + 1, k + 2], x[i + 1, k + 3]
            first, second = out[i], out[i + 1]
            for c in range(outputs):
                first[c] += a0 * w0[c] + a1 * w1[c] + a2 * w2[c] + a3 * w3[c]
                second[c] += b0 * w0[c] + b1 * w1[c] + b2 * w2[c] + b3 * w3[c]
        if objects % 2:
            i = objects - 1
            a0, a1, a2, a3 = x[i, k], x[i, k + 1], x[i, k + 2], x[i, k + 3]
            first = out[i]
            for c in range(outputs):
                first[c] += a0 * w0[c] + a1 * w1[c] + a2 * w2[c] + a3 * w3[c]
    for k in range(whole, inputs):
        w0 = weights[k]
        for i in range(objects):
            a0, first = x[i, k], out[i]
            for c in range(outputs):
                first[c] += a0 * w0[c]


@_compiled
def _mixture(
    z,
    receive,
    base,
    send,
    offsets,
    order,
    senders,
    attributes,
    edge,
    first,
    first_bias,
    gate,
    second,
    out,
):
    """out_i += sum_k w_ik W2_k relu(W1_k s_ik + b1_k), with s_i the sum of i's messages."""
    objects, (count, width, _) = z.shape[0], first.shape
    zero = z.dtype.type(0)
    received, sent = base.copy(), np.zeros_like(base)
    _add_product(z, receive, received)
    _add_product(z, send, sent)
    gathered = np.empty_like(base)
    neighbour_sum_rows(
        0, objects, offsets, order, senders, attributes, received, sent, edge, gathered
    )
    hidden = np.empty((objects, width), z.dtype)
    for k in range(count):
        for i in range(objects):
            hidden[i] = first_bias[k, 0]
        _add_product(gathered[:, k * width : (k + 1) * width], first[k], hidden)
        for i in range(objects):
            row, weight = hidden[i], gate[i, k]
            for c in range(width):
                row[c] = weight * row[c] if row[c] > 0 else zero
        _add_product(hidden, second[k], out)


def compiled_mixture(
    gather: ContextRelation,
    update: Update,
    graph: Graph,
    gate: Float[Tensor, "objects count"],
    context: Float[Tensor, "objects context"] | None,
    operators: Mixture,
) -> Mixture:
    """The mixture of `operators`, compiled where objects are few and only numbers are wanted."""
    weights = (*gather.parameters(), *update.parameters())
    # In a recorded program the number of objects is open, and may not be looked at.
    if type(graph) is not Graph or not only_numbers(gate, *weights) or len(gate) > FEW:
        return operators
    base = gather.receive.bias.expand(len(gate), -1)
    if gather.context is not None and context is not None:
        base = base + gather.context(context)
    bias = gate @ update.second_bias
    fixed = (
        *arrays(gather.receive.weight.T, base, gather.send.weight.T),
        *graph.arrays,
        *arrays(gather.edge, update.first, update.first_bias, gate, update.second),
    )

    def mixture(z: Tensor) -> Tensor:
        if not only_numbers(z):
            return operators(z)
        out = bias.clone()
        _mixture(*arrays(z), *fixed, out.numpy())
        return out

    return mixture
