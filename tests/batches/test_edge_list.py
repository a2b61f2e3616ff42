"""A plain list of edges computes what compressed rows compute."""

import numpy as np
import pytest
import torch

from pgode.batches.edge_list import EdgeList
from pgode.batches.graph import Graph

ROWS, CHANNELS = 6, 5


@pytest.fixture
def both() -> tuple[Graph, EdgeList]:
    """One graph in two forms; the last object has no neighbours."""
    random = np.random.default_rng(0)
    joined = (random.random((ROWS, ROWS)) < 0.6) & ~np.eye(ROWS, dtype=bool)
    joined[-1] = False
    receivers, senders = np.nonzero(joined)
    attributes = random.normal(size=(len(senders), 2))
    rows = Graph.from_edges(receivers, senders, attributes, ROWS, dtype=torch.float64)
    listed = EdgeList.of(
        torch.from_numpy(receivers), torch.from_numpy(senders), torch.from_numpy(attributes), ROWS
    )
    return rows, listed


def values(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def test_sums_over_neighbours_are_those_of_compressed_rows(both: tuple[Graph, EdgeList]) -> None:
    rows, listed = both
    a, b, query, key = (values(ROWS, CHANNELS) for _ in range(4))
    edge, weights, per_edge = values(2, CHANNELS), values(rows.edges), values(rows.edges, CHANNELS)
    for name, given in {
        "neighbour_sum": (a, b, edge),
        "weighted_sum": (b, weights),
        "attend": (query, key, b, weights),
        "softmax_attend": (query, key, b, weights),
        "at_receivers": (a,),
        "at_senders": (a,),
        "edge_sum": (per_edge,),
    }.items():
        expected, found = (getattr(each, name)(*given) for each in both)
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(listed.neighbour_sums(edge)(a, b), rows.neighbour_sum(a, b, edge))


def test_sizes_and_degrees_are_those_of_compressed_rows(both: tuple[Graph, EdgeList]) -> None:
    rows, listed = both
    assert (listed.rows, listed.columns, listed.edges) == (rows.rows, rows.columns, rows.edges)
    assert listed.degree.tolist() == rows.degree.tolist()
    assert listed.receivers.tolist() == rows.receivers.tolist()


def test_reversed_graphs_send_the_other_way(both: tuple[Graph, EdgeList]) -> None:
    x = values(ROWS, CHANNELS)
    rows, listed = (each.reversed() for each in both)
    expected = rows.weighted_sum(x, rows.weights)
    torch.testing.assert_close(listed.weighted_sum(x, listed.weights), expected)


def test_kinds_of_edges_are_those_of_compressed_rows(both: tuple[Graph, EdgeList]) -> None:
    second = torch.rand(both[0].edges) < 0.4
    query, key, value = values(ROWS, CHANNELS), values(2 * ROWS, CHANNELS), values(2 * ROWS, 3)
    rows, listed = (each.with_kinds(second) for each in both)
    assert listed.senders.tolist() == rows.senders.tolist()
    expected = rows.softmax_attend(query, key, value, rows.weights)
    torch.testing.assert_close(
        listed.softmax_attend(query, key, value, listed.weights), expected, rtol=1e-12, atol=1e-12
    )


def test_all_pairs_are_those_of_compressed_rows() -> None:
    system = torch.tensor([0, 0, 0, 1, 2, 2])
    expected, found = Graph.complete(system), EdgeList.all_pairs(system)
    assert found.receivers.tolist() == expected.receivers.tolist()
    assert found.senders.tolist() == expected.senders.tolist()
    assert found.attributes.tolist() == expected.attributes.tolist()
