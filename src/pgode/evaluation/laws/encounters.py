"""Which distances of each two prototypes the training data show, and what the gate tells apart."""

import numpy as np
import torch
from jaxtyping import Float, Int

from pgode.batches.windows import Batch, Windows
from pgode.data.trajectories import Trajectories
from pgode.evaluation.scores.clusters import adjusted_rand_index
from pgode.models.pgode.laws.model import ForceLaws

SYSTEMS = 60
"""Systems that are looked at."""
BATCH = 50
QUANTILES = (2e-3, 1.0)
"""Of the distances of two prototypes: the ends of the range that counts as seen.

The few closest encounters last less than a frame and say little about a law.
"""

Ranges = dict[tuple[int, int], tuple[float, float]]
"""Nearest and farthest distance by receiver and sender."""


def seen_ranges(model: ForceLaws, training: Trajectories, condition: int) -> Ranges:
    """Distances between objects of each two prototypes, over all frames of the training systems.

    Empty with one prototype, whose law knows its range.
    """
    if model.used == 1:
        return {}
    chosen = training.select(np.arange(min(SYSTEMS, training.systems)))
    windows = Windows(chosen, model.normaliser, condition, 1)
    horizon = max(windows.whole_horizon(BATCH), 1)
    found: dict[tuple[int, int], list[Float[np.ndarray, " distances"]]] = {}
    for part in windows.origins(rolling=False).chunks(BATCH):
        batch = windows.batch(part.systems, part.starts, horizon)
        kinds = gate_of(model, batch).argmax(1)
        receivers, senders = batch.graph.receivers.numpy(), batch.graph.senders.numpy()
        joined = batch.graph.weights.numpy() != 0
        receivers, senders = receivers[joined], senders[joined]
        distances = _distances(model, batch, receivers, senders)
        for k, m in {(int(k), int(m)) for k in set(kinds) for m in set(kinds)}:
            among = distances[(kinds[receivers] == k) & (kinds[senders] == m)].ravel()
            pair = (min(k, m), max(k, m)) if model.settings.third_law else (k, m)
            found.setdefault(pair, []).append(among[np.isfinite(among) & (among > 0)])
    ranges = {}
    for pair, parts in found.items():
        distance = np.concatenate(parts)
        if len(distance):
            low, high = np.quantile(distance, QUANTILES)
            ranges[pair] = (float(low), float(high))
    return ranges


def kind_agreement(model: ForceLaws, systems: Trajectories, condition: int) -> float | None:
    """Adjusted Rand index of the gate with the true kinds; None where the data store none.

    Numbers of prototypes are arbitrary in the same way for all systems, so all objects are compared
    at once.
    """
    if systems.kinds is None or not systems.systems:
        return None
    windows = Windows(systems, model.normaliser, condition, 1)
    gates = [gate_of(model, batch) for batch in windows.batches(BATCH)]
    truth = systems.kinds[systems.present]
    return adjusted_rand_index(truth, np.concatenate(gates).argmax(1))


@torch.no_grad()
def gate_of(model: ForceLaws, batch: Batch) -> Float[np.ndarray, "objects prototypes"]:
    """Weights of the prototypes for each object of a batch."""
    there = batch.to(model.device)
    found = model.forecast(there, there.target_times[:, :1]).cpu()
    return np.asarray(found.contexts["gate"].numpy())


def _distances(
    model: ForceLaws,
    batch: Batch,
    receivers: Int[np.ndarray, " edges"],
    senders: Int[np.ndarray, " edges"],
) -> Float[np.ndarray, "edges frames"]:
    """Distances of joined objects at all frames, NaN where a position is unknown."""
    states = torch.cat([batch.states, batch.targets], 1).double().numpy()
    known = torch.cat([batch.observed, batch.targets_observed], 1).numpy()
    raw = np.where(known, model.normaliser.raw(states), np.nan)[..., model.normaliser.positions]
    apart = raw[receivers] - raw[senders]
    if model.settings.box is not None:
        box = np.array(model.settings.box)
        apart -= box * np.round(apart / box)
    return np.asarray(np.sqrt((apart**2).sum(-1)))
