"""Batches of data that stay in their file are those of the same data in memory, bit for bit."""

from dataclasses import fields, is_dataclass

import numpy as np
import pytest
import torch
from tests.batches.test_known_inputs import numbered, weekdays
from tests.data.large.large_files import both, rich
from tests.data.test_molecules import motion, prepared
from tests.small_systems import CONDITION, HORIZON, uneven

from pgode.batches.epoch_windows import EpochWindows
from pgode.batches.normaliser import Normaliser
from pgode.batches.origins import every
from pgode.batches.windows import Windows
from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError


def equal(one: object, other: object, name: str = "batch") -> None:
    """All fields have the same bits, those of graphs too."""
    if isinstance(one, torch.Tensor):
        assert one.dtype == other.dtype and torch.equal(one, other), name
    elif isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other)
    elif is_dataclass(one):
        for each in fields(one):
            equal(getattr(one, each.name), getattr(other, each.name), f"{name}.{each.name}")
    else:
        assert one == other, name


def series() -> Trajectories:
    """Two long series of three objects with gaps, whose graphs change every 37 frames."""
    rng = np.random.default_rng(2)
    states = np.cumsum(rng.normal(size=(2, 3, 400, 2)), axis=2)
    graphs = (rng.random((2, 11, 3, 3)) < 0.5) & ~np.eye(3, dtype=bool)
    edges = graphs[:, np.arange(400) // 37]
    return Trajectories.build(
        states,
        np.arange(400.0),
        edges=edges.astype(float),
        features=("x", "y"),
        observed=rng.random(states.shape) > 0.1,
    )


@pytest.mark.parametrize("ending", ["nc", "zarr"])
@pytest.mark.parametrize("make", [uneven, rich, weekdays, numbered, series])
def test_batches_are_the_same(tmp_path, monkeypatch, make, ending):
    held, stored = both(make(), tmp_path / f"data.{ending}", monkeypatch)
    scales = Normaliser.fit(held.split_of("train"))
    one, other = (Windows(data, scales, CONDITION, HORIZON) for data in (held, stored))
    np.testing.assert_array_equal(one.seen, other.seen)
    windows = every(held.n_frames, CONDITION + HORIZON, 3)
    order = np.random.default_rng(0).permutation(len(windows))[:12]
    rows, starts = windows.systems[order], windows.starts[order]
    equal(one.batch(rows, starts), other.batch(rows, starts))
    equal(one.batch(rows, starts, 1), other.batch(rows, starts, 1))
    equal(one.batch(rows, np.zeros_like(rows), 20), other.batch(rows, np.zeros_like(rows), 20))
    for a, b in zip(one.batches(2), other.batches(2), strict=True):
        equal(a, b)


def test_all_windows_of_an_epoch_of_a_split_are_the_same(tmp_path, monkeypatch):
    held, stored = both(series(), tmp_path / "data.nc", monkeypatch)
    scales = Normaliser.fit(held)
    parts = [Windows(data.select([1]), scales, 5, 4) for data in (held, stored)]
    (rows, starts), again = (EpochWindows(part, "all", 2, 7).of_epoch(3, 4) for part in parts)
    np.testing.assert_array_equal(rows, again[0])
    for first in range(0, len(rows), 50):
        chosen = slice(first, first + 50)
        equal(*(part.batch(rows[chosen], starts[chosen]) for part in parts))


def test_forecasts_start_from_the_same_frames_with_the_same_known_inputs(tmp_path, monkeypatch):
    data = numbered()
    observed = np.ones(data.states.shape, bool)
    observed[:, :, 9:] = False
    future = Trajectories.build(
        data.states,
        data.times,
        edges=data.edges,
        features=("cases",),
        inputs=data.inputs,
        input_names=("day",),
        observed=observed,
    )
    held, stored = both(future, tmp_path / "data.nc", monkeypatch)
    scales = Normaliser.fit(held)
    ahead = np.array([1.0, 3.0])
    equal(*(next(Windows(each, scales, 4, 1).last(2, ahead)) for each in (held, stored)))


@pytest.mark.parametrize("make", [uneven, rich, weekdays, series])
def test_scales_are_the_same(tmp_path, monkeypatch, make):
    held, stored = both(make(), tmp_path / "data.nc", monkeypatch)
    monkeypatch.setattr("pgode.data.large.stored.BLOCK", 1024)
    one, other = (Normaliser.fit(data.split_of("train")).to_json() for data in (held, stored))
    sums = [f"{what}_{n}" for what in ("input", "edge") for n in ("mean", "scale", "centre")]
    for name in [key for key in sums if key in one]:
        np.testing.assert_allclose(other.pop(name), one.pop(name), rtol=1e-13)
    assert one == other


def test_the_mean_structure_of_a_molecule_is_the_same(tmp_path, monkeypatch):
    held, stored = both(prepared(motion(3, 30)), tmp_path / "data.nc", monkeypatch)
    monkeypatch.setattr("pgode.batches.reference.FRAMES", 4)
    monkeypatch.setattr("pgode.data.large.stored.BLOCK", 2048)
    assert Normaliser.fit(stored).reference == Normaliser.fit(held).reference is not None


def test_a_feature_that_was_never_observed_is_refused_as_in_memory(tmp_path, monkeypatch):
    observed = uneven().observed.copy()
    observed[..., 2] = False
    for data in both(uneven(observed=observed), tmp_path / "data.nc", monkeypatch):
        with pytest.raises(InputError, match="no observed value of mass"):
            Normaliser.fit(data)


def test_a_batch_reads_only_the_frames_of_its_windows(tmp_path, monkeypatch):
    _, stored = both(series(), tmp_path / "data.nc", monkeypatch)
    windows = Windows(stored, Normaliser.fit(stored), 5, 4)
    source, read = stored.stored("states").source.numbers, []
    original = type(source).read
    monkeypatch.setattr(
        type(source), "read", lambda self, place: read.append(place) or original(self, place)
    )
    windows.batch(np.array([1, 0, 1]), np.array([300, 10, 20]))
    spans = [(p.systems.start, p.frames.start, p.frames.stop) for p in read if p.frames.stop]
    assert set(spans) == {(0, 10, 19), (1, 20, 29), (1, 300, 309)}


def test_a_batch_that_does_not_fit_is_refused_with_the_memory_it_needs(tmp_path, monkeypatch):
    _, stored = both(series(), tmp_path / "data.nc", monkeypatch)
    windows = Windows(stored, Normaliser.fit(stored), 5, 4)
    monkeypatch.setenv("PGODE_MEMORY", "50kB")
    with pytest.raises(InputError, match=r"a batch of 2 windows of 400 frames needs about 154 kB"):
        windows.batch(np.array([0, 1]), np.array([0, 0]), 395)
    assert windows.whole_horizon(2) < 395
    windows.batch(np.array([0, 1]), np.array([0, 0]), windows.whole_horizon(2))
