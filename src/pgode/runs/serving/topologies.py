"""A bounded store of what depends on the graph alone, shared by threads."""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock

from pgode.batches.windows import Batch


class Topologies:
    """Batches whose graphs were built once, by what determines the graphs; the oldest go first.

    The states in such a batch are those of whoever came first; only what follows from the graph and
    from the pattern of observed values is used again.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._kept: OrderedDict[Hashable, Batch] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Hashable) -> Batch | None:
        """The batch of a key, which is then the last to go; None if there is none."""
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def keep(self, key: Hashable, batch: Batch) -> None:
        """Remember a batch, in place of the one that was not used for the longest time."""
        with self._lock:
            self._kept[key] = batch
            while len(self._kept) > self.most:
                self._kept.popitem(last=False)
