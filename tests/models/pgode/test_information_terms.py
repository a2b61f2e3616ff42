"""L_sys and L_dis of the whole model: their estimates, and who feels them (Eq. 6-7, 17)."""

import math
from dataclasses import replace

import pytest
import torch
from tests.models.pgode.letter import WIDTH, paper
from torch.nn.functional import softplus
from torch.testing import assert_close

from pgode.models.pgode.mutual_information import INDEPENDENT


@pytest.fixture
def model(make):
    return paper(make)


def estimate(critic, pairs: list[tuple[torch.Tensor, torch.Tensor, bool]]) -> torch.Tensor:
    """The Jensen-Shannon estimate over pairs that are marked as belonging together or not."""
    scores = [(critic.left(x) @ critic.right(y) / WIDTH**0.5, own) for x, y, own in pairs]
    positive = [softplus(-score) for score, own in scores if own]
    negative = [softplus(score) for score, own in scores if not own]
    return -torch.stack(positive).mean() - torch.stack(negative).mean()


def test_parameter_information_tells_each_systems_parameters_from_those_of_others(model, batch):
    contexts = model.contexts(batch)
    known = torch.nonzero(batch.parameters_known)[:, 0].tolist()
    pairs = [(contexts.system[s], batch.parameters[r], s == r) for s in known for r in known]
    assert len(pairs) == 16
    found = model.parameter_information(batch, contexts)
    assert_close(found, estimate(model.parameter_critic, pairs))


def test_context_information_tells_a_systems_objects_from_those_of_others(model, batch):
    contexts = model.contexts(batch)
    pairs = [
        (contexts.system[s], contexts.object[i], s == batch.system[i].item())
        for s in range(batch.systems)
        for i in range(batch.objects)
    ]
    found = model.context_information(batch, contexts)
    assert_close(found, estimate(model.context_critic, pairs))


def test_parameters_of_systems_that_do_not_know_them_have_no_influence(model, batch):
    contexts = model.contexts(batch)
    estimate = model.parameter_information(batch, contexts)
    other = torch.where(batch.parameters_known[:, None], batch.parameters, 5.0)
    assert_close(model.parameter_information(replace(batch, parameters=other), contexts), estimate)
    spoilt = replace(contexts, system=contexts.system.clone())
    spoilt.system[~batch.parameters_known] = 3.0
    assert_close(model.parameter_information(batch, spoilt), estimate)


def test_batch_without_known_parameters_has_a_finite_loss(model, batch):
    none = torch.zeros(5, dtype=torch.bool)
    losses = model.loss(replace(batch, parameters_known=none))
    losses.total.backward()
    assert losses.terms["parameter_info"] == 0
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


def test_descending_the_parameter_term_raises_the_information(make, batch):
    model = paper(make, objective={"parameter_info_weight": 1.0})
    before = model.parameter_information(batch, model.contexts(batch)).item()
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(20):
        optimiser.zero_grad()
        model.loss(batch).terms["parameter_info"].backward()
        optimiser.step()
    after = model.parameter_information(batch, model.contexts(batch)).item()
    assert after > before + 0.1


def test_adversary_raises_its_estimate_and_the_rest_of_the_model_lowers_it(make, batch):
    model = paper(make, objective={"context_info_weight": 1.0})
    adversary = list(model.adversary())
    against = {id(p) for p in adversary}
    rest = [p for p in model.parameters() if id(p) not in against]

    def information() -> float:
        return model.context_information(batch, model.contexts(batch)).item()

    start = information()
    assert start == pytest.approx(-2 * math.log(2), abs=0.05)
    ascent = torch.optim.Adam(adversary, lr=0.01, eps=1e-12, maximize=True)
    for _ in range(30):
        ascent.zero_grad()
        model.loss(batch).total.backward()
        ascent.step()
    risen = information()
    assert risen > start + 0.05
    descent = torch.optim.Adam(rest, lr=0.003)
    for _ in range(10):
        descent.zero_grad()
        model.loss(batch).terms["context_info"].backward()
        descent.step()
    assert information() < risen - 0.01


def context_slopes(model, batch) -> list[torch.Tensor | None]:
    """Gradients of L_dis on both encoders and on its critic."""
    weights = [model.object_encoder.summary.weight, model.system_encoder.summary.weight]
    critic = model.context_critic.left.first.weight
    term = model.loss(batch).terms["context_info"]
    return list(torch.autograd.grad(term, [*weights, critic], allow_unused=True))


def test_disentangling_is_felt_by_both_encoders(make, batch):
    model = paper(make, objective={"context_info_floor": False})
    assert all(slope.any() for slope in context_slopes(model, batch))


def test_encoders_lower_the_estimate_no_further_than_that_of_independent_contexts(make, batch):
    model = paper(make)
    last = model.context_critic.right.second
    with torch.no_grad():  # Scores near zero: the estimate changes sides with their sign.
        last.weight.mul_(1e-3)
        last.bias.zero_()
    sides = set()
    for _ in range(2):
        above = model.context_information(batch, model.contexts(batch)) > INDEPENDENT
        *encoders, critic = context_slopes(model, batch)
        assert critic.any()
        assert all((slope is not None and slope.any()) == above for slope in encoders)
        sides.add(bool(above))
        with torch.no_grad():
            last.weight.neg_()
    assert sides == {False, True}


def test_parameters_are_felt_by_the_system_encoder_alone(model, batch):
    term = model.loss(batch).terms["parameter_info"]
    weights = [model.system_encoder.summary.weight, model.object_encoder.summary.weight]
    own, other = torch.autograd.grad(term, weights, allow_unused=True)
    assert own.any() and other is None


def test_adversary_sees_nothing_but_its_own_term(model, batch):
    losses = model.loss(batch)
    others = losses.total - losses.terms["context_info"]
    slopes = torch.autograd.grad(others, list(model.adversary()), allow_unused=True)
    assert all(slope is None or not slope.any() for slope in slopes)
