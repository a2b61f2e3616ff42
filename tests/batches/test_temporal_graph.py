"""The temporal graph (Eq. 2): which observations are joined, in which direction, how strongly."""

import numpy as np
import torch
from tests.small_systems import CONDITION, HORIZON, uneven

from pgode.batches.normaliser import Normaliser
from pgode.batches.temporal_graph import TemporalGraph
from pgode.batches.windows import Windows
from pgode.data.trajectories import Trajectories

Node = tuple[int, int]


def history_of(edges, observed=None, systems=1, condition=3, present=None) -> TemporalGraph:
    """The history of the first `condition` frames of systems of three objects."""
    frames = 5
    data = Trajectories.build(
        np.random.default_rng(0).normal(size=(systems, 3, frames, 2)),
        np.arange(frames) * 1.0,
        edges=edges,
        features=("a", "b"),
        observed=observed,
        present=present,
    )
    windows = Windows(data, Normaliser.fit(data), condition, 1)
    return windows.batch(np.arange(systems), np.zeros(systems, int)).history


def joined(history: TemporalGraph, temporal: bool) -> dict[tuple[Node, Node], float]:
    """Entries of A^tem: ((object, frame) that hears, (object, frame) that is heard) -> weight."""
    node = list(zip(history.node_object.tolist(), history.node_frame.tolist(), strict=True))
    graph = history.graph
    ends = zip(graph.receivers.tolist(), graph.senders.tolist(), strict=True)
    return {
        (node[i], node[j]): weight
        for (i, j), weight, kind in zip(
            ends, graph.weights.tolist(), history.temporal.tolist(), strict=True
        )
        if kind == temporal
    }


def pair(receiver: int, sender: int, frame: int) -> tuple[Node, Node]:
    return (receiver, frame), (sender, frame)


def one_edge_each_way() -> np.ndarray:
    """0 hears 1 with weight 2, 2 hears 0 with weight -0.5."""
    edges = np.zeros((1, 3, 3))
    edges[0, 0, 1], edges[0, 2, 0] = 2.0, -0.5
    return edges


def test_spatial_edges_join_objects_at_the_same_frame_with_the_weight_of_the_graph():
    spatial = joined(history_of(one_edge_each_way()), temporal=False)
    expected = {pair(0, 1, t): 2.0 for t in range(3)} | {pair(2, 0, t): -0.5 for t in range(3)}
    assert spatial == expected


def test_temporal_edges_carry_the_next_observation_to_the_one_before():
    temporal = joined(history_of(one_edge_each_way()), temporal=True)
    assert temporal == {((i, t), (i, t + 1)): 1.0 for i in range(3) for t in (0, 1)}


def test_edges_say_whether_they_are_temporal():
    history = history_of(one_edge_each_way())
    assert torch.equal(history.graph.attributes[:, 1].bool(), history.temporal)
    assert history.temporal.sum() == 6


def test_every_observation_of_the_condition_is_one_node():
    history = history_of(one_edge_each_way())
    assert history.node_object.tolist() == [0, 1, 2] * 3
    assert history.node_frame.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert history.graph.rows == history.graph.columns == 9


def test_successive_observations_are_joined_across_a_gap():
    observed = np.ones((1, 3, 5, 2), bool)
    observed[0, 0, 1] = False
    history = history_of(one_edge_each_way(), observed)
    temporal = joined(history, temporal=True)
    assert temporal[(0, 0), (0, 2)] == 1.0
    assert not any((0, 1) in ends for ends in temporal)
    assert pair(0, 1, 1) not in joined(history, temporal=False)
    assert pair(2, 0, 1) not in joined(history, temporal=False)
    assert history.graph.rows == 8


def test_partly_observed_object_is_a_node_and_an_unseen_object_is_none():
    observed = np.ones((1, 3, 5, 2), bool)
    observed[0, 0, 1, 0] = False
    observed[0, 2] = False
    history = history_of(one_edge_each_way(), observed)
    assert history.node_object.tolist() == [0, 1, 0, 1, 0, 1]
    assert joined(history, temporal=False) == {pair(0, 1, t): 2.0 for t in range(3)}


def test_each_frame_uses_the_graph_in_force_at_that_frame():
    edges = np.zeros((1, 5, 3, 3))
    edges[0, :2, 0, 1] = 2.0
    edges[0, 2:, 1, 2] = 3.0
    spatial = joined(history_of(edges), temporal=False)
    assert spatial == {pair(0, 1, 0): 2.0, pair(0, 1, 1): 2.0, pair(1, 2, 2): 3.0}


def test_systems_of_a_batch_are_not_joined():
    edges = np.ones((2, 3, 3)) - np.eye(3)
    edges[1, 2] = edges[1, :, 2] = 0
    present = np.array([[True] * 3, [True, True, False]])
    spatial = joined(history_of(edges, systems=2, present=present), temporal=False)
    pairs = [(i, j) for i in range(3) for j in range(3) if i != j] + [(3, 4), (4, 3)]
    assert spatial == {pair(i, j, t): 1.0 for i, j in pairs for t in range(3)}


def test_dense_matrix_of_the_paper_on_difficult_data():
    data = uneven()
    windows = Windows(data, Normaliser.fit(data), CONDITION, HORIZON)
    history = windows.batch(np.arange(5), np.zeros(5, int)).history
    place = [(s, i) for s in range(5) for i in range(data.n_objects[s])]
    node = [
        (*place[k], t)
        for k, t in zip(history.node_object.tolist(), history.node_frame.tolist(), strict=True)
    ]
    edges = data.edges

    def in_force(s: int, t: int) -> int:
        started = (edges.graph_system == s) & (edges.graph_start <= data.times[s, t])
        return int(np.flatnonzero(started)[-1])

    expected = np.zeros((len(node), len(node)))
    for a, (s, i, t) in enumerate(node):
        for b, (r, j, u) in enumerate(node):
            if s != r:
                continue
            if t == u:
                here = (edges.edge_graph == in_force(s, t)) & (edges.edge_receiver == i)
                here &= edges.edge_sender == j
                expected[a, b] = edges.edge_attributes[here, 0].sum()
            seen_between = data.observed[s, i, t + 1 : u].any()
            if i == j and u > t and not seen_between:
                expected[a, b] = 1.0
    graph = history.graph
    dense = np.zeros_like(expected)
    dense[graph.receivers.numpy(), graph.senders.numpy()] = graph.weights.numpy()
    np.testing.assert_allclose(dense, expected, rtol=1e-6)
    seen = [data.observed[s, i, t].any() for s, i in place for t in range(CONDITION)]
    assert len(node) == sum(seen)


def test_moving_to_another_precision_keeps_the_nodes():
    history = history_of(one_edge_each_way())
    moved = history.to(dtype=torch.float64)
    assert moved.graph.weights.dtype == torch.float64
    assert joined(moved, temporal=False) == joined(history, temporal=False)
    assert torch.equal(moved.temporal, history.temporal)
