"""Mixtures of a few objects: one compiled function gives the numbers of the operators."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from pgode.batches.graph import Graph
from pgode.models.pgode.dynamics import compiled
from pgode.models.pgode.dynamics.compiled import compiled_mixture
from pgode.models.pgode.dynamics.messages import ContextRelation
from pgode.models.pgode.dynamics.update import Update

PROTOTYPES, WIDTH, CONTEXT = 3, 6, 4


def complete(objects: int, attributes: int, dtype: torch.dtype) -> Graph:
    """All pairs, with random attributes."""
    receivers, senders = np.nonzero(~np.eye(objects, dtype=bool))
    values = np.random.default_rng(0).normal(size=(len(senders), attributes))
    return Graph.from_edges(receivers, senders, values, objects, dtype=dtype)


def mixtures(objects=5, inputs=7, attributes=1, context=0, dtype=torch.float32):
    """The compiled mixture, that of the operators, and the states that the latter was given."""
    torch.manual_seed(0)
    gather = ContextRelation(inputs, PROTOTYPES * WIDTH, attributes, context).to(dtype)
    update = Update(WIDTH, PROTOTYPES).to(dtype)
    graph = complete(objects, attributes, dtype)
    gate = torch.rand(objects, PROTOTYPES, dtype=dtype)
    given = torch.randn(objects, context, dtype=dtype) if context else None
    seen = []

    def operators(z):
        seen.append(z)
        return update.bind(gate)(gather.bind(graph, given)(z))

    with torch.no_grad():
        one = compiled_mixture(gather, update, graph, gate, given, operators)
    return one, operators, seen


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    "sizes",
    [
        {"objects": 4, "inputs": 8},
        {"objects": 5, "inputs": 7},
        {"objects": 1, "inputs": 3},
        {"attributes": 3},
        {"context": CONTEXT},
    ],
    ids=str,
)
def test_the_numbers_are_those_of_the_operators(sizes, dtype):
    one, operators, seen = mixtures(**sizes, dtype=dtype)
    z = torch.randn(sizes.get("objects", 5), sizes.get("inputs", 7), dtype=dtype)
    with torch.no_grad():
        expected = operators(z)
        seen.clear()
        assert_close(one(z), expected)
    assert not seen


def test_a_state_that_wants_a_gradient_goes_through_the_operators():
    one, _, seen = mixtures()
    z = torch.randn(5, 7, requires_grad=True)
    (slope,) = torch.autograd.grad(one(z).sum(), z)
    assert len(seen) == 1 and slope.abs().sum() > 0


def test_many_objects_go_through_the_operators():
    one, operators, _ = mixtures(objects=compiled.FEW + 1)
    assert one is operators


def test_two_calls_share_nothing():
    one, operators, _ = mixtures()
    first, second = torch.randn(5, 7), torch.randn(5, 7)
    with torch.no_grad():
        kept = one(first)
        one(second)
        assert_close(kept, operators(first))
