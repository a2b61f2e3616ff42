"""Graphs without edges, with lonely objects, with too many edges, and with odd weights."""

import numpy as np
from tests.data.checkup.made import arrays, built, subject

from pgode.data.checkup.checks import graphs
from pgode.data.trajectories import Trajectories

CHECKS = (graphs.no_edges, graphs.isolated, graphs.complete_and_large, graphs.weights)


def test_all_pairs_of_few_objects_give_no_finding():
    assert [finding for check in CHECKS for finding in check(subject())] == []


def test_no_edges_are_a_warning_unless_objects_are_alone():
    none = np.zeros((40, 4, 4))
    (found,) = graphs.no_edges(subject(built(edges=none)))
    assert found.severity == "warning" and "--edges" in found.fix
    alone = built(
        states=arrays()["states"][:, :1], edges=none[:, :1, :1], object_names=[["a"]] * 40
    )
    assert graphs.no_edges(subject(alone)) == []


def test_objects_without_edges_are_counted_and_one_is_named():
    edges = arrays()["edges"]
    edges[6, 2] = edges[6, :, 2] = 0
    (found,) = graphs.isolated(subject(built(edges=edges)))
    assert found.severity == "note" and "1 object (0.6 %)" in found.text
    assert str(found.place) == "walk 6, p2"


def test_all_pairs_of_many_objects_are_slow():
    data = Trajectories.build(
        np.random.default_rng(0).random((1, 120, 5, 1)),
        np.arange(5),
        edges=np.ones((1, 120, 120)) - np.eye(120),
        features=("level",),
    )
    (found,) = graphs.complete_and_large(subject(data))
    assert "119 edges for each" in found.text and "knn:8" in found.fix


def test_weights_that_are_equal_or_negative_are_notes():
    edges = arrays()["edges"]
    (found,) = graphs.weights(subject(built(edges=0.5 * edges)))
    assert "all edges have the weight 0.5" in found.text
    edges[:, 0] *= -1
    (found,) = graphs.weights(subject(built(edges=edges)))
    assert found.text == "25 % of the edges have a negative weight."
