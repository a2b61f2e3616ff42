"""Edges by rule and from files, compared with plain loops over pairs."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pgode
from pgode.data.files.table import from_frame, recipe_of


def crowd(objects: int = 6, frames: int = 8, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    rows = [(f"p{k}", t, *random.uniform(0, 4, 2)) for t in range(frames) for k in range(objects)]
    return pd.DataFrame(rows, columns=["id", "time", "x", "y"])


def edges_at(data: pgode.Trajectories, time: float) -> set[tuple[int, int]]:
    """(sender, receiver) pairs of the graph in force."""
    edges = data.edges
    graph = np.flatnonzero(edges.graph_start <= time)[-1]
    chosen = edges.edge_graph == graph
    senders, receivers = edges.edge_sender[chosen], edges.edge_receiver[chosen]
    return set(zip(senders.tolist(), receivers.tolist(), strict=True))


def distances(data: pgode.Trajectories, frame: int) -> np.ndarray:
    points = data.states[0, :, frame, :2]
    found = np.linalg.norm(points[:, None] - points[None], axis=-1)
    found[np.isnan(found)] = np.inf
    np.fill_diagonal(found, np.inf)
    return found


def test_radius_joins_who_is_near_in_each_frame() -> None:
    data = pgode.from_table(crowd(), edges="radius:1.5", split_by="none")
    assert data.graph_rule == (1.5, 1.0)
    for frame in (0, 3, 7):
        near = distances(data, frame) < 1.5
        expected = {(int(s), int(r)) for r, s in np.argwhere(near)}
        assert edges_at(data, frame) == expected
    assert data.edges.attribute_names == ("weight", "distance")


def test_nearest_neighbours_act_on_each_object_with_a_position() -> None:
    table = crowd().drop(index=[13])  # p1 at time 2
    data = pgode.from_table(table, edges="knn:2", split_by="none")
    for frame in (0, 2, 5):
        apart = distances(data, frame)
        expected = {
            (int(s), r) for r in range(6) for s in np.argsort(apart[r])[:2] if apart[r, s] < np.inf
        }
        assert edges_at(data, frame) == expected
    assert not any(1 in pair for pair in edges_at(data, 2))
    lengths = data.edges.edge_attributes[:, 1]
    first = data.edges.edge_graph == 0
    np.testing.assert_allclose(
        np.sort(lengths[first]), np.sort(np.sort(distances(data, 0), axis=1)[:, :2].ravel())
    )


def test_graphs_may_be_rebuilt_less_often_or_never() -> None:
    slow = pgode.from_table(crowd(), edges="knn:2", edges_every=3, split_by="none")
    assert slow.edges.graph_start.tolist() == [0, 3, 6]
    static = pgode.from_table(crowd(), edges="radius:2", edges_every="static", split_by="none")
    assert static.edges.graph_start.tolist() == [0] and static.graph_rule is None


def test_graph_stays_in_force_where_nothing_was_observed() -> None:
    table = crowd()
    data = pgode.from_table(table[table["time"] != 4], edges="knn:2", split_by="none")
    assert data.frames == 8 and edges_at(data, 4) == edges_at(data, 3)


def test_default_is_all_pairs_of_few_and_the_nearest_of_many() -> None:
    notes: list[str] = []
    few = pgode.from_table(crowd(), split_by="none", on_note=notes.append)
    assert len(few.edges.edge_graph) == 30 and "all pairs" in notes[0]
    many = pgode.from_table(crowd(25), split_by="none", on_note=notes.append)
    assert len(many.edges.edge_graph) == 8 * 25 * 8 and "8 nearest" in notes[1]
    assert many.position_features.tolist() == [0, 1]
    plain = crowd(25).rename(columns={"x": "load", "y": "heat"})
    assert len(pgode.from_table(plain, split_by="none").edges.edge_graph) == 600
    none = pgode.from_table(crowd(), edges="none", split_by="none")
    assert len(none.edges.edge_graph) == 0


EDGES = {
    "pairs": "from,to\np0,p1\np2,p1\n",
    "no header": "p0,p1\np2,p1\n",
    "weights": "a;b;w\np0;p1;2\np2;p1;0.5\n",
    "named matrix": ",p0,p1,p2\np0,0,0,0\np1,2,0,0.5\np2,0,0,0\n",
    "bare matrix": "0,0,0\n1,0,1\n0,0,0\n",
}


@pytest.mark.parametrize("form", EDGES)
def test_forms_of_a_file_of_edges(form: str, tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text(EDGES[form])
    data = pgode.from_table(crowd(3), edges=path, undirected=False, split_by="none")
    assert edges_at(data, 0) == {(0, 1), (2, 1)}
    weights = data.edges.edge_attributes[:, 0].tolist()
    assert weights == ([2, 0.5] if form in ("weights", "named matrix") else [1, 1])
    notes: list[str] = []
    both = pgode.from_table(crowd(3), edges=path, split_by="none", on_note=notes.append)
    assert edges_at(both, 0) == {(0, 1), (1, 0), (2, 1), (1, 2)}
    assert "both ways" in notes[0]


def test_edges_that_are_there_both_ways_are_taken_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("from,to\np0,p1\np1,p0\np2,p1\n")
    data = pgode.from_table(crowd(3), edges=path, split_by="none")
    assert edges_at(data, 0) == {(0, 1), (1, 0), (2, 1)}


def test_edges_may_differ_between_systems(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("from,to,match\np0,p1,A\np1,p2,B\n")
    table = pd.concat([crowd(3).assign(match=name) for name in "AB"])
    data = pgode.from_table(
        table, features=["x", "y"], system="match", edges=path, undirected=False, split_by="none"
    )
    edges = data.edges
    assert edges.edge_graph.tolist() == [0, 1]
    assert edges.edge_sender.tolist() == [0, 1] and edges.edge_receiver.tolist() == [1, 2]


def test_graph_of_a_file_travels_with_the_recipe(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text(EDGES["weights"])
    data = pgode.from_table(crowd(3), edges=path, undirected=False)
    pgode.write(data, tmp_path / "data.nc")
    path.unlink()
    attrs = pgode.read(tmp_path / "data.nc").dataset.attrs
    recipe = recipe_of(attrs["generator"], attrs["generator_settings"])
    assert recipe is not None
    table = crowd(3)
    later = from_frame(table[table["id"] != "p0"], recipe, "now", forecasting=True)
    assert edges_at(later, 0) == {(1, 0)}  # p2 acts on p1, which is now the first


def test_graph_of_many_edges_fits_into_a_file(tmp_path: Path) -> None:
    names = [f"sensor {k}" for k in range(120)]
    matrix = pd.DataFrame(np.ones((120, 120)), columns=names, index=names)
    matrix.to_csv(tmp_path / "adj.csv")
    wide = pd.DataFrame(np.ones((12, 120)), columns=names)
    wide.to_csv(tmp_path / "wide.csv", index=False)
    data = pgode.from_table(tmp_path / "wide.csv", wide=True, edges=tmp_path / "adj.csv")
    for ending in ("nc", "zarr"):
        pgode.write(data, tmp_path / f"data.{ending}")
        assert pgode.read(tmp_path / f"data.{ending}").hash == data.hash
