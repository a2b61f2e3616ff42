"""Numbers of PGODE that change only when its equations do.

Weights come from numpy by each parameter's name, not from torch's initialisation, so that neither
the order of layers nor a release of torch moves them. When an equation changes on purpose, run
`python -m tests.models.pgode.test_golden` in the project's folder and look at what changed.
"""

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.small_systems import CONDITION, HORIZON, uneven

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.models import build_model, model_config
from pgode.runtime.settings import merged
from pgode.training.presets import PAPER

GOLDEN = Path(__file__).with_name("golden.json")

SETTINGS: dict[str, Any] = {
    "width": 4,
    "dynamics": {"kind": "messages", "prototypes": 2},
    "state": {"kind": "kinematic", "history_readout": False, "mean_structure": False},
    "objective": {
        "sample": False,
        "sigma": 0.1,
        "kl_weight": 1.0,
        "parameter_info_weight": 0.5,
        "context_info_weight": 0.25,
    },
}
READOUT = {"history_readout": True, "mean_structure": True}
CHANGES: dict[str, dict[str, Any]] = {
    "default": {},
    "paper": merged(PAPER["model"], {"objective": {"sigma": 1.0}}),
    "history-readout": {"state": READOUT},
    "history-readout-positions": {"state": {"kind": "latent", **READOUT}},
    "group-context": {"gate": {"group_context": True}},
    "gate-of-the-letter": {"gate": {"normalise": False}},
    "single": {"dynamics": "single"},
    "mlp": {"dynamics": "mlp"},
    "sparse": {"dynamics": {"prototypes": 3, "top_k": 2}},
    "gcn": {"dynamics": {"backbone": "gcn"}},
    "gin": {"dynamics": {"backbone": "gin"}},
    "sage": {"dynamics": {"backbone": "sage"}},
}
SEEDED_AS = {"state.history.": "state.recall."}
"""Parts that were renamed keep the names that their weights are drawn by."""


def numbers(name: str) -> dict[str, list[float]]:
    """The terms of the loss, and the last frame of the first object of the first system."""
    data = uneven()
    normaliser = Normaliser.fit(data)
    batch = next(Windows(data, normaliser, CONDITION, HORIZON).batches(5)).to(dtype=torch.float64)
    config = model_config("pgode", merged(SETTINGS, CHANGES[name]))
    model = build_model("pgode", config, normaliser).double()
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            rng = np.random.default_rng(zlib.crc32(seeded_as(key).encode()))
            parameter.copy_(torch.from_numpy(rng.uniform(-0.6, 0.6, parameter.shape)))
        losses = model.loss(batch)
        forecast = model.forecast(batch, batch.target_times)
    return {
        **{term: [value.item()] for term, value in losses.terms.items()},
        "forecast": forecast.mean[0, -1].tolist(),
        "gate": forecast.contexts["gate"][0].tolist(),
    }


def seeded_as(parameter: str) -> str:
    for new, old in SEEDED_AS.items():
        if parameter.startswith(new):
            return old + parameter.removeprefix(new)
    return parameter


@pytest.mark.parametrize("name", CHANGES)
def test_numbers_are_those_of_the_equations(name):
    found, golden = numbers(name), json.loads(GOLDEN.read_text())[name]
    assert set(found) == set(golden)
    for key, values in golden.items():
        assert found[key] == pytest.approx(values, rel=1e-8, abs=1e-10), key


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps({name: numbers(name) for name in CHANGES}, indent=1) + "\n")
