"""Data as a trained model reads it."""

import numpy as np

from pgode.batches.normaliser import Normaliser
from pgode.data.trajectories import Trajectories


def conformed(data: Trajectories, normaliser: Normaliser, source: str) -> Trajectories:
    """Data with checked features, and with the trained parameters and constants by name.

    A forecast needs no parameters, so missing ones are set to NaN, as are missing constants.
    """
    normaliser.check(data, source)
    missing = {"parameters": np.nan, "parameter_units": "", "constants": np.nan}
    columns = {"parameter": list(normaliser.parameters)}
    dataset = data.dataset
    if normaliser.constants and "constants" not in dataset:
        none = np.empty((*data.present.shape, 0))
        dataset = dataset.assign(constants=(("system", "object", "constant"), none))
        dataset = dataset.assign_coords(constant=np.empty(0, np.str_))
    if "constants" in dataset:
        columns["constant"] = list(normaliser.constants)
    return Trajectories(dataset.reindex(columns, fill_value=missing))
