"""Graphs of PyTorch Geometric by their attributes alone: neither torch nor PyG is needed."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pgode.data.files.pyg import from_pyg
from pgode.runtime.errors import InputError

RANDOM = np.random.default_rng(0)
ENDS = np.array([[0, 1, 2], [1, 2, 0]])


class Tensor:
    """As much of a tensor as is used: it may be on another device, with a gradient."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def detach(self) -> "Tensor":
        return self

    def cpu(self) -> "Tensor":
        return self

    def numpy(self) -> np.ndarray:
        return self.values


def graph(**content: Any) -> SimpleNamespace:
    return SimpleNamespace(**{"edge_index": ENDS, **content})


def test_a_graph_with_a_time_axis_is_a_system() -> None:
    x = RANDOM.normal(size=(3, 5, 2))
    data = from_pyg([graph(x=Tensor(x)), graph(x=Tensor(2 * x))], features=["a", "b"], times=0.5)
    np.testing.assert_array_equal(data.states, [x, 2 * x])
    assert data.features == ("a", "b")
    assert data.times.tolist() == [[0, 0.5, 1, 1.5, 2]] * 2
    edges = data.edges
    assert edges.edge_sender.tolist() == [2, 0, 1] * 2
    assert edges.edge_receiver.tolist() == [0, 1, 2] * 2
    assert (edges.edge_attributes == 1).all()


def test_systems_may_differ_in_objects_and_frames() -> None:
    small = graph(x=np.ones((2, 3, 1)), edge_index=np.array([[0], [1]]))
    data = from_pyg([graph(x=np.zeros((3, 5, 1))), small])
    assert data.n_objects.tolist() == [3, 2] and data.n_frames.tolist() == [5, 3]
    assert data.features == ("feature0",)
    assert np.isnan(data.states[1, :, 3:]).all()


def test_snapshots_are_the_frames_of_one_system_and_graphs_start_where_they_change() -> None:
    x = RANDOM.normal(size=(4, 3, 2))
    ends = [ENDS, ENDS[:, [2, 0, 1]], ENDS[:, :2], ENDS[:, :2]]
    snapshots = [graph(x=x[k], edge_index=ends[k], time=10.0 + 2 * k) for k in range(4)]
    data = from_pyg(snapshots)
    assert (data.systems, data.frames) == (1, 4)
    np.testing.assert_array_equal(data.states[0], x.transpose(1, 0, 2))
    assert data.times[0].tolist() == [10, 12, 14, 16]
    assert data.edges.graph_start.tolist() == [10, 14]
    several = from_pyg([snapshots, snapshots[:2]])
    assert several.n_frames.tolist() == [4, 2]


def test_positions_and_velocities_have_their_roles_and_a_still_x_is_constant() -> None:
    pos, vel = RANDOM.normal(size=(2, 3, 4, 2))
    data = from_pyg(graph(pos=pos, vel=vel, x=np.array([[1.0], [2.0], [3.0]])))
    assert data.features == ("x", "y", "vx", "vy")
    assert data.dataset["feature_role"].values.tolist() == ["position"] * 2 + ["velocity"] * 2
    assert data.constant_names == ("constant0",)
    assert data.constants[0, :, 0].tolist() == [1, 2, 3]
    wide = from_pyg(graph(pos=pos, x=RANDOM.normal(size=(3, 4, 1))))
    assert wide.features == ("x", "y", "feature0")
    assert wide.dataset["feature_role"].values.tolist() == ["position", "position", "value"]


def test_y_continues_the_frames() -> None:
    x, y = np.zeros((3, 4, 1)), np.ones((3, 2, 1))
    assert from_pyg(graph(x=x, y=y)).states[0, 0, :, 0].tolist() == [0, 0, 0, 0, 1, 1]
    assert from_pyg(graph(x=x, y=y), y="ignore").frames == 4
    steps = RANDOM.normal(size=(4, 3, 1))
    snapshots = [graph(x=steps[k], y=steps[k + 1, :, 0], t=float(k)) for k in range(3)]
    data = from_pyg(snapshots)
    np.testing.assert_array_equal(data.states[0, :, :, 0], steps[:, :, 0].T)
    assert data.times[0].tolist() == [0, 1, 2, 3]


