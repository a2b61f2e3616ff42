"""A file that is larger than memory is the same data as the file in memory."""

from dataclasses import fields

import numpy as np
import pytest
import xarray as xr
from tests.data.large.large_files import both, rich, stay_in_file
from tests.small_systems import uneven

from pgode.data import files
from pgode.data.edges import Edges
from pgode.data.large.edges import StoredEdges
from pgode.data.large.stored import StoredArray
from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError

ENDINGS = pytest.mark.parametrize("ending", ["nc", "zarr"])


def equal_edges(one: Edges, other: Edges) -> None:
    for each in fields(Edges):
        np.testing.assert_array_equal(getattr(one, each.name), getattr(other, each.name))


@ENDINGS
@pytest.mark.parametrize("make", [uneven, rich])
def test_hash_summary_and_values_are_those_in_memory(tmp_path, monkeypatch, ending, make):
    held, stored = both(make(), tmp_path / f"data.{ending}", monkeypatch)
    assert stored.hash == held.hash == make().hash
    assert stored.summary() == held.summary()
    assert isinstance(stored.edges, StoredEdges)
    equal_edges(held.edges, stored.edges)
    for name in ("states", "observed", "inputs", "times", "constants", "present"):
        np.testing.assert_array_equal(getattr(stored, name), getattr(held, name))
    np.testing.assert_array_equal(stored.last_observed, held.last_observed)


@pytest.mark.parametrize("memory", ["66kB", "1GB"])
def test_selections_are_views_with_the_hash_of_a_copy(tmp_path, monkeypatch, memory):
    held, stored = both(rich(), tmp_path / "data.nc", monkeypatch)
    monkeypatch.setenv("PGODE_MEMORY", memory)
    for change in (
        lambda data: data.split_of("train"),
        lambda data: data.select([3, 0, 3]),
        lambda data: data.frames_between(1, 5),
        lambda data: data.split_of("train").frames_between(2, 4).select([2, 1]),
    ):
        one, other = change(held), change(stored)
        assert isinstance(other.dataset["states"].variable.data, StoredArray)
        assert one.hash == other.hash == other.in_memory().hash
        np.testing.assert_array_equal(one.last_observed, other.last_observed)
        equal_edges(one.edges, other.edges)
    equal_edges(held.permuted([1, 0, 3, 2]).edges, stored.permuted([1, 0, 3, 2]).edges)


def test_blocks_give_the_statistics_of_all_values(tmp_path, monkeypatch):
    held, stored = both(rich(), tmp_path / "data.nc", monkeypatch)
    scan = stored.split_of("train").scan()
    seen = held.split_of("train").states.copy()
    seen[..., 2] = np.log(seen[..., 2])
    np.testing.assert_array_equal(scan.low, np.fmin.reduce(seen, axis=(1, 2), initial=np.inf))
    np.testing.assert_array_equal(scan.high, np.fmax.reduce(seen, axis=(1, 2), initial=-np.inf))
    np.testing.assert_array_equal(scan.count, np.isfinite(seen).sum((1, 2)))


def test_files_of_other_programs_may_order_and_pack_values_as_they_like(tmp_path, monkeypatch):
    data = uneven(states=np.round(uneven().states.copy(), 2), observed=uneven().observed)
    dataset = data.dataset.transpose("time", "feature", "system", "object", ...)
    del dataset.attrs["content_hash"]  # Packed numbers are rounded.
    packed = {"states": {"dtype": "int16", "scale_factor": 0.01, "_FillValue": -9999}}
    path = tmp_path / "other.nc"
    dataset.to_netcdf(path, engine="h5netcdf", encoding=packed)
    held = files.read(path)
    stay_in_file(monkeypatch)
    stored = files.read(path)
    assert stored.hash == held.hash
    np.testing.assert_array_equal(stored.states, held.states)


def test_edges_that_are_not_in_order_are_sorted_in_memory(tmp_path, monkeypatch):
    data = uneven()
    turned = data.dataset.isel(edge=slice(None, None, -1))
    for number, ds in enumerate(
        (turned, data.dataset.isel(edge=[1, 0, *range(2, turned.sizes["edge"])]))
    ):
        path = tmp_path / f"turned{number}.nc"
        ds.to_netcdf(path, engine="h5netcdf")
        with monkeypatch.context() as patch:
            stay_in_file(patch)
            found = files.read(path)
        assert not isinstance(found.edges, StoredEdges)
        assert found.is_stored and found.hash == data.hash


def _broken(data: Trajectories, name: str, place: tuple[int, ...], value: float) -> xr.Dataset:
    values = data.dataset[name].values.copy()
    values[place] = value
    return data.dataset.assign({name: (data.dataset[name].dims, values)})


@pytest.mark.parametrize(
    "name, place, value",
    [
        ("states", (4, 0, 5, 1), np.inf),
        ("states", (4, 0, 5, 1), np.nan),
        ("states", (4, 0, 5, 2), -1.0),
        ("inputs", (3, 1, 2, 1), np.inf),
        ("edge_attributes", (7, 1), np.nan),
        ("edge_sender", (3,), 9),
        ("edge_receiver", (0,), -1),
        ("edge_graph", (0,), -1),
        ("edge_attribute", (0,), "other"),
        ("graph_start", (0,), np.nan),
        ("times", (1, 3), 0.0),
    ],
)
def test_an_error_names_the_same_place_as_in_memory(tmp_path, monkeypatch, name, place, value):
    path = tmp_path / "bad.nc"
    data = rich()
    broken = _broken(data, name, place, value)
    if name == "states":
        broken["observed"][place] = True
    broken.to_netcdf(path, engine="h5netcdf")
    with pytest.raises(InputError) as expected:
        files.read(path)
    stay_in_file(monkeypatch)
    monkeypatch.setattr("pgode.data.large.stored.BLOCK", 2000)
    with pytest.raises(InputError) as found:
        files.read(path)
    assert str(found.value) == str(expected.value)


@ENDINGS
def test_damage_is_found_when_the_file_is_opened(tmp_path, monkeypatch, ending):
    path = tmp_path / f"data.{ending}"
    rng = np.random.default_rng(0)
    data = Trajectories.build(
        rng.normal(size=(4, 3, 500, 2)),
        np.arange(500.0),
        edges=np.zeros((4, 3, 3)),
        features=("x", "y"),
    )
    files.write(data, path)
    file = path if ending == "nc" else path / "states" / "0.0.0.0"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    stay_in_file(monkeypatch)
    with pytest.raises(InputError, match="damaged"):
        files.read(path)


def test_what_has_to_stay_in_memory_is_refused_where_it_does_not_fit(tmp_path, monkeypatch):
    path = tmp_path / "data.nc"
    files.write(uneven(), path)
    monkeypatch.setenv("PGODE_MEMORY", "2kB")
    with pytest.raises(InputError, match=r"\(times, parameters, names and graphs\) needs about"):
        files.read(path)


def test_a_file_in_one_huge_piece_is_refused_with_a_way_out(tmp_path, monkeypatch):
    path = tmp_path / "data.nc"
    data = uneven()
    data.dataset.to_netcdf(
        path, engine="h5netcdf", encoding={"states": {"zlib": True, "chunksizes": (5, 4, 8, 5)}}
    )
    monkeypatch.setenv("PGODE_MEMORY", "20kB")
    monkeypatch.setattr("pgode.data.files.large.BLOCK", 1000)
    with pytest.raises(InputError, match=r"pieces of 5 x 4 x 8 x 5 values.*nccopy"):
        files.read(path)
