"""The variants of the paper: each differs from the model in exactly what its name says."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from pgode.models import model_config
from pgode.models.pgode.dynamics.prototypes import Prototypes
from pgode.models.pgode.dynamics.sparse import SparsePrototypes
from pgode.models.pgode.gates import Contexts
from pgode.runtime.errors import InputError

K = 3


def gate_of(model, batch, contexts=None) -> torch.Tensor:
    return model.gate(model.contexts(batch) if contexts is None else contexts, batch)


def noise(like: torch.Tensor) -> torch.Tensor:
    return torch.randn_like(like)


def test_gate_without_objects_is_one_row_per_system(make, batch):
    gate = gate_of(make(gate={"contexts": "system"}), batch)
    for system in range(batch.systems):
        own = gate[batch.system == system]
        assert_close(own, own[:1].expand_as(own))
    assert not torch.allclose(gate[0], gate[4])


def test_gate_without_objects_does_not_change_with_any_object_context(make, batch):
    model = make(gate={"contexts": "system"})
    contexts = model.contexts(batch)
    other = Contexts(noise(contexts.object), contexts.system)
    assert torch.equal(gate_of(model, batch, contexts), gate_of(model, batch, other))


def test_gate_without_objects_hears_nothing_from_the_object_encoder(make, batch):
    model = make(gate={"contexts": "system"})
    slopes = torch.autograd.grad(
        gate_of(model, batch).square().sum(),
        [*model.object_encoder.parameters(), *model.system_encoder.parameters()],
        allow_unused=True,
    )
    count = len(list(model.object_encoder.parameters()))
    assert all(slope is None for slope in slopes[:count])
    assert all(slope.any() for slope in slopes[count:])


def test_gate_without_systems_does_not_change_with_the_system_context(make, batch):
    model = make(gate={"contexts": "object"})
    contexts = model.contexts(batch)
    other = Contexts(contexts.object, noise(contexts.system))
    assert torch.equal(gate_of(model, batch, contexts), gate_of(model, batch, other))
    changed = Contexts(noise(contexts.object), contexts.system)
    assert not torch.allclose(gate_of(model, batch, contexts), gate_of(model, batch, changed))


def test_full_gate_hears_both_contexts(make, batch):
    model = make()
    contexts = model.contexts(batch)
    for other in (
        Contexts(contexts.object, noise(contexts.system)),
        Contexts(noise(contexts.object), contexts.system),
    ):
        assert not torch.allclose(gate_of(model, batch, contexts), gate_of(model, batch, other))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"gate": {"contexts": "system"}},
        {"gate": {"contexts": "object"}},
        {"gate": {"group_context": True}},
        {"dynamics": {"prototypes": 1}},
    ],
)
def test_gate_rows_are_weights_that_sum_to_one(make, batch, settings):
    gate = gate_of(make(**settings), batch)
    assert (gate > 0).all()
    assert_close(gate.sum(1), torch.ones(batch.objects).double())


def test_one_prototype_has_all_the_weight(make, batch):
    assert (gate_of(make(dynamics={"prototypes": 1}), batch) == 1).all()


@pytest.mark.parametrize("count", [1, 2, 4, 6])
def test_any_number_of_prototypes_runs(make, batch, count):
    model = make(dynamics={"prototypes": count})
    assert model.forecast(batch, batch.target_times).contexts["gate"].shape == (14, count)
    assert torch.isfinite(model.loss(batch).total)


def test_region_context_is_the_mean_over_the_group_and_zero_without_one(make, batch):
    model = make(gate={"group_context": True})
    u = model.contexts(batch).object
    region = model.gate._group_context(model.gate.region, model.contexts(batch), batch)
    mapped = torch.nn.functional.silu(model.gate.region(u))
    for i, group in enumerate(batch.group.tolist()):
        own = mapped[batch.group == group].mean(0) if group >= 0 else torch.zeros_like(mapped[0])
        assert_close(region[i], own)


def test_regions_of_other_systems_have_no_influence(make, batch, data, cut):
    model = make(gate={"group_context": True})
    alone = gate_of(model, cut(data, [3]))
    assert_close(gate_of(model, batch)[batch.system == 3], alone)


def test_without_disentangling_there_is_no_adversary_and_no_term(make, batch):
    model = make(objective={"context_info_weight": 0})
    assert list(model.adversary()) == []
    assert "context_info" not in model.loss(batch).terms


def test_single_feeds_both_contexts_to_one_message_function(make, batch):
    model = make(dynamics="single")
    contexts = model.contexts(batch)
    gate = gate_of(model, batch, contexts)
    y = torch.randn(batch.objects, model.state.inputs).double()
    gather, update = model.dynamics.gather, model.dynamics.update
    out = model.dynamics.bind(gate, contexts, batch)(y)
    for i in range(batch.objects):
        heard = torch.zeros(8).double()
        for e in torch.nonzero(batch.graph.receivers == i)[:, 0]:
            j = batch.graph.senders[e].long()
            known = torch.cat([contexts.object[i], contexts.system[batch.system[i]]])
            joined = gather.receive(y[i]) + gather.send(y[j]) + gather.context.weight @ known
            heard = heard + torch.relu(joined + batch.graph.attributes[e] @ gather.edge)
        hidden = torch.relu(heard @ update.first[0] + update.first_bias[0, 0])
        assert_close(out[i], hidden @ update.second[0] + update.second_bias[0])


def test_mlp_adds_a_drift_of_the_contexts_to_one_gnn(make, batch):
    model = make(dynamics="mlp")
    contexts = model.contexts(batch)
    y = torch.randn(batch.objects, model.state.inputs).double()
    bound = model.dynamics.bind(gate_of(model, batch), contexts, batch)
    joined = torch.cat([contexts.object, contexts.system[batch.system]], dim=1)
    shared = Prototypes.bind(model.dynamics, torch.ones(batch.objects, 1).double(), contexts, batch)
    assert_close(bound(y), shared(y) + model.dynamics.individual(joined))


def sparse_and_full(make, batch, top: int):
    """PGODE-S and the full mixture with the same weights, and a state to put in."""
    sparse = make(dynamics={"top_k": top})
    full = make()
    full.load_state_dict(sparse.state_dict())
    assert isinstance(sparse.dynamics, SparsePrototypes)
    y = torch.randn(batch.objects, full.state.inputs).double().requires_grad_()
    return sparse, full, y


def random_gate(objects: int) -> torch.Tensor:
    return torch.softmax(torch.randn(objects, K).double(), dim=1).requires_grad_()


def test_sparse_model_with_all_prototypes_is_the_full_model(make, batch):
    sparse, full, _ = sparse_and_full(make, batch, K - 1)
    sparse.dynamics.top_k = K
    assert_close(
        sparse.forecast(batch, batch.target_times).mean,
        full.forecast(batch, batch.target_times).mean,
    )


def test_sparse_mixture_is_the_full_one_with_the_smallest_weights_left_out(make, batch):
    sparse, full, y = sparse_and_full(make, batch, K - 1)
    gate, contexts = random_gate(batch.objects), full.contexts(batch)
    kept = gate.scatter(1, gate.argsort(dim=1)[:, :1], 0.0)
    share = kept / kept.sum(1, keepdim=True)
    ours = sparse.dynamics.bind(gate, contexts, batch)(y)
    expected = full.dynamics.bind(share, contexts, batch)(y)
    assert_close(ours, expected)
    grad = torch.randn_like(ours)
    slopes = torch.autograd.grad(ours, [y, gate], grad)
    assert_close(slopes, torch.autograd.grad(expected, [y, gate], grad))
    # The kept weights pull in opposite directions, since they add up to 1: far above rounding.
    assert (slopes[1].abs().amax(1) > 1e-6).all()


def test_sparse_model_trains_its_gate(make, batch):
    model = make(dynamics={"top_k": 2})
    error = model.loss(batch).terms["reconstruction"]
    for slope in torch.autograd.grad(error, list(model.gate.rho.parameters())):
        assert slope.abs().max() > 1e-9


def test_sparse_gradients_of_the_weights_are_those_of_the_full_mixture(make, batch):
    sparse, full, y = sparse_and_full(make, batch, 2)
    gate, contexts = random_gate(batch.objects), full.contexts(batch)
    kept = gate.scatter(1, gate.argsort(dim=1)[:, :1], 0.0)
    share = kept / kept.sum(1, keepdim=True)
    ours = sparse.dynamics.bind(gate, contexts, batch)(y).square().sum()
    expected = full.dynamics.bind(share, contexts, batch)(y).square().sum()
    assert_close(
        torch.autograd.grad(ours, list(sparse.dynamics.parameters())),
        torch.autograd.grad(expected, list(full.dynamics.parameters())),
    )


def test_prototype_that_nobody_chooses_is_never_looked_at(make, batch):
    sparse, _, y = sparse_and_full(make, batch, 2)
    gate = torch.tensor([[0.2, 0.7, 0.1]]).double().expand(batch.objects, -1)
    contexts = sparse.contexts(batch)
    before = sparse.dynamics.bind(gate, contexts, batch)(y)
    with torch.no_grad():
        sparse.dynamics.update.first[2] = 1e30
        sparse.dynamics.gather.receive.weight[2 * 8 :] = 1e30
    assert torch.equal(sparse.dynamics.bind(gate, contexts, batch)(y), before)


def dense(batch) -> torch.Tensor:
    weights = torch.zeros(batch.objects, batch.objects).double()
    weights[batch.graph.receivers, batch.graph.senders.long()] = batch.graph.weights
    return weights


def test_gcn_gathers_by_the_symmetric_normalisation_with_self_loops(make, batch):
    gather = make(dynamics={"backbone": "gcn"}).dynamics.gather
    z = torch.randn(batch.objects, gather.map.in_features).double()
    weights = dense(batch)
    degree = (weights != 0).sum(1).double() + 1
    scaled = (weights + torch.eye(len(weights))) / torch.sqrt(degree[:, None] * degree)
    assert_close(gather.bind(batch.graph, None)(z), gather.map(scaled @ z))


def test_gin_adds_neighbours_to_the_object_itself(make, batch):
    gather = make(dynamics={"backbone": "gin"}).dynamics.gather
    torch.nn.init.normal_(gather.epsilon)
    z = torch.randn(batch.objects, gather.map.in_features).double()
    expected = gather.map((1 + gather.epsilon) * z + dense(batch) @ z)
    assert_close(gather.bind(batch.graph, None)(z), expected)


def test_sage_maps_the_object_and_the_mean_of_its_neighbours(make, batch):
    gather = make(dynamics={"backbone": "sage"}).dynamics.gather
    z = torch.randn(batch.objects, gather.own.in_features).double()
    weights = dense(batch)
    count = (weights != 0).sum(1, keepdim=True).clamp(min=1)
    expected = gather.own(z) + gather.other(weights @ z / count)
    assert_close(gather.bind(batch.graph, None)(z), expected)


def test_variants_of_the_gate_change_only_what_the_gate_is_fed(make):
    sizes = {
        name: make(gate={"contexts": name}).gate.rho.first.in_features
        for name in ("both", "system", "object")
    }
    assert sizes == {"both": 16, "system": 8, "object": 8}
    assert make(gate={"contexts": "system", "group_context": False}).gate.region is None
    assert np.isclose(make(gate={"group_context": True}).gate.rho.first.in_features, 24)


@pytest.mark.parametrize(
    "settings, reason",
    [
        ({"dynamics": {"top_k": 5}}, "not below the number of prototypes"),
        ({"dynamics": {"top_k": 1}}, "the gate cannot learn; top_k is at least 2"),
        ({"dynamics": {"top_k": 2, "backbone": "gcn"}}, "backbone=message only"),
        (
            {"dynamics": {"kind": "single", "top_k": 2}},
            "unknown setting",
        ),
        ({"dynamics": {"kind": "mlp", "backbone": "gin"}}, "unknown setting"),
        ({"gate": {"contexts": "system", "group_context": True}}, "contexts=system must not see"),
        ({"dynamics": "single", "gate": {"group_context": True}}, "no effect with a single"),
        ({"state": {"coupling": True}}, '"model.state.coupling" was removed: force laws'),
        ({"state": {"kind": "latent", "coupling": True}}, '"model.state.coupling" was removed'),
        ({"encoder": {"strength_context": True}}, '"model.encoder.strength_context" was removed'),
        ({"coupling": True}, '"model.coupling" was removed'),
        ({"strength": True}, '"model.strength" was removed'),
        ({"state": {"residual_decoder": False}}, "set history_readout=false too"),
        ({"state": {"history_readout": False}}, "set mean_structure=false too"),
        (
            {
                "state": {
                    "residual_decoder": False,
                    "history_readout": False,
                    "mean_structure": False,
                }
            },
            "set trend=false too",
        ),
        (
            {"dynamics": {"prototypes": 1}, "gate": {"contexts": "object"}},
            "gate.contexts has no effect with a single prototype",
        ),
        ({"solver": {"method": "rk5"}}, "rk4"),
    ],
)
def test_settings_of_which_a_part_would_do_nothing_are_refused(settings, reason):
    with pytest.raises(InputError, match=reason):
        model_config("pgode", settings)
