"""The hash of a data set: it changes with any content, and with nothing else."""

import numpy as np
import pytest
from tests.data.test_trajectories import uneven
from tests.plain_trajectories import FEATURES, build, plain

from pgode.data.trajectories import Trajectories


@pytest.mark.parametrize("change", ["states", "times", "edges", "parameters", "observed", "group"])
def test_hash_changes_with_any_value(change):
    t = uneven()
    ds = t.dataset.copy(deep=True)
    name, where = {
        "states": ("states", (0, 0, 0, 0)),
        "times": ("times", (2, 4)),
        "edges": ("edge_attributes", (1, 0)),
        "parameters": ("parameters", (2, 1)),
        "observed": ("observed", (0, 0, 0, 0)),
        "group": ("group", (0, 1)),
    }[change]
    old = ds[name].values[where]
    ds[name].values[where] = False if change == "observed" else old + 1
    assert Trajectories.from_dataset(ds).hash != t.hash


def test_hash_changes_with_names_splits_units_and_ends_of_edges():
    moved = plain()["edges"]
    moved[0, 1, 3], moved[0, 1, 0] = 1.0, 0.0
    others = [
        build(),
        build(features=("qx", "qy", "vx", "vz"), roles=build().dataset["feature_role"].values),
        build(roles=("value",) * 4),
        build(variables=FEATURES),
        build(units=("m", "m", "m/s", "m/s")),
        build(parameter_names=("box", "charge")),
        build(parameter_units=("m", "")),
        build(split=["train", "test", "val"]),
        build(time_units="s"),
        build(edges=moved),
        build().select([1, 0, 2]),
        build(seed=4).select([0, 1]),
    ]
    assert len({t.hash for t in others}) == len(others)


def test_hash_is_that_of_the_content_not_of_its_origin():
    t = build()
    other = build(title="Mine", generator="lab", generator_settings='{"a": 1}', seed=5)
    assert other.hash == t.hash
    assert other.dataset.attrs["title"] == "Mine"
    assert other.dataset.attrs["seed"] == 5
    assert other.dataset.attrs["generator_version"] == ""


def test_kinds_are_part_of_the_content_only_where_they_are_given():
    plainly, kind = build(), np.zeros((3, 4), int)
    assert plainly.kinds is None
    assert "kind" not in plainly.dataset
    assert "kinds" not in plainly.summary()
    hashes = {plainly.hash, build(kind=kind).hash, build(kind=kind + 1).hash}
    assert len(hashes) == 3
