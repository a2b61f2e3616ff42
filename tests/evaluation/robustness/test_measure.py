"""The flow of a model, and the measurements of whole models."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from tests.evaluation.linear import seeded
from tests.small_systems import CONDITION, uneven
from tests.trained_runs import CONDITION as TRAINED_CONDITION
from tests.trained_runs import springs, trained
from torch import Tensor
from torch.testing import assert_close

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch, Windows
from pgode.evaluation.robustness.measure import measure_model
from pgode.evaluation.robustness.perturbation import Perturbations
from pgode.evaluation.robustness.result import RunRobustness
from pgode.models import Forecaster, build_model, model_config


def fresh_model(name: str = "pgode", **changes: Any) -> Forecaster:
    """A small model with fresh weights for the difficult systems."""
    sizes = {"width": 8} if name == "pgode" else {}
    config = model_config(name, {**sizes, **changes})
    return build_model(name, config, Normaliser.fit(uneven())).double().eval()


def first_windows() -> Batch:
    """The first window of each difficult system, in one batch."""
    data = uneven()
    windows = Windows(data, Normaliser.fit(data), CONDITION, 1)
    return windows.batch(np.arange(data.systems), np.zeros(data.systems, int)).to(
        dtype=torch.float64
    )


VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "latent": {"state": "latent"},
    "sparse": {"dynamics": {"top_k": 2}},
    "gcn": {"dynamics": {"backbone": "gcn"}},
    "single": {"dynamics": "single"},
    "mlp": {"dynamics": "mlp"},
    "one": {"dynamics": {"prototypes": 1}},
}


@pytest.mark.parametrize("name", VARIANTS)
@torch.no_grad()
def test_flow_is_the_forecast_and_the_mixture_of_its_prototypes(name: str) -> None:
    model, batch = fresh_model(**VARIANTS[name]), first_windows()
    flow = model.flow(batch)
    assert flow is not None
    times = torch.tensor([1.0, 2.5]).double().expand(batch.systems, -1)
    solution = flow.decode(flow.solve(flow.initial, times), times)
    assert_close(solution, model.forecast(batch, times).mean)
    state = flow.initial + 0.1 * torch.randn_like(flow.initial)
    alone = torch.stack([field(state) for field in flow.prototypes], dim=1)
    assert_close((flow.weights.unsqueeze(2) * alone).sum(1), flow.mixture(state))
    assert flow.weights.shape[1] == model.prototypes
    assert ((flow.weights > 0).sum(1) == min(2 if name == "sparse" else 5, alone.shape[1])).all()
    # Per frame: over a short time the state changes by the field times the number of frames.
    shortly_after = flow.solve(flow.initial, torch.full((batch.systems, 1), 1e-6).double())[0]
    assert_close(
        (shortly_after - flow.initial) / 1e-6, flow.mixture(flow.initial), atol=1e-4, rtol=0
    )


def test_perturbations_of_naive_models_grow_as_worked_out_by_hand() -> None:
    perturbations = Perturbations(5, (0.1,), draws=3)
    normaliser = trained().normaliser
    naive = {
        name: build_model(name, model_config(name, {}), normaliser)
        for name in ("last-value", "constant-velocity")
    }
    results = {
        name: measure_model(model, springs(), TRAINED_CONDITION, perturbations)
        for name, model in naive.items()
    }
    still, moving = (results[name].forecast[0] for name in naive)
    assert still.factor == pytest.approx({5: 1.0}) and still.rate == pytest.approx(0)
    gain = normaliser.drift()[0][0]
    generator, expected = seeded(), []
    objects = springs().systems * springs().objects
    for _ in range(3):
        d = torch.randn(objects, 4, generator=generator, dtype=torch.float64)
        d = d / d.norm(dim=1, keepdim=True)
        expected.append(torch.cat([d[:, :2] + 5 * gain * d[:, 2:], d[:, 2:]], 1).norm(dim=1).mean())
    assert moving.factor[5] == pytest.approx(float(torch.stack(expected).mean()), rel=1e-5)
    for result in results.values():
        assert result.perturbed == "observation" and result.prototypes is None
        assert result.lipschitz is None and result.bound is None and result.state is None


@pytest.fixture(scope="module")
def pair() -> list[RunRobustness]:
    """Untrained PGODEs with one prototype and with three."""
    perturbations = Perturbations(5, (0.001, 0.1), draws=2)
    return [
        measure_model(fresh_model(dynamics={"prototypes": k}), uneven(), CONDITION, perturbations)
        for k in (1, 3)
    ]


def test_rate_of_one_prototype_is_its_constant_times_the_root_of_the_objects(pair) -> None:
    single = pair[0]
    assert single.prototypes == 1 and single.lipschitz.effective_prototypes == 1
    (one,) = single.lipschitz.prototypes
    assert one.weight == 1 and one.constant == single.lipschitz.mixture
    constants = _constants_of(fresh_model(dynamics={"prototypes": 1}))
    assert one.constant.largest == pytest.approx(float(constants.max()), rel=0.05)
    objects = torch.tensor([4, 2, 3, 4, 1]).double()
    expected = float((constants * objects.sqrt()).max())
    assert single.bound.theorem.largest == pytest.approx(expected, rel=0.05)


def _constants_of(model: Forecaster) -> Tensor:
    """Spectral norms of the Jacobians of each system at the initial state."""
    batch = first_windows()
    flow = model.flow(batch)
    assert flow is not None
    jacobian = torch.autograd.functional.jacobian(flow.mixture, flow.initial.detach())
    norms = []
    for k in range(batch.systems):
        own = batch.system == k
        block = jacobian[own][:, :, own].flatten(2).flatten(0, 1)
        norms.append(torch.linalg.matrix_norm(block, 2))
    return torch.stack(norms)


def test_bounds_are_in_order_and_hold(pair) -> None:
    for run in pair:
        bound, lipschitz = run.bound, run.lipschitz
        assert bound.share_within == 1
        assert bound.fastest_step <= lipschitz.mixture.largest <= bound.theorem.largest
        assert len(lipschitz.prototypes) == run.prototypes
        assert sum(each.weight for each in lipschitz.prototypes) == pytest.approx(1)
        assert [growth.norm[0] for growth in run.state] == pytest.approx([0.001, 0.1])
        small, large = (growth.norm[-1] for growth in run.state)
        assert large == pytest.approx(100 * small, rel=0.1)
    assert 1 < pair[1].lipschitz.effective_prototypes <= 3


def test_a_seed_fixes_every_number_and_the_model_is_unchanged() -> None:
    run = trained()
    before = {name: value.clone() for name, value in run.model.state_dict().items()}
    shares: list[float] = []
    perturbations = Perturbations(3, (0.01,), draws=1)

    def measure(**changes: Any) -> RunRobustness:
        changed = replace(perturbations, **changes)
        return measure_model(run.model, springs(), TRAINED_CONDITION, changed, shares.append)

    first, again = measure(), measure()
    assert first == again
    assert shares[: len(shares) // 2] == sorted(shares[: len(shares) // 2]) and shares[-1] == 1
    assert measure(seed=1).forecast[0].norm != first.forecast[0].norm
    assert all(torch.equal(before[name], value) for name, value in run.model.state_dict().items())
    assert all(parameter.requires_grad for parameter in run.model.parameters())
    observed = measure(observed=True)
    assert observed.perturbed == "observation" and observed.prototypes == 2
    assert observed.forecast[0].norm[0] == pytest.approx(0.01)
