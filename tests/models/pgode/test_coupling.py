"""What PGODE has beside the paper's model: pulls along lines, and measured strengths."""

import pytest
import torch
from torch.testing import assert_close

from pgode.models.pgode.gates import Contexts


@pytest.fixture
def model(make):
    made = make()
    for parameter in made.state.coupling.parameters():
        torch.nn.init.normal_(parameter)
    return made


def test_pull_is_the_sum_over_neighbours_along_the_line_to_each(model, batch):
    contexts = model.contexts(batch)
    q = torch.randn(batch.objects, 2).double()
    coupling = model.state.coupling
    known = torch.cat([contexts.object, contexts.system[batch.system]], dim=1)
    a, b = coupling.receive(known), coupling.send(known)
    expected = torch.zeros_like(q)
    graph = batch.graph
    for edge, (i, j) in enumerate(zip(graph.receivers, graph.senders.long(), strict=True)):
        expected[i] += graph.weights[edge] * (a[i] @ b[j]) * (q[i] - q[j])
    assert_close(coupling.bind(contexts, batch)(q), expected)


def test_pull_does_not_depend_on_where_the_system_is(model, batch):
    pull = model.state.coupling.bind(model.contexts(batch), batch)
    q = torch.randn(batch.objects, 2).double()
    assert_close(pull(q + torch.tensor([3.0, -7.0])), pull(q), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("gate, hidden", [("system", "object"), ("object", "system")])
def test_pull_sees_the_contexts_that_the_gate_may_see(make, batch, gate, hidden):
    model = make(gate={"contexts": gate})
    contexts = model.contexts(batch)
    spoilt = {"object": contexts.object, "system": contexts.system}
    spoilt[hidden] = spoilt[hidden] + 5
    q = torch.randn(batch.objects, 2).double()
    before, after = (
        model.state.coupling.bind(each, batch)(q) for each in (contexts, Contexts(**spoilt))
    )
    assert torch.equal(before, after)


def test_untrained_objects_nearly_keep_their_velocities(make, batch, data, cut):
    model, naive = make(seed=3), make("constant-velocity")
    times = batch.target_times[:, :1]
    with torch.no_grad():
        ours, theirs = (each.forecast(batch, times).mean[..., [0, 4]] for each in (model, naive))
    assert_close(ours, theirs, atol=0.05, rtol=0)


def test_strength_of_a_system_says_nothing_of_single_objects(make, batch):
    model = make()
    zero = Contexts(torch.zeros(batch.objects, 8).double(), torch.zeros(batch.systems, 8).double())
    added = model.strength(zero, batch)
    assert added.system.shape == zero.system.shape
    _, whole = model.strength.strength(
        model.strength.geometry.observe(batch, batch.states.shape[1]), batch
    )
    for system in range(batch.systems):
        of_objects = whole[batch.system == system]
        assert_close(of_objects, of_objects[:1].expand_as(of_objects))
        assert_close(added.system[system], model.strength.to_system(of_objects[0]))


def test_paper_preset_has_neither(make):
    model = make(state="latent", encoder={"strength_context": False})
    assert model.strength is None
    assert not hasattr(model.state, "coupling")
