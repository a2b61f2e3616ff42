"""The temporal graph of the encoder in plain torch, from edges and observed values.

The same nodes and edges as `pgode.batches.temporal_graph` builds in compiled loops, whose sizes
depend on numbers that a program does not have while it is recorded.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pgode.batches.edge_list import EdgeList
from pgode.batches.temporal_graph import TemporalGraph

MOST = 2**60
"""More edges than any graph has."""


def temporal_graph(
    seen: Bool[Tensor, "objects condition"],
    receivers: Int[Tensor, " edges"],
    senders: Int[Tensor, " edges"],
    weights: Float[Tensor, " edges"],
    in_force: Bool[Tensor, "condition edges"] | None,
) -> TemporalGraph:
    """Join the observations; `in_force` says at which frames each edge is there (None: at all)."""
    by_frame = seen.T
    node_frame, node_object = by_frame.nonzero().unbind(1)
    number = by_frame.flatten().long().cumsum(0).view_as(by_frame) - 1
    joined = by_frame[:, senders] & by_frame[:, receivers]
    if in_force is not None:
        joined = joined & in_force
    frame, edge = joined.nonzero().unbind(1)
    following = _next_observed(seen)
    item, when = (following < seen.shape[1]).nonzero().unbind(1)
    later = following[item, when]
    for edges in (edge, item):  # Their sum is a size too, and has to fit into 64 bits.
        torch._check(edges.shape[0] <= MOST)  # type: ignore[no-untyped-call]
    spatial = torch.stack([weights[edge], torch.zeros_like(weights[edge])], 1)
    graph = EdgeList.of(
        torch.cat([number[frame, receivers[edge]], number[when, item]]),
        torch.cat([number[frame, senders[edge]], number[later, item]]),
        torch.cat([spatial, torch.ones_like(item, dtype=weights.dtype).unsqueeze(1).expand(-1, 2)]),
        node_frame.shape[0],
    )
    temporal = torch.cat([torch.zeros_like(edge), torch.ones_like(item)]) > 0
    return TemporalGraph(graph, temporal, node_object, node_frame)


def _next_observed(seen: Bool[Tensor, "objects condition"]) -> Int[Tensor, "objects condition"]:
    """The next frame at which each object was observed; beyond the last frame if there is none."""
    frames = seen.shape[1]
    frame = torch.arange(frames, device=seen.device)
    after = seen.unsqueeze(1) & (frame > frame.unsqueeze(1))
    following = torch.where(after, frame, frames).amin(2)
    return torch.where(seen, following, frames)
