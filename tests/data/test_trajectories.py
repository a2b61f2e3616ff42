"""Trajectories: their content, and that every selection stays consistent."""

import json

import numpy as np
import pytest
from tests.plain_trajectories import FEATURES, build, plain

from pgode.data.trajectories import Edges, Trajectories
from pgode.runtime.errors import InputError


def uneven() -> Trajectories:
    """Systems of 4, 2 and 3 objects and of 5, 3 and 5 frames, a gap, and graphs that change."""
    present = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 1, 0]], dtype=bool)
    times = np.array([[0, 1, 2, 3, 4], [10, 11, 13, np.nan, np.nan], [5, 6, 7, 8, 9.5]])
    observed = np.ones((3, 4, 5, 4), dtype=bool)
    observed[0, 2, 1, 3] = False
    edges = np.zeros((3, 5, 4, 4))
    edges[0, :, 1, 0] = 1
    edges[0, 2:, 0, 3] = 2
    edges[1, :2, 0, 1] = 3
    edges[2, :, 2, 0] = 4
    edges[2, 3, 1, 0] = 5
    states = plain()["states"]
    states[~present] = np.nan
    states[1, :, 3:] = np.nan
    states[0, 2, 1, 3] = np.nan
    return build(
        states=states,
        times=times,
        edges=edges,
        present=present,
        observed=observed,
        group=np.where(present, 7, -1),
        kind=[[2, 0, 1, 0], [1, 0, 5, 5], [0, 1, 2, 9]],
        time_units="s",
    )


def listed(edges: Edges) -> list[tuple[int, float, int, int, float]]:
    """Every edge as (system, start of its graph, receiver, sender, weight)."""
    graph = edges.edge_graph
    columns = (
        edges.graph_system[graph],
        edges.graph_start[graph],
        edges.edge_receiver,
        edges.edge_sender,
        edges.edge_attributes[:, 0],
    )
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_build_keeps_values_and_fills_in_what_was_not_given():
    given = plain()
    t = build()
    np.testing.assert_array_equal(t.states, given["states"])
    np.testing.assert_array_equal(t.times, np.tile(given["times"], (3, 1)))
    np.testing.assert_array_equal(t.parameters, given["parameters"])
    assert (t.systems, t.objects, t.frames, t.features) == (3, 4, 5, FEATURES)
    assert t.observed.all()
    assert t.present.all()
    assert t.split.tolist() == ["train", "test", "train"]
    assert (t.dataset["group"].values == -1).all()
    assert t.dataset.attrs["seed"] == -1
    assert listed(t.edges) == [
        (0, 0.0, 0, 2, 0.5),
        (0, 0.0, 1, 0, 1.0),
        (1, 0.0, 2, 3, 2.0),
        (2, 0.0, 3, 1, -1.0),
    ]


def test_the_dataset_has_the_types_of_the_schema():
    ds = uneven().dataset
    kinds = {name: ds[name].dtype.str.lstrip("<|") for name in ds.variables}
    assert {kinds[n] for n in ("states", "times", "parameters", "edge_attributes")} == {"f8"}
    assert {kinds[n] for n in ("graph_system", "edge_graph", "edge_receiver", "group")} == {"i4"}
    assert {kinds[n] for n in ("observed", "present")} == {"b1"}
    assert ds["split"].dtype.kind == ds["feature"].dtype.kind == "U"
    assert ds["times"].attrs["units"] == ds.attrs["time_units"] == "s"


def test_the_given_arrays_are_copied():
    given = plain()
    states = given["states"]
    t = build(states=states)
    before = t.states.copy()
    states[:] = 0
    np.testing.assert_array_equal(t.states, before)


def test_values_that_are_not_observed_become_nan_whatever_they_were():
    observed = np.ones((3, 4, 5, 4), dtype=bool)
    observed[1, 2, 3, 0] = False
    states = plain()["states"]
    t = build(observed=observed, states=states)
    assert np.isnan(t.states[1, 2, 3, 0])
    assert np.isnan(t.states).sum() == 1
    states[1, 2, 3, 0] = np.inf
    assert build(observed=observed, states=states).hash == t.hash


def test_systems_may_differ_in_objects_frames_and_times():
    t = uneven()
    assert t.n_objects.tolist() == [4, 2, 3]
    assert t.n_frames.tolist() == [5, 3, 5]
    assert not t.observed[1, 2:].any()
    assert not t.observed[1, :, 3:].any()
    assert t.observed[0].sum() == 4 * 5 * 4 - 1
    assert (np.isnan(t.states) == ~t.observed).all()


def test_an_object_with_no_observed_value_is_allowed():
    observed = np.ones((3, 4, 5, 4), dtype=bool)
    observed[0, 3] = False
    assert not build(observed=observed).observed[0, 3].any()


