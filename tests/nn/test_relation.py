"""The linear map of a pair against one dense matrix, edge by edge."""

import pytest
import torch
from torch.testing import assert_close

from pgode.nn.relation import EdgeRelation, Relation

INPUTS, OUTPUTS = 3, 4


@pytest.fixture
def x(batch):
    torch.manual_seed(0)
    return torch.randn(batch.objects, INPUTS).double()


def pairs(x, e, graph, relation, edge) -> torch.Tensor:
    """W [x_i, x_j, e_ij] + b with W whole."""
    weight = torch.cat([relation.receive.weight, relation.send.weight, edge], dim=1)
    joined = torch.cat([x[graph.receivers], x[graph.senders.long()], e], dim=1)
    return joined @ weight.T + relation.receive.bias


def test_neighbour_sum_is_that_of_relu_of_one_matrix(batch, x):
    relation, graph = Relation(INPUTS, OUTPUTS, 2).double(), batch.graph
    rows = torch.relu(pairs(x, graph.attributes, graph, relation, relation.edge.T))
    expected = torch.zeros(batch.objects, OUTPUTS).double().index_add(0, graph.receivers, rows)
    assert_close(relation.neighbour_sum(x, graph), expected)


@pytest.mark.parametrize("bound", [None, 1.0])
def test_edge_part_starts_within_its_bound(bound):
    torch.manual_seed(0)
    edge = Relation(16, 50, 20, bound).edge
    limit = 0.25 if bound is None else bound
    assert 0.95 * limit < edge.abs().max() <= limit


def test_rows_of_edges_are_those_of_one_matrix(batch, x):
    graph, e = batch.graph, torch.randn(batch.graph.edges, 5).double()
    relation = EdgeRelation(INPUTS, OUTPUTS, 5).double()
    expected = pairs(x, e, graph, relation, relation.edge.weight)
    assert_close(relation(x, graph, e), expected)
    assert_close(relation.add_ends(x, graph, relation.edge_part(e)), expected)


def test_edges_may_have_no_part(batch, x):
    relation, none = EdgeRelation(INPUTS, OUTPUTS).double(), torch.zeros(batch.graph.edges, 0)
    expected = pairs(x, none.double(), batch.graph, relation, torch.zeros(OUTPUTS, 0).double())
    assert_close(relation(x, batch.graph), expected)


def test_gradients_reach_every_part(batch, x):
    graph, e = batch.graph, torch.randn(batch.graph.edges, 5).double().requires_grad_()
    relation = EdgeRelation(INPUTS, OUTPUTS, 5).double()
    relation(x, graph, e).square().sum().backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in relation.parameters())
    assert e.grad.abs().sum() > 0
