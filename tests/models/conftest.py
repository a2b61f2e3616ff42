"""Small models of every kind over the difficult systems, in float64."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from tests.small_systems import CONDITION, HORIZON, uneven

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch, Windows
from pgode.data.trajectories import Trajectories
from pgode.models import Forecaster, build_model, model_config
from pgode.runtime.settings import merged

Make = Callable[..., Forecaster]

# What makes a model small enough to test; one without a line here has its own defaults.
LEARNED = (
    *("lstm", "gru", "node", "lg-ode", "mpnode", "social-ode", "hope"),
    *("nri", "agentformer", "i-gpode", "egnn", "eqmotion"),
)
SMALL: dict[str, dict[str, Any]] = {
    "pgode": {"width": 8, "dynamics": {"kind": "messages", "prototypes": 3}},
    **{name: {"width": 8} for name in LEARNED},
}


@pytest.fixture(scope="session")
def data() -> Trajectories:
    return uneven()


@pytest.fixture(scope="session")
def normaliser(data: Trajectories) -> Normaliser:
    return Normaliser.fit(data)


@pytest.fixture(scope="session")
def cut(normaliser: Normaliser) -> Callable[..., Batch]:
    """A batch of the first windows of some systems (all, if none are named)."""

    def made(data: Trajectories, systems: Any = None, dtype: torch.dtype = torch.float64) -> Batch:
        chosen = np.arange(data.systems) if systems is None else np.asarray(systems)
        windows = Windows(data, normaliser, CONDITION, HORIZON)
        return windows.batch(chosen, np.zeros(len(chosen), int)).to(dtype=dtype)

    return made


@pytest.fixture(scope="session")
def batch(data: Trajectories, cut: Callable[..., Batch]) -> Batch:
    return cut(data)


@pytest.fixture(scope="session")
def make(normaliser: Normaliser) -> Make:
    """A fresh model of float64 by name and settings, with the weights of a seed."""

    def made(name: str = "pgode", seed: int = 0, like: Normaliser = normaliser, **settings: Any):
        torch.manual_seed(seed)
        config = model_config(name, merged(SMALL.get(name, {}), settings))
        return build_model(name, config, like).double()

    return made