def test_dense_edges_in_time_start_a_graph_where_they_change():
    edges = uneven().edges
    assert list(zip(edges.graph_system.tolist(), edges.graph_start.tolist(), strict=True)) == [
        (0, 0.0),
        (0, 2.0),
        (1, 10.0),
        (1, 13.0),
        (2, 5.0),
        (2, 8.0),
        (2, 9.5),
    ]
    assert listed(edges) == [
        (0, 0.0, 1, 0, 1.0),
        (0, 2.0, 0, 3, 2.0),
        (0, 2.0, 1, 0, 1.0),
        (1, 10.0, 0, 1, 3.0),
        (2, 5.0, 2, 0, 4.0),
        (2, 8.0, 1, 0, 5.0),
        (2, 8.0, 2, 0, 4.0),
        (2, 9.5, 2, 0, 4.0),
    ]


def test_dense_edges_that_never_change_are_the_same_as_static_ones():
    dense = np.repeat(plain()["edges"][:, None], 5, axis=1)
    assert build(edges=dense).hash == build().hash


def test_edges_in_any_order_are_stored_in_one_and_zero_weights_are_no_edges():
    edges = build().edges
    order = np.array([2, 0, 3, 1])
    graphs = np.array([2, 0, 1])
    shuffled = Edges(
        edges.graph_system[graphs],
        edges.graph_start[graphs],
        np.append(np.argsort(graphs)[edges.edge_graph[order]], 0),
        np.append(edges.edge_receiver[order], 0),
        np.append(edges.edge_sender[order], 1),
        np.append(edges.edge_attributes[order], [[0.0]], axis=0),
    )
    assert build(edges=shuffled).hash == build().hash


def test_select_keeps_each_systems_states_and_graphs_together():
    t = uneven()
    chosen = t.select([2, 0])
    np.testing.assert_array_equal(chosen.states, t.states[[2, 0]])
    np.testing.assert_array_equal(chosen.times, t.times[[2, 0]])
    assert chosen.n_objects.tolist() == [3, 4]
    expected = [(0, *e[1:]) for e in listed(t.edges) if e[0] == 2]
    expected += [(1, *e[1:]) for e in listed(t.edges) if e[0] == 0]
    assert listed(chosen.edges) == expected
    assert Trajectories.from_dataset(chosen.dataset).hash == chosen.hash


def test_select_keeps_graphs_without_edges():
    t = uneven().select([1])
    assert t.edges.graph_start.tolist() == [10.0, 13.0]
    assert listed(t.edges) == [(0, 10.0, 0, 1, 3.0)]


def test_select_takes_masks_negative_indices_and_repeats():
    t = uneven()
    assert t.select(np.array([True, False, True])).hash == t.select([0, 2]).hash
    assert t.select(-1).hash == t.select([2]).hash
    twice = t.select([1, 1])
    assert listed(twice.edges) == [(0, 10.0, 0, 1, 3.0), (1, 10.0, 0, 1, 3.0)]
    assert t.select([0, 1, 2]).hash == t.hash


@pytest.mark.parametrize("wrong", [[3], [-4], [], [True, False], [0.5], [False] * 3, [[0]]])
def test_select_refuses_what_selects_nothing_or_too_much(wrong):
    with pytest.raises(InputError, match=r"from 3 systems.*index from 0 to 2"):
        build().select(np.array(wrong))


def test_split_of_takes_one_split_and_names_those_that_exist():
    t = build()
    assert t.split_of("train").hash == t.select([0, 2]).hash
    with pytest.raises(InputError, match=r'"ood".*train, test'):
        t.split_of("ood")


def test_frames_between_keeps_only_graphs_in_force_there():
    t = uneven()
    window = t.frames_between(1, 3)
    np.testing.assert_array_equal(window.states, t.states[:, :, 1:3])
    np.testing.assert_array_equal(window.times, t.times[:, 1:3])
    assert listed(window.edges) == [
        (0, 0.0, 1, 0, 1.0),
        (0, 2.0, 0, 3, 2.0),
        (0, 2.0, 1, 0, 1.0),
        (1, 10.0, 0, 1, 3.0),
        (2, 5.0, 2, 0, 4.0),
    ]
    assert window.edges.graph_start.tolist() == [0.0, 2.0, 10.0, 13.0, 5.0]
    assert Trajectories.from_dataset(window.dataset).hash == window.hash


def test_frames_between_drops_a_graph_that_ends_when_the_window_starts():
    assert uneven().select([0]).frames_between(2, 4).edges.graph_start.tolist() == [2.0]


@pytest.mark.parametrize(
    "start, stop, message",
    [(2, 2, "0 <= start < stop <= 5"), (0, 6, "5 frames"), (3, 5, "system 1 has 3 frames")],
)
def test_frames_between_refuses_empty_ranges(start, stop, message):
    with pytest.raises(InputError, match=message):
        uneven().frames_between(start, stop)


def test_permuted_moves_states_masks_and_edges_alike():
    t = build()
    order = [2, 0, 3, 1]
    moved = t.permuted(order)
    np.testing.assert_array_equal(moved.states, t.states[:, order])
    assert listed(moved.edges) == [
        (0, 0.0, 1, 0, 0.5),
        (0, 0.0, 3, 1, 1.0),
        (1, 0.0, 0, 2, 2.0),
        (2, 0.0, 2, 3, -1.0),
    ]
    assert moved.permuted(np.argsort(order)).hash == t.hash


