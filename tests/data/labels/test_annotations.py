"""Names, constants, inputs, transforms and dates travel with the data and are checked."""

import numpy as np
import pytest
from tests.plain_trajectories import build

from pgode.data import files
from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError

OBJECTS = np.array([["a", "b", "c", "d"], ["ä", "b 2", "c", "d"], ["1", "2", "3", "4"]])


def described(**changes: object) -> Trajectories:
    """Three systems of four objects with everything that data may say of them."""
    rng = np.random.default_rng(1)
    constants = rng.normal(size=(3, 4, 2))
    constants[0, 1, 0] = np.nan
    given = {
        "states": rng.uniform(0, 9, (3, 4, 5, 4)),
        "features": ("cases", "deaths", "rate", "beds"),
        "system_names": ["first", "second", "third"],
        "object_names": OBJECTS,
        "constants": constants,
        "constant_names": ("mass", "team=red"),
        "inputs": rng.normal(size=(3, 4, 5, 1)),
        "input_names": ("policy",),
        "transforms": ("log1p", "", "sqrt", ""),
        "time_units": "days",
        "time_origin": "2020-04-12",
    }
    return build(**given | changes)


def test_everything_is_read_back_from_files(tmp_path) -> None:
    data = described()
    for name in ("data.nc", "data.zarr"):
        files.write(data, tmp_path / name)
        found = files.read(tmp_path / name)
        assert found.hash == data.hash
        assert found.system_label(1) == "second" and found.object_label(1, 1) == "b 2"
        assert found.constant_names == ("mass", "team=red") and found.input_names == ("policy",)
        assert found.transforms == ("log1p", "", "sqrt", "")
        np.testing.assert_array_equal(found.constants, data.constants)
        np.testing.assert_array_equal(found.inputs, data.inputs)
        assert found.when(1.5) == "2020-04-13T12:00:00" and found.when(2.0) == "2020-04-14"


def test_data_without_any_of_it_have_no_such_variables() -> None:
    data = build()
    extra = {"system_name", "object_name", "constants", "inputs", "feature_transform"}
    assert not extra & set(map(str, data.dataset.variables))
    assert "time_origin" not in data.dataset.attrs
    assert data.constants.shape == (3, 4, 0) and data.inputs.shape == (3, 4, 5, 0)
    assert data.system_label(2) == "system 2" and data.object_label(0, 3) == "object 3"
    assert data.when(0.5) == "0.5"


def test_selecting_and_permuting_takes_everything_along() -> None:
    data = described()
    chosen = data.select([2, 0]).permuted([3, 0, 1, 2])
    assert chosen.system_label(0) == "third" and chosen.object_label(1, 0) == "d"
    np.testing.assert_array_equal(chosen.constants[1], data.constants[0][[3, 0, 1, 2]])
    np.testing.assert_array_equal(chosen.inputs[0], data.inputs[2][[3, 0, 1, 2]])
    later = data.frames_between(2, 5)
    np.testing.assert_array_equal(later.inputs, data.inputs[:, :, 2:5])


def test_the_hash_depends_on_each_part() -> None:
    hashes = {
        described().hash,
        described(system_names=["first", "second", "other"]).hash,
        described(time_origin="2020-04-13").hash,
        described(transforms=("log1p", "", "", "")).hash,
        described(constant_names=("mass", "team=blue")).hash,
    }
    assert len(hashes) == 5


def test_absent_objects_have_no_name_and_no_constants() -> None:
    present = np.ones((3, 4), bool)
    present[1, 3] = False
    data = described(present=present, edges=np.zeros((3, 4, 4)))
    assert data.object_label(1, 3) == "object 3"
    assert np.isnan(data.constants[1, 3]).all() and np.isnan(data.inputs[1, 3]).all()


@pytest.mark.parametrize(
    "change, words",
    [
        ({"object_names": np.full((3, 4), "same")}, 'two objects named "same"'),
        ({"system_names": ["one", "two"]}, "Expected 3, one per system"),
        ({"constant_names": ("mass",)}, "Expected (system 3, object 4, constant 1)"),
        ({"constants": np.full((3, 4, 2), np.inf)}, 'the constant "mass" inf'),
        ({"inputs": np.full((3, 4, 5, 1), -np.inf)}, 'the input "policy" -inf'),
        ({"transforms": ("log", "", "cube", "")}, 'there is no transform "cube"'),
        ({"transforms": ("log1p",)}, "Expected 4, one per feature"),
        ({"time_origin": "yesterday"}, 'count from "yesterday" in "days"'),
        ({"time_units": "fortnights"}, 'in "fortnights"'),
    ],
)
def test_what_is_wrong_is_said(change: dict, words: str) -> None:
    with pytest.raises(InputError) as error:
        described(**change)
    assert words in str(error.value)


def test_a_value_without_a_transform_is_named() -> None:
    states = np.ones((3, 4, 5, 4))
    states[1, 2, 3, 0] = -2.0
    with pytest.raises(InputError) as error:
        described(states=states)
    assert 'system 1, object 2 in the given arrays has the value -2 of "cases" at frame 3' in str(
        error.value
    )


def test_positions_have_no_transform() -> None:
    with pytest.raises(InputError, match="is a position and has the transform log1p"):
        build(transforms=("log1p", "", "", ""))
