"""What every model keeps to, whatever it computes (the contract of `Forecaster`).

A new model is covered by its line in `MODELS`, with the defaults of its config. What makes it small
or takes it through its options is a line in `CASES`.
"""

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.small_systems import CONDITION, TIME_AXIS, arrays, edges, uneven
from torch.testing import assert_close

from pgode.batches.windows import Windows
from pgode.models import MODELS, Forecast
from pgode.models.registry import NAIVE, model_class
from pgode.runtime.settings import merged
from pgode.training.presets import PAPER, PAPER_ANCHORED


@dataclass(frozen=True)
class Case:
    """A model with settings.

    `fine` are settings under which forecasts at multiples of a quarter frame take the same steps
    whichever of them are asked for.
    """

    id: str
    model: str
    settings: dict[str, Any] = field(default_factory=dict)
    fine: dict[str, Any] = field(default_factory=dict)


FINE = {"solver": {"step": 0.025}}


def pgode(name: str, **settings: Any) -> Case:
    return Case(f"pgode-{name}", "pgode", settings, FINE)


CASES = [
    pgode("default"),
    pgode("paper", **PAPER["model"]),
    pgode("paper-anchored", **PAPER_ANCHORED["model"]),
    pgode("without-object-contexts", gate={"contexts": "system"}),
    pgode("without-system-contexts", gate={"contexts": "object"}),
    pgode("without-prototypes", dynamics={"prototypes": 1}),
    pgode("without-disentangling", objective={"context_info_weight": 0}),
    pgode("single", dynamics="single"),
    pgode("mlp", dynamics="mlp"),
    pgode("sparse", dynamics={"top_k": 2}),
    pgode("sparse-paper", dynamics={"top_k": 2}, **PAPER["model"]),
    pgode("gcn", dynamics={"backbone": "gcn"}),
    pgode("gin", dynamics={"backbone": "gin"}),
    pgode("sage", dynamics={"backbone": "sage"}),
    pgode("groups", gate={"group_context": True}),
    pgode("recomputed", solver={"recompute": True}),
    pgode("residual-latent", state="latent"),
    pgode("plain-encoder", encoder={"layer_norm": False, "rates": False, "relation": False}),
]
CASES += [
    Case(name, name, fine=FINE if "solver" in model_class(name).config_type.model_fields else {})
    for name in MODELS
    if name != "pgode"
]
CASES += [
    Case("egnn-strength", "egnn", {"strength": True}),
    Case("nri-all-kinds", "nri", {"no_edge": False}),
    Case("eqmotion-all-pairs", "eqmotion", {"pairs": "complete"}),
]


PLAIN = [case for case in CASES if case.id in (*MODELS, "pgode-default", "pgode-paper")]
"""One case per model, and both states of PGODE: for what no variant of a model can change."""


@pytest.fixture(params=CASES, ids=lambda case: case.id, scope="module")
def case(request) -> Case:
    return request.param


@pytest.fixture(params=PLAIN, ids=lambda case: case.id, scope="module")
def plain(request) -> Case:
    return request.param


@pytest.fixture(scope="module")
def model(make, case):
    return make(case.model, **case.settings)


@pytest.fixture(scope="module")
def plain_model(make, plain):
    return make(plain.model, **plain.settings)


@pytest.fixture(scope="module")
def fine_model(make, plain):
    """With steps so short that a forecast hardly depends on where they end."""
    return make(plain.model, **merged(plain.settings, plain.fine))


@pytest.fixture(scope="module")
def forecast(model, batch) -> Forecast:
    return again(model, batch)


def loss_of(model, batch) -> torch.Tensor:
    """The loss with the same draws each time."""
    torch.manual_seed(1)
    with torch.no_grad():
        return model.loss(batch).total


def again(model, batch, times=None) -> Forecast:
    with torch.no_grad():
        return model.forecast(batch, batch.target_times if times is None else times)


def garbage(tensor: torch.Tensor) -> torch.Tensor:
    return torch.randn_like(tensor) * 100 + 7


def rows_of(data, order) -> torch.Tensor:
    """Where each object of the batch of `data.permuted(order)` is in the batch of `data`."""
    first = np.cumsum(data.n_objects) - data.n_objects
    rows = [f + i for f, n in zip(first, data.n_objects, strict=True) for i in order if i < n]
    return torch.tensor(rows)


def test_every_registered_model_is_here():
    assert {case.model for case in CASES} == set(MODELS)


