"""Trajectories as PyTorch Geometric has them, with its own class, and back without loss."""

import sys
import warnings

import numpy as np
import pytest
import torch
from tests.runs.exchange import clinics
from tests.small_systems import uneven
from tests.trained_runs import springs

import pgode
from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError

with warnings.catch_warnings():  # It uses parts of torch that torch is going to drop.
    warnings.simplefilter("ignore")
    from torch_geometric.data import Batch, Data


def assert_same(found: Trajectories, expected: Trajectories) -> None:
    assert found.hash == expected.hash
    assert found.dataset.attrs == expected.dataset.attrs
    assert set(found.dataset.variables) == set(expected.dataset.variables)


@pytest.mark.parametrize("snapshots", [False, True])
@pytest.mark.parametrize("make", [springs, clinics.data], ids=["springs", "clinics"])
def test_there_and_back_nothing_changes(make, snapshots: bool) -> None:
    data = make()
    graphs = pgode.to_pyg(data, snapshots=snapshots)
    assert len(graphs) == data.systems
    assert_same(pgode.from_pyg(graphs), data)


def test_graphs_that_change_need_snapshots() -> None:
    data = uneven()
    with pytest.raises(InputError, match=r"system 0 has 3 graphs one after the other.*snaps"):
        pgode.to_pyg(data)
    graphs = pgode.to_pyg(data, snapshots=True)
    assert [len(each) for each in graphs] == data.n_frames.tolist()
    assert_same(pgode.from_pyg(graphs), data)


def test_a_graph_is_what_pyg_expects() -> None:
    data = springs()
    first = pgode.to_pyg(data)[0]
    assert isinstance(first, Data) and first.validate()
    assert first.num_nodes == data.objects and first.x.shape == data.states.shape[1:]
    assert first.edge_index.dtype == torch.int64
    edges = data.edges.select(np.array([0]))
    assert first.edge_index.tolist() == [edges.edge_sender.tolist(), edges.edge_receiver.tolist()]
    assert (first.split, first.features) == ("train", ["qx", "qy", "vx", "vy"])
    single = pgode.to_pyg(data, dtype=torch.float32)[0]
    assert single.x.dtype == single.edge_weight.dtype == single.time.dtype == torch.float32


def test_a_batch_is_taken_apart() -> None:
    graphs = pgode.to_pyg(springs())
    batch = Batch.from_data_list(graphs)
    assert batch.num_graphs == springs().systems
    assert pgode.from_pyg(batch).hash == springs().hash


def test_graphs_made_with_pyg_become_trajectories() -> None:
    torch.manual_seed(0)
    graphs = [
        Data(
            pos=torch.randn(4, 6, 3, requires_grad=True),
            vel=torch.randn(4, 6, 3),
            x=torch.ones(4, 1),
            edge_index=torch.tensor([[0, 1], [2, 3]]),
            edge_attr=torch.rand(2, 1),
            y=torch.randn(4, 2, 6),
        )
        for _ in range(3)
    ]
    data = pgode.from_pyg(graphs, times=0.1, split=["train", "val", "test"])
    assert data.states.shape == (3, 4, 8, 6) and data.constants.shape == (3, 4, 1)
    np.testing.assert_array_equal(data.states[1, :, 6:], graphs[1].y.numpy())
    assert data.edges.edge_attributes[:2, 0].tolist() == graphs[0].edge_attr[:, 0].tolist()


def test_without_pyg_the_sentence_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch_geometric.data", None)
    with pytest.raises(InputError, match="pip install torch_geometric"):
        pgode.to_pyg(springs())
