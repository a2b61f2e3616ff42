"""Derived velocities: a least-squares slope of past positions, and of nothing else."""

import numpy as np
import pandas as pd
import pytest

import pgode
from pgode.data.files.table.velocities import past_slopes


def walk(frames: int = 30, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    rows = [
        (name, 0.5 * t, *point)
        for name in ("ann", "bob")
        for t, point in enumerate(np.cumsum(random.normal(size=(frames, 2)), axis=0))
    ]
    return pd.DataFrame(rows, columns=["id", "time", "x", "y"])


def velocities(table: pd.DataFrame, length: int | bool = True) -> np.ndarray:
    data = pgode.from_table(table, velocities=length, split_by="none", time_units="s")
    assert data.features == ("x", "y", "vx", "vy")
    return data.states[0, :, :, 2:]


@pytest.mark.parametrize("length", [2, 3, 5])
def test_velocity_is_the_slope_of_the_last_frames(length: int) -> None:
    table = walk()
    found = velocities(table, length)
    x = table[table["id"] == "bob"]["x"].to_numpy()
    for frame in (1, 2, 9, 29):
        first = max(0, frame - length + 1)
        clock = 0.5 * np.arange(first, frame + 1)
        expected = np.polyfit(clock, x[first : frame + 1], 1)[0]
        assert found[1, frame, 0] == pytest.approx(expected, rel=1e-9)
    assert np.isnan(found[:, 0]).all() and np.isfinite(found[:, 1:]).all()


def test_no_later_frame_has_any_influence() -> None:
    table = walk()
    changed = table.copy()
    changed.loc[changed["time"] > 7, ["x", "y"]] += 100.0
    before = slice(1, 15)  # up to time 7
    np.testing.assert_array_equal(velocities(table)[:, before], velocities(changed)[:, before])
    assert (velocities(table)[:, 15] != velocities(changed)[:, 15]).all()


def test_straight_walkers_have_their_exact_velocity_also_after_a_gap() -> None:
    rows = [("a", t, 3 + 2.0 * t, -t) for t in range(20)] + [("b", t, 0.0, 0.0) for t in range(20)]
    table = pd.DataFrame(rows, columns=["id", "time", "x", "y"]).drop(index=[7, 8])
    found = velocities(table)
    np.testing.assert_allclose(found[0, 9:], np.broadcast_to([2.0, -1.0], (11, 2)), atol=1e-12)
    assert np.isnan(found[0, 7:9]).all()


def test_positions_that_are_too_old_do_not_count() -> None:
    frame = np.array([0, 1, 30, 31])
    slope = past_slopes(
        np.array([[0.0], [1.0], [90.0], [91.0]]), frame.astype(float), np.zeros(4, int), frame, 3
    )
    assert np.isnan(slope[[0, 2]]).all()
    np.testing.assert_allclose(slope[[1, 3], 0], 1.0)


def test_roles_and_units_of_derived_velocities() -> None:
    table = walk().rename(columns={"x": "east", "y": "north"}).assign(load=1.0)
    data = pgode.from_table(
        table, positions=["east", "north"], velocities=4, time_units="s",
        units={"east": "m", "north": "m"},
    )  # fmt: skip
    assert data.features == ("east", "north", "load", "v_east", "v_north")
    assert data.dataset["feature_role"].values.tolist() == [
        *("position", "position", "value"),
        *("velocity", "velocity"),
    ]
    assert data.dataset["feature_units"].values.tolist() == ["m", "m", "", "m/s", "m/s"]


def test_velocities_that_are_in_the_table_are_not_derived_again() -> None:
    table = walk().assign(vx=0.0, vy=0.0)
    for named in ([], ["x", "y"]):
        data = pgode.from_table(table, positions=named)
        assert data.position_features.tolist() == [0, 1]
        assert data.velocity_features.tolist() == [2, 3]
    with pytest.raises(pgode.InputError, match="already include them"):
        pgode.from_table(table, velocities=True)