def test_forecast_and_what_was_inferred_have_the_promised_shapes(model, batch, forecast):
    assert forecast.mean.shape == batch.targets.shape
    assert forecast.samples.shape == (0, *batch.targets.shape)
    assert torch.isfinite(forecast.mean).all()
    for values in forecast.contexts.values():
        assert values.shape[0] in (batch.objects, batch.systems)


def test_permuting_objects_permutes_the_forecast(model, data, cut, batch, forecast):
    order = [2, 0, 3, 1]
    rows = rows_of(data, order)
    permuted = again(model, cut(data.permuted(order)))
    assert_close(permuted.mean, forecast.mean[rows])
    for name, values in forecast.contexts.items():
        of_objects = values.shape[0] == batch.objects
        assert_close(permuted.contexts[name], values[rows] if of_objects else values)


def test_batch_of_one_equals_batch_of_many(model, data, cut, batch, forecast):
    for system in range(batch.systems):
        alone = again(model, cut(data, [system]))
        assert_close(alone.mean, forecast.mean[batch.system == system])


def test_order_of_systems_does_not_matter(model, data, cut, batch, forecast):
    order = [3, 1, 4, 0, 2]
    rows = torch.cat([torch.nonzero(batch.system == system)[:, 0] for system in order])
    assert_close(again(model, cut(data, order)).mean, forecast.mean[rows])


def test_wider_padding_has_no_influence(model, cut, forecast, batch):
    given = arrays()
    wider = {}
    for name, values in given.items():
        widths = [(0, 0)] * values.ndim
        if name != "times" and name != "parameters":
            widths[1] = (0, 2)
        if name == "times":
            widths[1] = (0, 3)
        if name in ("states", "observed"):
            widths[2] = (0, 3)
        fill = {"present": False, "observed": False, "group": -1}.get(name, np.nan)
        wider[name] = np.pad(values, widths, constant_values=fill)
    padded = cut(uneven(**wider))
    assert_close(again(model, padded).mean, forecast.mean)
    assert_close(loss_of(model, padded), loss_of(model, batch))


def test_values_that_were_not_observed_have_no_influence(model, batch, forecast):
    spoilt = replace(
        batch,
        states=torch.where(batch.observed, batch.states, garbage(batch.states)),
        targets=torch.where(batch.targets_observed, batch.targets, garbage(batch.targets)),
    )
    assert_close(again(model, spoilt).mean, forecast.mean)
    assert_close(loss_of(model, spoilt), loss_of(model, batch))


def test_values_behind_the_mask_of_the_data_have_no_influence(model, cut, forecast):
    given = arrays()
    hidden = ~given["observed"] | ~given["present"][:, :, None, None]
    spoilt = np.where(hidden, 1e6, given["states"])
    assert_close(again(model, cut(uneven(states=spoilt))).mean, forecast.mean)


def test_frames_after_the_condition_have_no_influence(model, data, cut, forecast):
    states, observed = arrays()["states"], arrays()["observed"]
    states[:, :, CONDITION:] += 50
    observed[:, :, CONDITION:] = True
    later = edges()
    changed = replace(
        later,
        edge_attributes=np.where((later.edge_graph == 2)[:, None], 9.0, later.edge_attributes),
    )
    spoilt = cut(uneven(states=states, observed=observed, edges=changed))
    times = cut(data).target_times
    assert not torch.equal(spoilt.targets, cut(data).targets)
    assert_close(again(model, spoilt, times).mean, forecast.mean)


def test_targets_and_parameters_are_no_input_of_a_forecast(model, batch, forecast):
    spoilt = replace(
        batch,
        targets=garbage(batch.targets),
        targets_observed=~batch.targets_observed,
        parameters=garbage(batch.parameters),
        parameters_known=~batch.parameters_known,
    )
    assert_close(again(model, spoilt, batch.target_times).mean, forecast.mean)


def test_gradients_reach_every_parameter(make, case, batch):
    model = make(case.model, **case.settings)
    named = dict(model.named_parameters())
    if case.model in NAIVE:
        assert not named
        return
    model.loss(batch).total.backward()
    still = {name for name, p in named.items() if p.grad is None or not p.grad.any()}
    assert all(torch.isfinite(p.grad).all() for p in named.values() if p.grad is not None)
    assert not still


def test_adversary_is_part_of_the_model(model):
    own = {id(parameter) for parameter in model.parameters()}
    assert all(id(parameter) in own for parameter in model.adversary())


