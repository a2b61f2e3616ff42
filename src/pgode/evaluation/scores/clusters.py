"""Agreement of two groupings of the same objects."""

import numpy as np
from jaxtyping import Int


def adjusted_rand_index(
    truth: Int[np.ndarray, " objects"], found: Int[np.ndarray, " objects"]
) -> float:
    """Share of pairs that both groupings join or both separate, corrected for chance.

    1 if the groupings are the same whatever the names of the groups, 0 on average for random
    ones (Hubert and Arabie, 1985). One group against one group is the same grouping.
    """
    _, first = np.unique(truth, return_inverse=True)
    _, second = np.unique(found, return_inverse=True)
    table = np.zeros((first.max(initial=-1) + 1, second.max(initial=-1) + 1))
    np.add.at(table, (first, second), 1)
    both = _pairs(table).sum()
    rows, columns = _pairs(table.sum(1)).sum(), _pairs(table.sum(0)).sum()
    total = _pairs(np.array(float(len(first)))).sum()
    chance = rows * columns / total if total else 0.0
    most = (rows + columns) / 2
    return float((both - chance) / (most - chance)) if most > chance else 1.0


def _pairs(counts: np.ndarray) -> np.ndarray:
    """Pairs within groups of these sizes."""
    return np.asarray(counts * (counts - 1) / 2)
