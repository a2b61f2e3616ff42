"""Conserved quantities of forecasts, where the generator of the data has one."""

import numpy as np

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.simulate import energy
from pgode.data.trajectories import Trajectories
from pgode.evaluation.predictions import Predictions


def energy_drift(windows: Windows, predictions: Predictions) -> dict[str, float] | None:
    """Mean of |E(t) - E(0)| / |E(0)| over systems and frames, for the forecast and for the truth.

    E(0) is that of the last condition frame. The truth's own drift (of its integrator) stands
    beside the forecast's, since that is the floor. The median over systems: single systems whose
    energy is near zero would otherwise decide it.
    """
    data, normaliser = windows.data, windows.normaliser
    whole = data.present.all() and predictions.known.all()
    if not whole or "strength" not in data.dataset["parameter"].values:
        return None
    start = _energies(data, normaliser, _states_now(windows))
    if start is None:
        return None
    drift = {}
    for name, scaled in (("forecast", predictions.mean), ("truth", predictions.truth)):
        states = scaled.reshape(data.systems, data.objects, *scaled.shape[1:])
        found = _energies(data, normaliser, states)
        assert found is not None
        change = np.abs(found - start) / np.maximum(np.abs(start), 1e-12)
        drift[name] = float(np.median(change.mean(1)))
    return drift


def _states_now(windows: Windows) -> np.ndarray:
    """Scaled states of the last condition frame of each system's first window."""
    now = windows.condition - 1
    return windows.normaliser.states(windows.data.states[:, :, now : now + 1])


def _energies(data: Trajectories, normaliser: Normaliser, scaled: np.ndarray) -> np.ndarray | None:
    return energy(data, normaliser.raw(scaled))
