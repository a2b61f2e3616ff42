"""What every model does with constants of objects and known inputs, as it declares.

The suite of `test_conformance` again, on data that have both.
"""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.models.test_conformance import CASES, again, rows_of
from tests.small_systems import CONDITION, HORIZON, OBJECT_AXIS, TIME_AXIS, uneven
from torch.testing import assert_close

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.models.registry import NAIVE

ADAPTIVE = replace(CASES[0], id="pgode-adaptive", settings={"solver": {"method": "bosh3"}}, fine={})
EULER = replace(CASES[0], id="pgode-euler", settings={"solver": {"method": "euler"}}, fine={})


@pytest.fixture(params=[*CASES, ADAPTIVE, EULER], ids=lambda case: case.id, scope="module")
def case(request):
    return request.param


@pytest.fixture(scope="module")
def told():
    """The difficult systems, with two constants (one is unknown of an object) and two inputs."""
    stream = np.random.default_rng(8)
    constants = stream.normal(5, 3, (5, OBJECT_AXIS, 2))
    constants[0, 1, 0] = np.nan
    inputs = stream.normal(size=(5, OBJECT_AXIS, TIME_AXIS, 2))
    return uneven(
        constants=constants,
        constant_names=("mass", "size"),
        inputs=inputs,
        input_names=("wind", "rain"),
    )


@pytest.fixture(scope="module")
def like(told):
    return Normaliser.fit(told)


@pytest.fixture(scope="module")
def cut(like):
    def made(data, systems=None, dtype=torch.float64):
        chosen = np.arange(data.systems) if systems is None else np.asarray(systems)
        windows = Windows(data, like, CONDITION, HORIZON)
        return windows.batch(chosen, np.zeros(len(chosen), int)).to(dtype=dtype)

    return made


@pytest.fixture(scope="module")
def batch(told, cut):
    return cut(told)


@pytest.fixture(scope="module")
def model(make, case, like):
    return make(case.model, like=like, **case.settings)


@pytest.fixture(scope="module")
def forecast(model, batch):
    return again(model, batch)


def changed(tensor, places):
    """Other values at some places."""
    return torch.where(places, tensor + 1 + torch.rand_like(tensor), tensor)


def differs(model, spoilt, forecast, times=None) -> bool:
    found = again(model, spoilt, times).mean
    assert torch.isfinite(found).all()
    return bool((found - forecast.mean).abs().max() > 1e-9)


def test_forecast_is_finite_where_a_constant_is_unknown(batch, forecast):
    assert batch.constants.shape == (14, 2) and batch.constants[1, 0] == 0
    assert torch.isfinite(forecast.mean).all()
    assert forecast.mean.shape == batch.targets.shape


def test_constants_change_the_forecast_of_a_model_that_uses_them(model, batch, forecast):
    for column in range(2):
        places = torch.zeros_like(batch.constants, dtype=torch.bool)
        places[:, column] = True
        spoilt = replace(batch, constants=changed(batch.constants, places))
        assert differs(model, spoilt, forecast) == (model.known_inputs != "none")


def test_inputs_of_the_condition_change_the_forecast_of_a_model_that_uses_them(
    model, batch, forecast
):
    places = torch.zeros_like(batch.inputs, dtype=torch.bool)
    places[:, :CONDITION] = True
    spoilt = replace(batch, inputs=changed(batch.inputs, places))
    assert differs(model, spoilt, forecast) == (model.known_inputs != "none")


def test_inputs_of_the_times_to_be_forecast_change_it_where_the_model_looks_ahead(
    model, batch, forecast
):
    for column in range(2):
        places = torch.zeros_like(batch.inputs, dtype=torch.bool)
        places[:, CONDITION:, column] = True
        spoilt = replace(batch, inputs=changed(batch.inputs, places))
        assert differs(model, spoilt, forecast) == (model.known_inputs == "ahead")


def test_inputs_after_the_forecast_have_no_influence(model, batch):
    times = batch.target_times[:, :1]
    # Models that step by frames go to the next whole one; inputs act on the way to their frame.
    until = torch.searchsorted(batch.input_times, times.ceil() - 1e-4)[batch.system]
    later = torch.arange(batch.inputs.shape[1]) > until
    places = later.unsqueeze(2).expand_as(batch.inputs)
    assert places.any()
    spoilt = replace(batch, inputs=changed(batch.inputs, places))
    assert_close(again(model, spoilt, times).mean, again(model, batch, times).mean)


def test_permuting_objects_permutes_the_forecast(model, told, cut, forecast):
    order = [2, 0, 3, 1]
    permuted = again(model, cut(told.permuted(order)))
    assert_close(permuted.mean, forecast.mean[rows_of(told, order)])


def test_batch_of_one_equals_batch_of_many(model, told, cut, batch, forecast):
    # An adaptive solver chooses its steps for all systems of a batch together.
    tolerance = {"atol": 1e-4, "rtol": 1e-4} if _adaptive(model) else {}
    for system in range(batch.systems):
        alone = again(model, cut(told, [system]))
        assert_close(alone.mean, forecast.mean[batch.system == system], **tolerance)


def _adaptive(model) -> bool:
    solver = getattr(model.config, "solver", None)
    return solver is not None and solver.method == ADAPTIVE.settings["solver"]["method"]


def test_gradients_reach_every_parameter(make, case, like, batch):
    model = make(case.model, like=like, **case.settings)
    if case.model in NAIVE:
        assert not dict(model.named_parameters())
        return
    model.loss(batch).total.backward()
    named = dict(model.named_parameters())
    assert not {name for name, p in named.items() if p.grad is None or not p.grad.any()}
    assert all(torch.isfinite(p.grad).all() for p in named.values())


def test_samples_come_beside_an_unchanged_mean(model, batch, forecast):
    with torch.no_grad():
        sampled = model.forecast(batch, batch.target_times, samples=2)
    assert torch.isfinite(sampled.samples).all()
    assert torch.equal(sampled.mean, forecast.mean)
