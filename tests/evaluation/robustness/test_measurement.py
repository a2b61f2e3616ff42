"""A model opened at its state, and what is measured of whole runs."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from tests.evaluation.linear import seeded
from tests.small_systems import CONDITION, uneven
from tests.trained_runs import CONDITION as SEEN
from tests.trained_runs import springs, trained
from torch import Tensor
from torch.testing import assert_close

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch, Windows
from pgode.evaluation.robustness.measurement import prototypes_of, robustness
from pgode.evaluation.robustness.perturbation import Perturbations
from pgode.models import Forecaster, build_model, model_config
from pgode.models.pgode.robustness import flow


def made(name: str = "pgode", **changes: Any) -> Forecaster:
    """A small model with fresh weights for the difficult systems."""
    sizes = {"width": 8} if name == "pgode" else {}
    config = model_config(name, {**sizes, **changes})
    return build_model(name, config, Normaliser.fit(uneven())).double().eval()


def cut() -> Batch:
    data = uneven()
    windows = Windows(data, Normaliser.fit(data), CONDITION, 1)
    return windows.batch(np.arange(data.systems), np.zeros(data.systems, int)).to(
        dtype=torch.float64
    )


VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "latent": {"kinematics": False},
    "sparse": {"top": 2},
    "gcn": {"backbone": "gcn"},
    "no recovery": {"recovery": False},
    "single": {"dynamics": "single"},
    "mlp": {"dynamics": "mlp"},
    "one": {"prototypes": 1},
}


@pytest.mark.parametrize("name", VARIANTS)
@torch.no_grad()
def test_flow_is_the_forecast_and_the_mixture_of_its_prototypes(name: str) -> None:
    model, batch = made(**VARIANTS[name]), cut()
    opened = flow(model, batch)
    times = torch.tensor([1.0, 2.5]).double().expand(batch.systems, -1)
    solved = opened.decode(opened.solve(opened.initial, times))
    assert_close(solved, model.forecast(batch, times).mean)
    state = opened.initial + 0.1 * torch.randn_like(opened.initial)
    each = torch.stack([field(state) for field in opened.prototypes], dim=1)
    assert_close((opened.weights.unsqueeze(2) * each).sum(1), opened.mixture(state))
    assert opened.weights.shape[1] == prototypes_of(model)
    assert ((opened.weights > 0).sum(1) == min(2 if name == "sparse" else 5, each.shape[1])).all()
    # Per frame: a small step of one frame of an Euler method is the field itself.
    near = opened.solve(opened.initial, torch.full((batch.systems, 1), 1e-6).double())[0]
    assert_close((near - opened.initial) / 1e-6, opened.mixture(opened.initial), atol=1e-4, rtol=0)


def test_naive_models_grow_as_they_must() -> None:
    asked = Perturbations((0.1,), horizon=5, draws=3)
    normaliser = trained().normaliser
    naive = {
        name: build_model(name, model_config(name, {}), normaliser)
        for name in ("last-value", "constant-velocity")
    }
    found = {name: robustness(each, springs(), SEEN, asked) for name, each in naive.items()}
    still, moving = (found[name]["forecast"][0] for name in naive)
    assert still["factor"] == pytest.approx({"5": 1.0}) and still["rate"] == pytest.approx(0)
    gain = normaliser.drift()[0][0]
    generator, expected = seeded(), []
    objects = springs().systems * springs().objects
    for _ in range(3):
        d = torch.randn(objects, 4, generator=generator, dtype=torch.float64)
        d = d / d.norm(dim=1, keepdim=True)
        expected.append(torch.cat([d[:, :2] + 5 * gain * d[:, 2:], d[:, 2:]], 1).norm(dim=1).mean())
    assert moving["factor"]["5"] == pytest.approx(float(torch.stack(expected).mean()), rel=1e-5)
    for result in found.values():
        assert result["perturbed"] == "observation" and result["prototypes"] is None
        assert result["lipschitz"] is None and result["bound"] is None and result["state"] is None


@pytest.fixture(scope="module")
def pair() -> list[dict[str, Any]]:
    """Untrained PGODEs with one prototype and with three."""
    asked = Perturbations((0.001, 0.1), horizon=5, draws=2)
    return [
        {"name": f"k{k}", **robustness(made(prototypes=k), uneven(), CONDITION, asked)}
        for k in (1, 3)
    ]


def test_one_prototype_is_bounded_by_the_root_of_the_objects(pair) -> None:
    single = pair[0]
    assert single["prototypes"] == 1 and single["lipschitz"]["in_use"] == 1
    (one,) = single["lipschitz"]["prototypes"]
    assert {**one, "weight": 1.0} == {"weight": 1.0, **single["lipschitz"]["mixture"]}
    constants = _constants_of(made(prototypes=1))
    assert one["largest"] == pytest.approx(float(constants.max()), rel=0.05)
    found = single["bound"]["theorem"]["largest"]
    objects = torch.tensor([4, 2, 3, 4, 1]).double()
    assert found == pytest.approx(float((constants * objects.sqrt()).max()), rel=0.05)


def _constants_of(model: Forecaster) -> Tensor:
    """Spectral norms of the Jacobians of each system at the initial state."""
    batch = cut()
    opened = flow(model, batch)
    jacobian = torch.autograd.functional.jacobian(opened.mixture, opened.initial.detach())
    norms = []
    for k in range(batch.systems):
        own = batch.system == k
        block = jacobian[own][:, :, own].flatten(2).flatten(0, 1)
        norms.append(torch.linalg.matrix_norm(block, 2))
    return torch.stack(norms)


def test_bounds_are_in_order_and_hold(pair) -> None:
    for run in pair:
        bound, found = run["bound"], run["lipschitz"]
        assert bound["holds"] == 1
        assert bound["fastest"] <= found["mixture"]["largest"] <= bound["theorem"]["largest"]
        assert len(found["prototypes"]) == run["prototypes"]
        assert sum(k["weight"] for k in found["prototypes"]) == pytest.approx(1)
        assert [row["norm"][0] for row in run["state"]] == pytest.approx([0.001, 0.1])
        small, large = (row["norm"][-1] for row in run["state"])
        assert large == pytest.approx(100 * small, rel=0.1)
    assert 1 < pair[1]["lipschitz"]["in_use"] <= 3


def test_a_seed_fixes_every_number_and_the_model_stays_as_it_was() -> None:
    run = trained()
    before = {name: value.clone() for name, value in run.model.state_dict().items()}
    shares: list[float] = []
    asked = Perturbations((0.01,), horizon=3, draws=1)
    first, again = (robustness(run.model, springs(), SEEN, asked, shares.append) for _ in range(2))
    assert first == again
    assert shares[: len(shares) // 2] == sorted(shares[: len(shares) // 2]) and shares[-1] == 1
    other = robustness(run.model, springs(), SEEN, replace(asked, seed=1))
    assert other["forecast"][0]["norm"] != first["forecast"][0]["norm"]
    assert all(torch.equal(before[name], value) for name, value in run.model.state_dict().items())
    assert all(parameter.requires_grad for parameter in run.model.parameters())
    seen = robustness(run.model, springs(), SEEN, replace(asked, observed=True))
    assert seen["perturbed"] == "observation" and seen["prototypes"] == 2
    assert seen["forecast"][0]["norm"][0] == pytest.approx(0.01)