def test_nan_is_missing() -> None:
    x = np.zeros((3, 4, 1))
    x[1, 2] = np.nan
    assert np.argwhere(~from_pyg(graph(x=x)).observed).tolist() == [[0, 1, 2, 0]]


def test_edge_attributes_of_one_column_are_weights_and_others_come_after_one() -> None:
    x = np.zeros((3, 4, 1))
    one = from_pyg(graph(x=x, edge_attr=np.array([1.0, 2.0, 3.0]))).edges
    assert one.edge_attributes[:, 0].tolist() == [3, 1, 2]
    two = from_pyg(graph(x=x, edge_attr=np.arange(6.0).reshape(3, 2))).edges
    assert two.attribute_names == ("weight", "attribute0", "attribute1")
    assert two.edge_attributes.tolist() == [[1, 4, 5], [1, 0, 1], [1, 2, 3]]
    both = graph(x=x, edge_weight=np.full(3, 0.5), edge_attr=np.ones((3, 1)))
    found = from_pyg(both, edge_attributes=["length"]).edges
    assert found.attribute_names == ("weight", "length")
    assert found.edge_attributes.tolist() == [[0.5, 1]] * 3
    assert from_pyg(graph(x=x, edge_index=None)).edges.edge_graph.size == 0


def snapshots_of_two_sizes() -> list[SimpleNamespace]:
    return [graph(x=np.zeros((3, 1))), graph(x=np.zeros((4, 1)))]


STILL = {"x": np.zeros((3, 1))}
MOVING = {"x": np.zeros((3, 4, 1))}
WRONG: list[tuple[str, Any, str]] = [
    ("nothing", [], "there is no graph in the given graphs"),
    ("a word", "graphs", "there is no graph"),
    ("no graph", [3], "there is no graph in system 0 of the given graphs"),
    ("no states", [graph()], "has neither x nor pos nor vel"),
    ("mixed", [graph(**STILL), graph(**MOVING)], "graphs 0 and 1 of the given graphs differ"),
    ("nested", [[graph(**MOVING), graph(**MOVING)]], "a list of 2 graphs with a time axis"),
    ("sizes", snapshots_of_two_sizes(), "snapshot 1 of system 0 .* has 4 objects"),
    ("parts", graph(**MOVING, pos=np.zeros((3, 5, 2))), r"pos of shape \(3, 5, 2\), x of shape"),
    ("widths", [graph(**MOVING), graph(x=np.zeros((3, 4, 2)))], "system 1 .* has 2 features"),
    ("y", graph(**MOVING, y=np.zeros(3)), r'y of system 0 .* shape \(3,\).*y="ignore"'),
    ("next", [graph(**STILL, y=np.ones(3))] * 2, "y of snapshot 0 .* is not what snapshot 1 holds"),
    ("clock", graph(**MOVING, time=np.zeros(3)), '3 times in "time" and 4 frames'),
    ("ends", graph(**MOVING, edge_index=np.zeros((2, 1))), "edge_index of graph 0 .* float64"),
    ("rows", graph(**MOVING, edge_attr=np.ones(2)), r"edge_attr of graph 0 .* shape \(2,\)"),
    ("loop", graph(**MOVING, edge_index=np.array([[1], [1]])), "is a self edge"),
    (
        "attributes",
        [graph(**MOVING), graph(**MOVING, edge_attr=np.ones((3, 2)))],
        "have 1 or 3 edge attributes",
    ),
]


@pytest.mark.parametrize("given, says", [each[1:] for each in WRONG], ids=[e[0] for e in WRONG])
def test_what_is_no_trajectory_is_refused_with_a_sentence(given: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        from_pyg(given)


def test_an_unknown_way_to_read_y_is_refused() -> None:
    with pytest.raises(InputError, match='no way to read y "latr"'):
        from_pyg(graph(**MOVING), y="latr")  # type: ignore[arg-type]