def test_saving_and_loading_changes_nothing(make, case, model, batch, forecast, tmp_path):
    save_file(model.state_dict(), tmp_path / "weights.safetensors")
    other = make(case.model, seed=9, **case.settings)
    other.load_state_dict(load_file(tmp_path / "weights.safetensors"))
    loaded = again(other, batch)
    assert torch.equal(loaded.mean, forecast.mean)
    assert {
        name: torch.equal(loaded.contexts[name], v) for name, v in forecast.contexts.items()
    } == {name: True for name in forecast.contexts}
    assert torch.equal(loss_of(other, batch), loss_of(model, batch))


def test_one_time_is_forecast_as_among_many(fine_model, batch):
    many = torch.tensor([[0.0, 0.25, 1.0, 2.75, 5.5]], dtype=torch.float64).expand(5, -1)
    together = again(fine_model, batch, many)
    for number in range(5):
        alone = again(fine_model, batch, many[:, [number]])
        assert_close(alone.mean[:, 0], together.mean[:, number])


def test_times_between_frames_are_forecast_as_those_on_frames(fine_model, batch):
    odd = torch.tensor([[0.37, 1.61, 2.93]], dtype=torch.float64).expand(5, -1)
    near = again(fine_model, batch, odd + 1e-6)
    exact = again(fine_model, batch, odd)
    assert torch.isfinite(exact.mean).all()
    assert_close(near.mean, exact.mean, atol=1e-4, rtol=0)
    # A whole-frame time reached over an odd one is the same as reached directly.
    through = torch.tensor([[0.37, 2.0]], dtype=torch.float64).expand(5, -1)
    direct = torch.tensor([[2.0]], dtype=torch.float64).expand(5, -1)
    assert_close(
        again(fine_model, batch, through).mean[:, 1],
        again(fine_model, batch, direct).mean[:, 0],
        atol=1e-3,
        rtol=0,
    )


def test_each_system_is_forecast_at_its_own_times(fine_model, batch):
    step = torch.tensor([[0.25], [0.5], [0.75], [1.0], [0.25]], dtype=torch.float64)
    own = step * torch.arange(1, 4)
    together = again(fine_model, batch, own).mean
    for system in range(5):
        shared = own[system].expand(5, -1)
        here = batch.system == system
        assert_close(again(fine_model, batch, shared).mean[here], together[here], atol=1e-4, rtol=0)


def test_samples_come_beside_an_unchanged_mean(model, batch, forecast):
    with torch.no_grad():
        sampled = model.forecast(batch, batch.target_times, samples=3)
    assert sampled.samples.shape == (3, *batch.targets.shape)
    assert torch.isfinite(sampled.samples).all()
    assert torch.equal(sampled.mean, forecast.mean)


def test_precision_is_that_of_the_model(make, case, data, cut, forecast):
    model = make(case.model, **case.settings).float()
    batch = cut(data, dtype=torch.float32)
    single = again(model, batch)
    assert single.mean.dtype == model.loss(batch).total.dtype == torch.float32
    assert forecast.mean.dtype == torch.float64
    assert_close(single.mean.double(), forecast.mean, atol=1e-4, rtol=1e-4)


def test_loss_is_one_number_with_named_terms(model, batch):
    losses = model.loss(batch)
    assert losses.total.shape == ()
    assert torch.isfinite(losses.total)
    assert "mse" in losses.terms
    assert all(term.shape == () for term in losses.terms.values())


def test_forecasting_changes_neither_batch_nor_model(plain_model, batch):
    model = plain_model
    states = {name: value.clone() for name, value in model.state_dict().items()}
    kept = {
        f.name: getattr(batch, f.name).clone()
        for f in fields(batch)
        if isinstance(getattr(batch, f.name), torch.Tensor)
    }
    again(model, batch)
    assert all(torch.equal(model.state_dict()[name], value) for name, value in states.items())
    assert all(torch.equal(getattr(batch, name), value) for name, value in kept.items())


def test_longer_horizon_than_the_data_can_be_forecast(plain_model, batch):
    far = torch.arange(1.0, 2 * TIME_AXIS).double().expand(5, -1)
    assert again(plain_model, batch, far).mean.shape == (14, 2 * TIME_AXIS - 1, 5)


@pytest.mark.parametrize("condition, horizon", [(1, 1), (2, 5), (6, 2)])
def test_any_condition_and_horizon_are_possible(plain_model, data, normaliser, condition, horizon):
    windows = Windows(data, normaliser, condition, horizon)
    batch = next(windows.batches(5)).to(dtype=torch.float64)
    assert torch.isfinite(loss_of(plain_model, batch))
    assert again(plain_model, batch).mean.shape == batch.targets.shape


def test_config_cannot_change(plain_model):
    assert plain_model.config.model_config["frozen"]
    assert type(plain_model.config) is plain_model.config_type
