"""Systems of any size: contexts do not grow with it, and untrained models stay calm."""

import numpy as np
import torch
from torch.testing import assert_close

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.simulate import simulate
from pgode.data.trajectories import Edges, Trajectories
from pgode.models import build_model, model_config


def test_system_context_of_ten_objects_is_the_papers_sum_and_does_not_grow_with_more():
    """Bit by bit for ten; and the same for a system beside a copy of itself."""
    data = simulate("springs", train=3, val=0, test=0, ood=0, frames=12)
    normaliser = Normaliser.fit(data)
    batch = Windows(data, normaliser, 6, 6).batch(np.arange(3), np.zeros(3, int))
    contexts = []
    for reference in (10, None):
        torch.manual_seed(0)
        encoder = {"reference_objects": reference}
        config = model_config("pgode", {"width": 8, "encoder": encoder})
        model = build_model("pgode", config, normaliser)
        with torch.no_grad():
            contexts.append(model.contexts(batch).system)
    assert torch.equal(*contexts)

    states = np.concatenate([data.states, data.states], axis=1)
    edges = data.edges
    twice = Edges(
        *(edges.graph_system, edges.graph_start),
        np.concatenate([edges.edge_graph] * 2),
        np.concatenate([edges.edge_receiver, edges.edge_receiver + 10]),
        np.concatenate([edges.edge_sender, edges.edge_sender + 10]),
        np.concatenate([edges.edge_attributes] * 2),
    )
    doubled = Trajectories.build(
        states,
        data.times,
        edges=twice,
        features=data.features,
        parameters=data.parameters,
        parameter_names=normaliser.parameters,
    )
    larger = Windows(doubled, normaliser, 6, 6).batch(np.arange(3), np.zeros(3, int))
    torch.manual_seed(0)
    model = build_model("pgode", model_config("pgode", {"width": 8}), normaliser)
    with torch.no_grad():
        assert_close(model.contexts(larger).system, model.contexts(batch).system)


def test_an_untrained_model_of_positions_alone_repeats_the_last_value_without_a_trend():
    stream = np.random.default_rng(0)
    states = stream.normal(size=(2, 20, 12, 3))
    data = Trajectories.build(
        states,
        np.arange(12.0),
        edges=np.ones((2, 20, 20)) - np.eye(20),
        features=("qx", "qy", "qz"),
        roles=("position",) * 3,
    )
    normaliser = Normaliser.fit(data)
    batch = Windows(data, normaliser, 6, 6).batch(np.arange(2), np.zeros(2, int))
    torch.manual_seed(0)
    model = build_model(
        "pgode", model_config("pgode", {"width": 16, "state": {"trend": False}}), normaliser
    )
    with torch.no_grad():
        found = model.forecast(batch, batch.target_times).mean
    assert (found - batch.states[:, -1:]).abs().max() < 0.1
