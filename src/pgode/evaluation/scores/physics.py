"""Conserved quantities of forecasts, where the simulator of the data defines one."""

import numpy as np

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.simulate import energy
from pgode.data.trajectories import Trajectories
from pgode.evaluation.predictions import Predictions


def energy_drift(windows: Windows, predictions: Predictions) -> dict[str, float] | None:
    """Median over systems of the time-mean relative drift |E(t) - E(0)| / |E(0)|.

    E(0) is the energy of the last condition frame. The truth has a drift too, that of the
    simulator's integrator, below which no forecast is expected to get. Median, because the
    relative drift of a few systems with an energy near zero would dominate a mean.
    """
    data, normaliser = windows.data, windows.normaliser
    complete = data.present.all() and predictions.known.all()
    if not complete:
        return None
    start = _energies(data, normaliser, _last_condition_states(windows))
    if start is None or not np.isfinite(start).all():
        return None
    drift = {}
    for name, scaled in (("forecast", predictions.mean), ("truth", predictions.truth)):
        states = scaled.reshape(data.systems, data.objects, *scaled.shape[1:])
        energies = _energies(data, normaliser, states)
        assert energies is not None
        change = np.abs(energies - start) / np.maximum(np.abs(start), 1e-12)
        drift[name] = float(np.median(change.mean(1)))
    return drift


def _last_condition_states(windows: Windows) -> np.ndarray:
    """Scaled states of the last condition frame of each system's first window."""
    now = windows.condition - 1
    systems = np.arange(windows.data.systems)
    return windows.normaliser.states(windows.data.frames_of(systems, slice(now, now + 1)))


def _energies(data: Trajectories, normaliser: Normaliser, scaled: np.ndarray) -> np.ndarray | None:
    return energy(data, normaliser.raw(scaled))
