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

GOLDEN = Path(__file__).with_name("golden.json")

SETTINGS: dict[str, Any] = {
    "width": 4,
    "prototypes": 2,
    "encoder_layers": 2,
    "gate": "full",
    "regions": False,
    "dynamics": "prototypes",
    "top": None,
    "backbone": "message",
    "recovery": True,
    "kinematics": True,
    "anchor": True,
    "recall": False,
    "relax": True,
    "encoder_norm": True,
    "encoder_share": True,
    "encoder_rates": True,
    "encoder_relation": True,
    "sample": False,
    "sigma": 0.1,
    "kl": 1.0,
    "parameters": 0.5,
    "disentangle": 0.25,
    "frame_time": 0.1,
    "solver": {"method": "rk4", "step": 0.1},
}
PAPER = dict.fromkeys(
    (
        *("kinematics", "anchor"),
        *("encoder_norm", "encoder_share", "encoder_rates", "encoder_relation"),
    ),
    False,
)
CHANGES: dict[str, dict[str, Any]] = {
    "default": {},
    "paper": PAPER,
    "recall": {"recall": True},
    "recall-positions": {"recall": True, "kinematics": False},
    "regions": {"regions": True},
    "single": {"dynamics": "single"},
    "mlp": {"dynamics": "mlp"},
    "sparse": {"top": 1},
    "gcn": {"backbone": "gcn"},
    "gin": {"backbone": "gin"},
    "sage": {"backbone": "sage"},
}


def numbers(name: str) -> dict[str, list[float]]:
    """The terms of the loss, and the last frame of the first object of the first system."""
    data = uneven()
    normaliser = Normaliser.fit(data)
    batch = next(Windows(data, normaliser, CONDITION, HORIZON).batches(5)).to(dtype=torch.float64)
    config = model_config("pgode", {**SETTINGS, **CHANGES[name]})
    model = build_model("pgode", config, normaliser).double()
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            rng = np.random.default_rng(zlib.crc32(key.encode()))
            parameter.copy_(torch.from_numpy(rng.uniform(-0.6, 0.6, parameter.shape)))
        losses = model.loss(batch)
        forecast = model.forecast(batch, batch.target_times)
    return {
        **{term: [value.item()] for term, value in losses.terms.items()},
        "forecast": forecast.mean[0, -1].tolist(),
        "gate": forecast.contexts["gate"][0].tolist(),
    }


@pytest.mark.parametrize("name", CHANGES)
def test_numbers_are_those_of_the_equations(name):
    found, golden = numbers(name), json.loads(GOLDEN.read_text())[name]
    assert set(found) == set(golden)
    for key, values in golden.items():
        assert found[key] == pytest.approx(values, rel=1e-8, abs=1e-10), key


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps({name: numbers(name) for name in CHANGES}, indent=1) + "\n")
