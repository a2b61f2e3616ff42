"""One batch of the difficult systems for all blocks, in float64."""

import numpy as np
import pytest
import torch
from tests.small_systems import CONDITION, HORIZON, uneven

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch, Windows


@pytest.fixture(scope="session")
def batch() -> Batch:
    data = uneven()
    windows = Windows(data, Normaliser.fit(data), CONDITION, HORIZON)
    return windows.batch(np.arange(5), np.zeros(5, int)).to(dtype=torch.float64)
