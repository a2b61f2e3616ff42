"""How the rows of a compiled loop are divided among threads."""

import numpy as np
import pytest
import torch

from pgode.batches import kernels


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
