"""Systems without edges, and what then still joins their objects."""

from dataclasses import replace

import numpy as np
import torch
from tests.small_systems import CONDITION, HORIZON, uneven

from pgode.batches.graph import Graph
from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows


def test_system_without_edges_can_be_forecast_and_learned_from(make):
    data = uneven(edges=np.zeros((5, 4, 4)))
    normaliser = Normaliser.fit(data)
    windows = Windows(data, normaliser, CONDITION, HORIZON)
    lonely = windows.batch(np.arange(5), np.zeros(5, int)).to(dtype=torch.float64)
    model = make(like=normaliser)
    loss = model.loss(lonely).total
    loss.backward()
    assert torch.isfinite(loss)
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


def test_objects_without_edges_do_not_influence_each_other_unless_through_the_system(make, batch):
    """With no edges and a gate that sees u alone, a forecast is a function of one object."""
    none = np.zeros(0, np.int32)
    alone = Graph.from_edges(none, none, np.zeros((0, 2)), batch.objects, dtype=torch.float64)
    nodes = len(batch.history.node_object)
    silent = Graph.from_edges(none, none, np.zeros((0, 2)), nodes, dtype=torch.float64)
    history = replace(batch.history, graph=silent, temporal=torch.zeros(0, dtype=torch.bool))
    apart = replace(batch, graph=alone, history=history)
    states = apart.states.clone()
    states[0] += 1.0
    changed = replace(apart, states=states)
    for gate, others_stay in (("object", True), ("both", False)):
        model = make(gate={"contexts": gate})
        with torch.no_grad():
            before = model.forecast(apart, apart.target_times).mean
            after = model.forecast(changed, apart.target_times).mean
        assert not torch.equal(before[0], after[0])
        assert torch.equal(before[1:4], after[1:4]) == others_stay
        assert torch.equal(before[4:], after[4:])
