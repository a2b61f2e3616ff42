"""Numpy archives: the fixed contract of names and shapes, and nothing is ever unpickled."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pgode.data import files
from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError


def arrays() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    edges = np.zeros((2, 3, 3))
    edges[0, 1, 2], edges[1, 0, 1] = 1.0, 2.0
    return {"states": rng.normal(size=(2, 3, 4, 2)), "times": np.arange(4.0), "edges": edges}


def save(path: Path, **content: Any) -> Path:
    np.savez_compressed(path, **content)
    return path


def test_the_least_archive_gets_numbered_names(tmp_path):
    given = arrays()
    t = files.read(save(tmp_path / "a.npz", **given))
    np.testing.assert_array_equal(t.states, given["states"])
    np.testing.assert_array_equal(t.times, np.tile(given["times"], (2, 1)))
    assert t.features == ("feature0", "feature1")
    assert t.split.tolist() == ["train", "train"]
    assert t.edges.edge_receiver.tolist() == [1, 0]
    assert t.edges.edge_sender.tolist() == [2, 1]
    assert t.edges.edge_attributes.tolist() == [[1.0], [2.0]]


def test_a_full_archive_gives_what_build_gives_and_survives_netcdf(tmp_path):
    given = arrays()
    dense = np.repeat(given["edges"][:, None], 4, axis=1)
    dense[1, 2:, 2, 0] = 3.0
    times = np.array([[0, 1, 2, 3], [5, 6, 7, np.nan]])
    observed = np.ones((2, 3, 4, 2), dtype=bool)
    observed[0, 0, 1, 1] = False
    more: dict[str, Any] = {
        "parameters": np.array([[1.0], [np.nan]]),
        "parameter_names": ["box"],
        "split": ["test", "ood"],
        "observed": observed,
        "present": np.ones((2, 3), dtype=bool),
    }
    full = given | more | {"edges": dense, "times": times}
    t = files.read(save(tmp_path / "a.npz", **full, feature_names=["q", "v"]))
    expected = Trajectories.build(given["states"], times, edges=dense, features=("q", "v"), **more)
    assert t.hash == expected.hash
    assert t.edges.graph_start.tolist() == [0.0, 5.0, 7.0]
    files.write(t, tmp_path / "a.nc")
    assert files.read(tmp_path / "a.nc").hash == t.hash


def test_names_as_bytes_and_parameters_without_names_are_read(tmp_path):
    names = np.array([b"q", b"v"])
    given = arrays() | {"feature_names": names, "parameters": np.ones((2, 2))}
    t = files.read(save(tmp_path / "a.npz", **given))
    assert t.features == ("q", "v")
    assert t.dataset["parameter"].values.tolist() == ["parameter0", "parameter1"]


@pytest.mark.parametrize("name", ["states", "times", "edges"])
def test_a_missing_array_is_named(name, tmp_path):
    given = arrays()
    del given[name]
    with pytest.raises(InputError, match=rf'a\.npz has no array "{name}"; it has'):
        files.read(save(tmp_path / "a.npz", **given))


def test_a_misspelt_optional_array_is_named_and_others_are_left_alone(tmp_path):
    given = arrays()
    with pytest.raises(InputError, match=r'"feature_name".*"feature_names"'):
        files.read(save(tmp_path / "a.npz", **given, feature_name=["q", "v"]))
    assert files.read(save(tmp_path / "b.npz", **given, notes=np.zeros(2))).systems == 2


def test_errors_in_the_content_name_the_file_and_the_place(tmp_path):
    given = arrays()
    given["states"][1, 2, 3, 0] = np.nan
    names = ["q", "v"]
    with pytest.raises(InputError, match=r'system 1, object 2 .*time 3 .*"q" is NaN.*a\.npz'):
        files.read(save(tmp_path / "a.npz", **given, feature_names=names))


class Trap:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.path,))


def test_pickled_arrays_are_refused_and_never_run(tmp_path):
    sprung = tmp_path / "sprung"
    trap = np.array([Trap(sprung), None], dtype=object)
    save(tmp_path / "a.npz", **arrays(), split=trap)
    with pytest.raises(InputError, match=r'"split" in .*a\.npz holds Python objects'):
        files.read(tmp_path / "a.npz")
    assert not sprung.exists()


@pytest.mark.parametrize("content", [b"", b"no archive", b"\x80\x04K\x01.", b"PK\x03\x04 cut"])
def test_what_is_no_archive_is_refused(content, tmp_path):
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(InputError, match=r"a\.npz.*damaged"):
        files.read(tmp_path / "a.npz")


def test_truncated_and_changed_archives_are_refused(tmp_path):
    path = save(tmp_path / "a.npz", **arrays())
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match="damaged"):
        files.read(path)
    changed = bytearray(content)
    changed[300] ^= 0xFF
    path.write_bytes(bytes(changed))
    with pytest.raises(InputError, match="damaged"):
        files.read(path)


def test_a_single_array_under_the_wrong_ending_is_refused(tmp_path):
    with (tmp_path / "a.npz").open("wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(InputError, match="a single array, not an archive"):
        files.read(tmp_path / "a.npz")
