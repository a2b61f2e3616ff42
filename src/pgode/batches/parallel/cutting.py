"""Cutting a process's share of a batch out of training windows."""

from dataclasses import replace

import numpy as np
from jaxtyping import Int

from pgode.batches.parallel.peers import Peers
from pgode.batches.parallel.share import PartOfBatch
from pgode.batches.windows import Batch, Windows


def bounds_of(objects: Int[np.ndarray, " systems"], ranks: int) -> Int[np.ndarray, " ranks+1"]:
    """Where each rank's systems begin and end: in a row, with about as many objects each.

    Every rank has a system if there are enough.
    """
    systems = len(objects)
    ends = np.cumsum(objects)
    bounds = np.zeros(ranks + 1, np.int64)
    for rank in range(1, ranks):
        wanted = ends[-1] * rank / ranks
        nearest = int(np.argmin(np.abs(ends - wanted))) + 1
        lowest = min(bounds[rank - 1] + 1, systems)
        bounds[rank] = np.clip(nearest, lowest, max(systems - (ranks - rank), lowest))
    bounds[ranks] = systems
    return bounds


def own_share(
    windows: Windows,
    peers: Peers,
    systems: Int[np.ndarray, " n"],
    starts: Int[np.ndarray, " n"],
    horizon: int,
) -> Batch:
    """The windows of a batch that this process calculates.

    A batch with fewer systems than processes leaves some without any; these take part with the
    first system at weight 0.
    """
    objects = windows.data.n_objects[systems]
    bounds = bounds_of(objects, peers.size)
    own = slice(bounds[peers.rank], bounds[peers.rank + 1])
    empty = own.start == own.stop
    if empty:
        own = slice(0, 1)
    batch = windows.batch(systems[own], starts[own], horizon)
    observed = 0.0 if empty else float(batch.targets_observed.sum())
    _, values = peers.exchange(number=observed)
    return replace(batch, share=PartOfBatch(peers, objects, bounds, int(values)))
