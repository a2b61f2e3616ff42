"""Arrays that are not trajectories are refused, and the error says where the problem is."""

from typing import Any

import numpy as np
import pytest
import xarray as xr
from tests.plain_trajectories import build, plain

from pgode.data.trajectories import Edges, Trajectories
from pgode.runtime.errors import InputError


def wrong(name: str, index: Any, value: Any) -> dict[str, Any]:
    """One entry of one argument replaced."""
    array = np.array(plain()[name])
    array[index] = value
    return {name: array}


def flat(**changes: Any) -> dict[str, Any]:
    """Edges of three graphs, one per system, with one edge from 1 to 0 in the first."""
    columns: dict[str, Any] = {
        "graph_system": np.arange(3),
        "graph_start": np.zeros(3),
        "edge_graph": np.array([0]),
        "edge_receiver": np.array([0]),
        "edge_sender": np.array([1]),
        "edge_attributes": np.ones((1, 1)),
    }
    return {"edges": Edges(**(columns | changes))}


FEWER = np.array([[1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 1, 1]], dtype=bool)
ERRORS = {
    "nan": (wrong("states", (1, 3, 2, 0), np.nan), 'system 1, object 3 .* time 1 .*"qx" is NaN'),
    "inf": (wrong("states", (2, 0, 4, 3), np.inf), 'system 2, object 0 .* time 2 .*"vy" is inf'),
    "states dims": ({"states": np.zeros((3, 4, 5))}, r"states .*shape \(3, 4, 5\).*object, time"),
    "states text": ({"states": np.full((3, 4, 5, 4), "a")}, "states .*holds <U1.*real numbers"),
    "ragged": ({"states": [[1.0], [1.0, 2.0]]}, "states in .* is not an array"),
    "no systems": ({"states": np.zeros((0, 4, 5, 4))}, "has no system"),
    "no frames": ({"states": np.zeros((3, 4, 0, 4))}, "has no time"),
    "times length": ({"times": np.arange(4.0)}, r"times .*\(3, 4\).*system 3, time 5"),
    "times back": ({"times": [0, 1, 3, 2, 4]}, "system 0 .*back .*index 3: 3 is followed by 2"),
    "times repeat": (
        {"times": np.array([[0, 1, 2, 3, 4], [0, 1, 1, 2, 3], [0, 1, 2, 3, 4]])},
        "system 1 .*repeats the time at index 2: 1 is followed by 1",
    ),
    "times inf": ({"times": [0, 1, 2, 3, np.inf]}, "system 0 .*time inf at index 4"),
    "times gap": ({"times": [0, 1, np.nan, 3, 4]}, "system 0 .*index 3 after NaN at index 2"),
    "no first time": ({"times": np.full(5, np.nan)}, "system 0 .*no first time"),
    "present gap": ({"present": FEWER[:, ::-1]}, "system 1, object 0 .*absent but object 1"),
    "no object": ({"present": np.zeros((3, 4))}, "system 0 .*no present object"),
    "present shape": ({"present": np.ones((3, 3))}, r"present .*\(3, 3\).*object 4"),
    "mask values": ({"present": np.full((3, 4), 2)}, "present .*not a mask"),
    "observed shape": ({"observed": np.ones((3, 4, 5))}, "observed .*shape"),
    "feature twice": ({"features": ("a", "b", "a", "c")}, '"a" occurs 2 times'),
    "feature count": ({"features": ("a", "b")}, "features .*2 entries.*Expected 4"),
    "feature empty": ({"features": ("a", "b", "c", "")}, "one of them is empty"),
    "role word": ({"roles": ("value",) * 3 + ("speed",)}, '"vy" .*role "speed"'),
    "roles unpaired": (
        {"roles": ("position", "position", "velocity", "value")},
        r"2 positions \(qx, qy\) and 1 velocities \(vx\)",
    ),
    "split word": ({"split": ["train", "dev", "test"]}, 'system 1 .*split "dev".*train, val'),
    "split count": ({"split": ["train"]}, "split .*1 entries.*Expected 3"),
    "parameter inf": (wrong("parameters", (2, 1), np.inf), 'system 2 .*"strength" = inf'),
    "parameter count": ({"parameter_names": ("box",)}, "parameters .*parameter 1"),
    "parameter twice": ({"parameter_names": ("box", "box")}, "parameter names .*2 times"),
    "group": ({"group": np.full((3, 4), -2)}, "group .*-1 for no group"),
    "kind": ({"kind": np.full((3, 4), -1)}, "system 0, object 0 .*of kind -1.*from 0 on"),
    "kind of no number": ({"kind": np.full((3, 4), 0.5)}, "kind .*holds float64.*whole numbers"),
    "kinds of others": ({"kind": np.zeros((3, 5), int)}, "kind .*shape"),
    "settings": ({"generator_settings": "objects=3"}, "generator_settings .*JSON"),
    "seed": ({"seed": 1.5}, "seed .*1.5.*whole number"),
    "dense shape": ({"edges": np.zeros((3, 4))}, r"edges .*\(3, 4\).*square"),
    "dense objects": ({"edges": np.zeros((3, 3, 3))}, "edges .*3 systems of 4 objects"),
    "dense frames": ({"edges": np.zeros((3, 4, 4, 4))}, "edges .* 5 frames"),
    "dense text": ({"edges": np.full((3, 4, 4), "a")}, "edges .*Expected numbers"),
    "dense self": (wrong("edges", (1, 2, 2), 1), "system 1: .*object 2 to object 2.*self edge"),
    "dense nan": (wrong("edges", (1, 2, 0), np.nan), 'system 1: .*object 0 to object 2.*"weight"'),
    "absent end": ({"present": FEWER}, "system 1: .*object 3 to object 2 .*object 3 is absent"),
    "edge range": (flat(edge_sender=np.array([4])), "system 0: .*object 4 does not exist"),
    "edge negative": (flat(edge_receiver=np.array([-1])), "system 0: .*object -1 does not exist"),
    "edge float": (flat(edge_sender=np.array([1.0])), "edge_sender .*whole numbers"),
    "edge lengths": (flat(edge_sender=np.array([1, 2])), "disagree in length"),
    "edge graph": (flat(edge_graph=np.array([3])), "edge 0 .*graph 3.*0 to 2"),
    "graph system": (flat(graph_system=np.array([0, 1, 3])), "graph 2 .*system 3.*0 to 2"),
    "graph missing": (flat(graph_system=np.zeros(3, int)), "system 0 .*two graphs .*time 0"),
    "graph late": (flat(graph_start=np.array([0, 0.5, 0])), "system 1 .*starts at time 0.5"),
    "graph none": (
        flat(graph_system=np.array([0, 1, 1]), graph_start=np.array([0, 0, 1.0])),
        "system 2 .*first graph is missing",
    ),
    "graph nan": (flat(graph_start=np.array([0, np.nan, 0])), "graph 1 of system 1 .*time nan"),
    "edge twice": (
        flat(
            edge_graph=np.zeros(2, int),
            edge_receiver=np.zeros(2, int),
            edge_sender=np.ones(2, int),
            edge_attributes=np.ones((2, 1)),
        ),
        "system 0: .*object 1 to object 0 .*more than once",
    ),
    "edge names": (flat(attribute_names=("length",)), 'first is "weight"'),
}


@pytest.mark.parametrize("case", ERRORS)
def test_refuses_with_a_message_that_says_where(case):
    changes, message = ERRORS[case]
    with pytest.raises(InputError, match=f"(?s){message}") as caught:
        build(**changes, source="my.nc")
    assert "my.nc" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_from_dataset_names_missing_variables_and_wrong_dims():
    with pytest.raises(InputError, match=r"a\.nc has no variable times, .*; it has states"):
        Trajectories.from_dataset(xr.Dataset({"states": ("system", [1.0])}), source="a.nc")
    renamed = build().dataset.rename(object="ball")
    with pytest.raises(InputError, match=r"states in a\.nc .*\(system, ball, time, feature\)"):
        Trajectories.from_dataset(renamed, source="a.nc")
