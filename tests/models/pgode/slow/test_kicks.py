"""Laws with message prototypes: untrained they are the laws, trained they take what is left."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from benchmarks.beyond_pairs import simulated
from torch.testing import assert_close

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch, Windows
from pgode.models import build_model, model_config
from pgode.models.pgode.dynamics import compiled
from pgode.models.pgode.dynamics.messages import Gather
from pgode.models.pgode.laws.model import ForceLaws
from pgode.models.pgode.slow.model import LawsWithMessages
from pgode.runtime.errors import InputError

LAWS = {"kind": "laws", "prototypes": 2, "substeps": 4, "ensemble": 1}


@cache
def windows() -> Windows:
    data = simulated("swirl", {"train": 8}, objects=4, frames=24)
    return Windows(data, Normaliser.fit(data), 6, 4)


def batch(dtype: torch.dtype = torch.float32) -> Batch:
    return windows().batch(np.arange(4), np.zeros(4, int)).to(dtype=dtype)


@cache
def laws() -> ForceLaws:
    config = model_config("pgode", {"dynamics": LAWS, "walls": "none"})
    model = build_model("pgode", config, windows().normaliser)
    assert isinstance(model, ForceLaws)
    model.prepare(windows(), 0, lambda what, share: None)
    return model


def both(*, trained: bool = False, **settings: Any) -> LawsWithMessages:
    """The laws above, with messages that are untrained or drawn as if trained."""
    torch.manual_seed(0)
    given = {"dynamics": {**LAWS, "messages": True}, "walls": "none", "width": 8, **settings}
    model = build_model("pgode", model_config("pgode", given), windows().normaliser)
    assert isinstance(model, LawsWithMessages)
    model.laws.load_state_dict(laws().state_dict())
    if trained:
        torch.nn.init.normal_(model.state.acceleration.weight, std=0.5)
    return model


def test_untrained_messages_leave_the_forecast_of_the_laws() -> None:
    given = batch()
    ours = both().forecast(given, given.target_times, samples=2)
    expected = laws().forecast(given, given.target_times)
    assert torch.equal(ours.mean, expected.mean)
    assert torch.equal(ours.samples, expected.mean.expand(2, -1, -1, -1))
    for name in ("gate", "system_strength", "system_nearest", "system_substeps"):
        assert_close(ours.contexts[name], expected.contexts[name])
    assert ours.contexts["message_gate"].shape == (given.objects, 2)


@torch.no_grad()
def test_kicks_change_the_forecast_and_draws_differ() -> None:
    given = batch()
    forecast = both(trained=True).forecast(given, given.target_times, samples=2)
    alone = laws().forecast(given, given.target_times).mean
    assert float((forecast.mean - alone).abs().max()) > 1e-3
    assert not torch.equal(forecast.samples[0], forecast.samples[1])


@torch.no_grad()
def test_networks_are_evaluated_once_per_frame_and_at_the_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compiled, "FEW", 0)  # The operators can be counted.
    given, model, calls = batch(), both(trained=True), []
    bind = model.dynamics.gather.bind

    def bound(*given: object) -> Gather:
        gather = bind(*given)
        return lambda z: calls.append(1) or gather(z)

    model.dynamics.gather.bind = bound
    assert model.forecast(given, given.target_times).evaluations == len(calls) == 5


@torch.no_grad()
def test_forecasts_at_any_times_agree() -> None:
    """With kicks each quarter frame, asking for more outputs changes nothing but rounding."""
    given = batch(torch.float64)
    model = both(trained=True, solver={"step": 0.025}).double()
    quarters = torch.arange(1, 17, dtype=torch.float64).expand(4, -1) / 4
    fine, coarse = (model.forecast(given, t).mean for t in (quarters, given.target_times))
    assert_close(fine[:, 3::4], coarse, rtol=1e-5, atol=1e-7)
    own = given.target_times + 0.25 * torch.arange(4)[:, None]  # Each system at times of its own.
    mixed = model.forecast(given, own).mean
    third = given.system == 3
    assert_close(mixed[third, 0], fine[third, 6], rtol=1e-3, atol=1e-4)


@torch.no_grad()
def test_kicks_are_of_second_order() -> None:
    given = batch(torch.float64)
    times = given.target_times[:, -1:].double()
    results = []
    for pieces in (1, 2, 4, 32):
        model = both(trained=True, solver={"step": 0.1 / pieces}).double()
        model.laws.settings = model.laws.settings.model_copy(update={"substeps": 64})
        results.append(model.forecast(given, times).mean)
    *others, best = results
    errors = [float((each - best).abs().mean()) for each in others]
    assert 3.0 < errors[0] / errors[1] < 6.0
    assert 3.0 < errors[1] / errors[2] < 6.0


@pytest.mark.parametrize("recompute", [False, True])
def test_gradients_reach_every_network_and_are_finite(recompute: bool) -> None:
    model = both(trained=True, solver={"recompute": recompute})
    model.loss(batch()).total.backward()
    missing = [
        name
        for name, parameter in model.named_parameters()
        if parameter.grad is None
        or not parameter.grad.isfinite().all()
        or not parameter.grad.abs().sum() > 0
    ]
    assert missing == []


@pytest.mark.parametrize(
    "name", ["state.acceleration.weight", "dynamics.update.second", "gate.rho.second.weight"]
)
def test_a_gradient_through_the_fast_steps_is_the_difference_quotient(name: str) -> None:
    given = batch(torch.float64)
    model = both(trained=True, objective={"sample": False}).double()
    parameter = model.get_parameter(name)
    (gradient,) = torch.autograd.grad(model.loss(given).total, parameter)
    place = int(gradient.abs().argmax())
    values = []
    for change in (1e-5, -1e-5):
        with torch.no_grad():
            parameter.view(-1)[place] += change
            values.append(float(model.loss(given).total))
            parameter.view(-1)[place] -= change
    assert_close((values[0] - values[1]) / 2e-5, float(gradient.view(-1)[place]), rtol=1e-5, atol=0)


def test_the_loss_falls_in_a_few_steps() -> None:
    given, model = batch(), both()
    optimiser = torch.optim.Adam(model.parameters(), 1e-2)
    errors = []
    for _ in range(40):
        losses = model.loss(given)
        errors.append(float(losses.terms["mse"].detach()))
        optimiser.zero_grad()
        losses.total.backward()
        optimiser.step()
    assert errors[-1] < 0.5 * errors[0]


@torch.no_grad()
def test_what_comes_after_the_condition_has_no_influence() -> None:
    given, model = batch(), both(trained=True)
    changed = replace(given, targets=given.targets + 1)
    expected = model.forecast(given, given.target_times).mean
    assert torch.equal(model.forecast(changed, given.target_times).mean, expected)


def test_findings_name_the_messages_last() -> None:
    *found, last = both().findings()
    assert tuple(found) == laws().findings()
    assert last.startswith("messages: 2 message prototypes change velocities once per frame")
    assert both().flow(batch()) is None


@pytest.mark.parametrize(
    "settings, reason",
    [
        ({"state": "latent"}, "state=latent has no velocities"),
        ({"solver": {"method": "euler"}}, "solver has no effect with dynamics=laws"),
        ({"rebuild_graph": True}, "rebuild_graph has no effect with dynamics=laws"),
        ({"width": 8, "dynamics": {"messages": False}}, "width has no effect with dynamics=laws"),
    ],
)
def test_settings_that_have_no_effect_are_refused(settings: dict[str, Any], reason: str) -> None:
    given = {"messages": True, **settings.pop("dynamics", {})}
    with pytest.raises(InputError, match=reason):
        model_config("pgode", {"dynamics": {"kind": "laws", **given}, **settings})


def test_settings_of_networks_beside_laws_can_be_read_again() -> None:
    given = {"dynamics": {"kind": "laws", "messages": True}, "width": 8}
    stored = model_config("pgode", given).model_dump(mode="json")
    assert model_config("pgode", stored).model_dump(mode="json") == stored
