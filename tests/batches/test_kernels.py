"""How the rows of a compiled loop are divided among threads."""

import numpy as np
import pytest
import torch
from torch._subclasses import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from pgode.batches import kernels
from pgode.batches.graph import Graph


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def everything_is_worth_a_thread(monkeypatch, two_threads):
    monkeypatch.setattr(kernels, "PARALLEL_WORK", 0)


@pytest.mark.parametrize(
    "degrees, parts, expected",
    [
        ([2, 2, 2, 2], 2, [0, 2, 4]),
        ([2, 2, 2, 2], 4, [0, 1, 2, 3, 4]),
        ([6, 1, 1], 2, [0, 1, 3]),
        ([0, 0, 4, 4, 0, 0], 2, [0, 3, 6]),
        ([0, 0, 0], 2, [0, 0, 3]),
    ],
)
def test_rows_are_cut_where_the_edges_balance(degrees, parts, expected):
    offsets = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32)
    assert kernels.balanced_cuts(offsets, parts).tolist() == expected


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_every_row_is_in_exactly_one_range(parts):
    degrees = np.random.default_rng(0).integers(0, 5, 40)
    cuts = kernels.balanced_cuts(np.concatenate([[0], np.cumsum(degrees)]), parts)
    assert cuts[0] == 0 and cuts[-1] == 40
    assert len(cuts) == parts + 1
    assert (np.diff(cuts) >= 0).all()


def test_small_work_stays_on_the_calling_thread(two_threads):
    edges = kernels.PARALLEL_WORK // 100
    assert kernels.parts_for(np.array([0, edges - 1]), 100) == 1
    assert kernels.parts_for(np.array([0, edges]), 100) == 2


def test_each_row_is_visited_once_and_each_range_adds_to_its_own_share(
    everything_is_worth_a_thread,
):
    offsets = np.arange(0, 22, 2)
    visits, shares = np.zeros(10), np.zeros((2, 1))

    def kernel(start, stop, given, visited, share):
        assert given is offsets
        visited[start:stop] += 1
        share[0] += stop - start

    kernels.over_rows(kernel, offsets, 1, visits, shares=shares)
    assert visits.tolist() == [1] * 10
    assert shares.tolist() == [[5], [5]]


def test_error_in_another_thread_reaches_the_caller(everything_is_worth_a_thread):
    def kernel(start, stop, offsets):
        if start > 0:
            raise ZeroDivisionError("in the second range")

    with pytest.raises(ZeroDivisionError, match="second range"):
        kernels.over_rows(kernel, np.arange(5), 1)


class Names(TorchDispatchMode):
    """The names of all operators that run."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


@pytest.fixture
def sum_of_three():
    receivers, senders = np.array([0, 0, 2, 2]), np.array([1, 2, 0, 1])
    weights = np.array([[1.0], [2], [3], [4]])
    graph = Graph.from_edges(receivers, senders, weights, 3, dtype=torch.float64)
    tensors = [torch.randn(rows, 5, dtype=torch.float64) for rows in (3, 3, 1)]
    return graph, tensors


def test_without_a_gradient_the_sums_are_those_of_the_registered_operator(sum_of_three):
    graph, tensors = sum_of_three
    with_gradient = graph.neighbour_sum(*(x.clone().requires_grad_() for x in tensors))
    assert with_gradient.requires_grad
    assert torch.equal(graph.neighbour_sum(*tensors), with_gradient)
    with torch.no_grad():
        learned = [torch.nn.Parameter(x) for x in tensors]
        assert torch.equal(graph.neighbour_sum(*learned), with_gradient)


def test_what_records_operators_sees_the_registered_one(sum_of_three):
    graph, tensors = sum_of_three
    with Names() as names:
        graph.neighbour_sum(*tensors)
    assert "pgode.neighbour_sum.default" in names.seen


def test_fake_tensors_have_no_numbers_to_sum(sum_of_three):
    graph, tensors = sum_of_three
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        fake = [mode.from_tensor(x) for x in tensors]
        assert not kernels.only_numbers(*fake)
        assert graph.neighbour_sum(*fake).shape == (3, 5)


def scattered_square(side: int) -> Graph:
    """A periodic square lattice whose objects are listed in random order."""
    place = np.random.default_rng(3).permutation(side * side).reshape(side, side)
    senders = np.stack([np.roll(place, step, axis) for axis in (0, 1) for step in (-1, 1)])
    receivers = np.broadcast_to(place, senders.shape)
    weights = np.random.default_rng(4).normal(size=(senders.size, 2))
    edges = (receivers.ravel(), senders.ravel(), weights)
    return Graph.from_edges(*edges, side * side, dtype=torch.float64)


def test_clusters_hold_every_row_once_and_neighbours_near_each_other():
    graph = scattered_square(100)
    offsets, _, senders, _ = graph.arrays
    order = kernels.clustered(offsets, senders)
    assert sorted(order) == list(range(10_000))
    receivers = np.repeat(np.arange(10_000), 4)
    rank = np.argsort(order)
    apart = np.abs(rank[receivers] - rank[senders])
    assert np.median(apart) < 100 < np.median(np.abs(receivers - senders)) / 20


def test_clusters_reach_rows_without_neighbours_and_separate_parts():
    graph = Graph.from_edges(np.array([4, 1]), np.array([1, 4]), np.ones((2, 1)), 6)
    offsets, _, senders, _ = graph.arrays
    assert sorted(kernels.clustered(offsets, senders)) == list(range(6))


@pytest.mark.parametrize("operation", ["neighbour_sum", "attend", "weighted_sum"])
def test_the_order_of_rows_changes_no_digit(monkeypatch, everything_is_worth_a_thread, operation):
    def results():
        graph = scattered_square(12)
        torch.manual_seed(0)
        draw = [torch.randn(144, 5, dtype=torch.float64, requires_grad=True) for _ in range(3)]
        if operation == "neighbour_sum":
            draw[2] = torch.randn(2, 5, dtype=torch.float64)
            out = graph.neighbour_sum(*draw)
        elif operation == "attend":
            out = graph.attend(*draw, graph.weights)
        else:
            out = graph.weighted_sum(draw[0], graph.weights)
        given = [x for x in draw if x.requires_grad][: 1 if operation == "weighted_sum" else None]
        return graph.arrays[1], [out, *torch.autograd.grad(out.square().sum(), given)]

    order, stored = results()
    assert len(order) == 0
    monkeypatch.setattr(kernels, "SCATTERED", 100)
    order, clustered = results()
    assert sorted(order) == list(range(144))
    for one, other in zip(stored, clustered, strict=True):
        assert torch.equal(one, other)