def test_kinds_are_kept_for_present_objects_and_follow_every_selection():
    t = uneven()
    assert t.kinds.tolist() == [[2, 0, 1, 0], [1, 0, -1, -1], [0, 1, 2, -1]]
    assert t.kinds.dtype == np.int32
    assert t.select([2, 0]).kinds.tolist() == [[0, 1, 2, -1], [2, 0, 1, 0]]
    assert t.permuted([3, 2, 1, 0]).kinds.tolist() == [[0, 1, 0, 2], [0, 1, -1, -1], [2, 1, 0, -1]]
    assert t.frames_between(0, 2).kinds.tolist() == t.kinds.tolist()
    assert Trajectories.from_dataset(t.dataset).hash == t.hash
    assert t.summary()["kinds"] == {"0": 4, "1": 3, "2": 2}


def test_permuted_leaves_the_original_alone_and_absent_objects_last():
    t = uneven()
    before = t.states.copy()
    moved = t.permuted([3, 2, 1, 0])
    np.testing.assert_array_equal(t.states, before)
    assert moved.n_objects.tolist() == [4, 2, 3]
    np.testing.assert_array_equal(moved.states[1, :2], t.states[1, [1, 0]])
    np.testing.assert_array_equal(moved.states[2, :3], t.states[2, [2, 1, 0]])
    assert (1, 10.0, 1, 0, 3.0) in listed(moved.edges)
    assert Trajectories.from_dataset(moved.dataset).hash == moved.hash


def test_permuted_refuses_what_is_no_permutation():
    with pytest.raises(InputError, match="not a permutation of 4 objects"):
        build().permuted([0, 1, 1, 3])


def test_from_dataset_accepts_any_order_of_dims_and_less_precise_types():
    t = uneven()
    turned = t.dataset.transpose(..., "system", "feature", "object")
    assert Trajectories.from_dataset(turned).hash == t.hash
    single = build(states=plain()["states"].astype(np.float32))
    assert single.states.dtype == np.float64


def test_from_dataset_needs_only_states_times_names_and_graphs():
    optional = ["observed", "present", "group", "split", "feature_role", "parameter_units"]
    bare = build(split=None).dataset.drop_vars(optional)
    assert Trajectories.from_dataset(bare).hash == build(split=None).hash


@pytest.mark.parametrize(
    "features, roles, variables",
    [
        (("qx", "qy", "vx", "vy"), "ppvv", ("q", "q", "v", "v")),
        (("vx", "vy", "qx", "qy"), "vvpp", ("v", "v", "q", "q")),
        (("x", "y", "vx", "vy"), "ppvv", ("position", "position", "v", "v")),
        (("pos_x", "pos_y", "vel_x", "vel_y"), "ppvv", ("pos", "pos", "vel", "vel")),
        (("q", "v", "mass", "m2"), "pv--", ("q", "v", "mass", "m2")),
        (("qx", "qy", "vx", "mass"), "----", ("q", "q", "vx", "mass")),
        (("qx", "qy", "vy", "vx"), "----", ("q", "q", "v", "v")),
        (("cases", "deaths", "value", "quality"), "----", ("cases", "deaths", "value", "quality")),
    ],
)
def test_roles_and_variables_are_guessed_only_when_they_pair_up(features, roles, variables):
    words = {"p": "position", "v": "velocity", "-": "value"}
    t = build(features=features)
    assert t.dataset["feature_role"].values.tolist() == [words[letter] for letter in roles]
    assert t.dataset["feature_variable"].values.tolist() == list(variables)


def test_positions_velocities_and_variables_are_found_by_index():
    t = build(features=("vx", "qx", "vy", "qy"))
    assert t.position_features.tolist() == [1, 3]
    assert t.velocity_features.tolist() == [0, 2]
    assert {name: index.tolist() for name, index in t.variables.items()} == {
        "v": [0, 2],
        "q": [1, 3],
    }
    assert list(t.variables) == ["v", "q"]


def test_summary_is_json_and_counts_right():
    found = json.loads(json.dumps(uneven().summary(), allow_nan=False))
    assert found["systems"] == 3
    assert found["splits"] == {"train": 2, "test": 1}
    assert found["objects"] == {"min": 2, "max": 4}
    assert found["frames"] == {"min": 3, "max": 5}
    assert found["times"] == {"min": 0.0, "max": 13.0}
    assert found["time_step"] == {"min": 1.0, "max": 2.0}
    assert found["observed_fraction"] == pytest.approx(1 - 1 / ((4 * 5 + 2 * 3 + 3 * 5) * 4))
    assert (found["graphs"], found["edges"]) == (7, 8)
    assert found["features"][2] == {"name": "vx", "role": "velocity", "variable": "v", "units": ""}
    unknown = build(parameters=np.full((3, 2), np.nan)).summary()
    assert unknown["parameters"]["box"] == {"units": "", "range": None}
