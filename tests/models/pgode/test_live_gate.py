"""A trained gate does the work: neither its mean nor a single prototype can stand in for it.

With the objective of `paper` the posterior of z(0) stays near the prior, so what a forecast knows
of an object passes through its gate weights. Seeds 0 to 2: an error of 3.4 to 4.0, times 1e-2, of
22 to 23 with the mean of the gate, and of 13 with one prototype.
"""

from pathlib import Path

import pytest
import torch

import pgode
from pgode.batches.windows import Batch, Windows
from pgode.data.simulate import simulate
from pgode.models.forecaster import squared_error
from pgode.models.pgode.gates import Contexts
from pgode.training.gate_use import GateUse

SETTINGS = {
    "model.width": 24,
    "model.objective.sigma": 1.0,  # What is known of an object then passes through the gate.
    "window.condition": 8,
    "window.starts": "random",
    "training.batch": 16,
    "training.learning_rate": 3e-3,
}


@pytest.fixture(scope="module")
def data() -> pgode.Trajectories:
    """Systems of objects of three hidden kinds."""
    return simulate("mixed", objects=5, frames=24, seed=0, train=160, val=10, test=60, ood=0)


def trained(data: pgode.Trajectories, folder: Path, prototypes: int) -> pgode.Run:
    changes = {**SETTINGS, "model.dynamics.prototypes": prototypes}
    options = {"preset": "paper", "horizon": 4, "epochs": 30, "seed": 0, "threads": 1}
    return pgode.train(data, folder, settings=changes, **options)


def error(run: pgode.Run, data: pgode.Trajectories) -> float:
    batch = next(Windows(data.split_of("test"), run.normaliser, 8, 4).batches(60))
    with torch.no_grad():
        return squared_error(batch, run.model.forecast(batch, batch.target_times).mean).item()


def test_the_mean_of_the_gate_and_a_single_prototype_forecast_far_worse(
    data: pgode.Trajectories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mixture = trained(data, tmp_path / "mixture", 5)
    use = GateUse.from_json(mixture.epochs[-1]["gate"])
    assert use.per_object > 2 and use.difference > 0.15
    own = error(mixture, data)
    assert error(trained(data, tmp_path / "single", 1), data) > 2 * own
    gate = mixture.model.gate.forward

    def mean(contexts: Contexts, batch: Batch) -> torch.Tensor:
        weights = gate(contexts, batch)
        return weights.mean(0, keepdim=True).expand_as(weights).contiguous()

    monkeypatch.setattr(mixture.model.gate, "forward", mean)
    assert error(mixture, data) > 3 * own
