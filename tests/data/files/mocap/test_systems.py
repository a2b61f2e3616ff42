"""Files as systems: frames that are kept, velocities, names, bones, windows and splits."""

from pathlib import Path

import numpy as np
import pytest
from tests.data.files.mocap import bodies

from pgode.data.files import mocap
from pgode.data.files.mocap.bvh import read_bvh
from pgode.data.files.mocap.kinematics import positions
from pgode.runtime.errors import InputError

ONE = (1.0, 0.0, 0.0)


def test_joints_are_named_objects_and_bones_are_edges_both_ways(tmp_path: Path) -> None:
    data = mocap.read(bodies.trials(tmp_path, 1), mocap.Cut(ends=True), splits=ONE, units="cm")
    assert [data.object_label(0, k) for k in range(3)] == ["Hip", "Elbow", "Elbow end"]
    assert data.system_label(0) == "trial_0"
    pairs = set(
        zip(data.edges.edge_receiver.tolist(), data.edges.edge_sender.tolist(), strict=True)
    )
    assert pairs == {(0, 1), (1, 0), (1, 2), (2, 1)}
    assert (data.edges.edge_attributes == 1).all()
    assert data.features == ("x", "y", "z", "vx", "vy", "vz")
    assert data.dataset["feature_units"].values.tolist() == ["cm"] * 3 + ["cm/s"] * 3
    assert mocap.read(bodies.trials(tmp_path, 1), splits=ONE).objects == 2


def test_every_third_frame_is_kept_with_velocities_from_the_past(tmp_path: Path) -> None:
    paths = bodies.trials(tmp_path, 1, frames=31, frame_time=0.0111111)  # 90 Hz
    data = mocap.read(paths, mocap.Cut(rate=30, relative="world"), splits=ONE)
    place = positions(read_bvh(paths[0]))[::3, :2]
    assert data.frames == len(place) - 1 == 10
    np.testing.assert_allclose(data.times[0], np.arange(1, 11) / 30)
    np.testing.assert_allclose(data.states[0, :, :, :3], place[1:].swapaxes(0, 1))
    backward = 30 * (place[1:] - place[:-1])
    np.testing.assert_allclose(data.states[0, :, :, 3:], backward.swapaxes(0, 1))


def test_no_state_depends_on_a_later_frame(tmp_path: Path) -> None:
    rows = bodies.swinging(40)
    cut = mocap.Cut(rate=50)
    before = mocap.read([bodies.write(tmp_path / "a.bvh", rows)], cut, splits=ONE)
    for row in rows[21:]:
        row[:] = np.random.default_rng(0).uniform(-90, 90, 9)
    after = mocap.read([bodies.write(tmp_path / "a.bvh", rows)], cut, splits=ONE)
    seen = before.times[0] < 0.205  # Frames 0 to 20 of the file are unchanged.
    assert seen.sum() == 10
    np.testing.assert_array_equal(before.states[:, :, seen], after.states[:, :, seen])
    assert not np.allclose(before.states[:, :, ~seen], after.states[:, :, ~seen])


def test_relative_to_the_hip_the_hip_rests_and_directions_are_kept(tmp_path: Path) -> None:
    paths = bodies.trials(tmp_path, 1)
    hip = mocap.read(paths, mocap.Cut(relative="hip"), splits=ONE).states[0]
    world = mocap.read(paths, mocap.Cut(relative="world"), splits=ONE).states[0]
    assert (hip[0] == 0).all()
    np.testing.assert_allclose(hip[1], world[1] - world[0], atol=1e-9)
    assert np.abs(world[0, :, 3] - 10).max() < 1e-9  # 0.1 per frame of 0.01 s


def test_windows_of_a_file_are_in_one_split(tmp_path: Path) -> None:
    paths = bodies.trials(tmp_path, 10, frames=31)
    data = mocap.read(paths, mocap.Cut(window=12, stride=6))
    names = [data.system_label(k) for k in range(data.systems)]
    assert names[:5] == [f"trial_0, frame {k}" for k in (0, 6, 12, 18)] + ["trial_1, frame 0"]
    assert data.states.shape == (40, 2, 12, 6)
    parts: dict[str, set[str]] = {}
    for name, split in zip(names, data.split, strict=True):
        parts.setdefault(name.split(",")[0], set()).add(str(split))
    assert all(len(found) == 1 for found in parts.values())
    counts = {each: sum(each in found for found in parts.values()) for each in data.split}
    assert counts == {"train": 7, "val": 1, "test": 2}
    np.testing.assert_array_equal(data.states[1, :, 0], data.states[0, :, 6])
    again = mocap.read(paths, mocap.Cut(window=12, stride=6))
    assert again.hash == data.hash
    assert mocap.read(paths, mocap.Cut(window=12, stride=6), seed=3).hash != data.hash


def test_shorter_files_are_padded(tmp_path: Path) -> None:
    short = bodies.write(tmp_path / "short.bvh", bodies.swinging(20))
    paths = [*bodies.trials(tmp_path, 1), short]
    data = mocap.read(paths, splits=ONE)
    assert data.n_frames.tolist() == [39, 19]
    assert np.isnan(data.times[1, 19:]).all()
    assert not data.observed[1, :, 19:].any()


def test_a_rest_pose_before_the_motion_is_noticed_and_can_be_skipped(tmp_path: Path) -> None:
    rows = [[0.0, 5, 0, *[170.0] * 6], *bodies.swinging(40)]
    path = bodies.write(tmp_path / "a.bvh", rows)
    assert mocap.jumps(mocap.read([path], splits=ONE)) == ["a"]
    skipped = mocap.read([path], mocap.Cut(skip=1), splits=ONE)
    assert mocap.jumps(skipped) == []
    assert skipped.frames == 39
    assert skipped.times[0, 0] == pytest.approx(0.02)


def test_files_of_one_name_in_two_folders_are_told_apart(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        bodies.write(tmp_path / name / "walk.bvh", bodies.swinging(20))
    paths = [tmp_path / "one" / "walk.bvh", tmp_path / "two" / "walk.bvh"]
    data = mocap.read(paths, splits=ONE)
    assert [data.system_label(k) for k in range(2)] == ["one/walk", "two/walk"]


def test_a_rate_that_does_not_divide_is_refused_with_those_that_do(tmp_path: Path) -> None:
    paths = bodies.trials(tmp_path, 1, frame_time=1 / 120)
    with pytest.raises(InputError, match=r"120 frames per second.*--rate 50.*60, 40"):
        mocap.read(paths, mocap.Cut(rate=50), splits=ONE)


def test_files_of_different_rates_need_a_rate(tmp_path: Path) -> None:
    fast = bodies.write(tmp_path / "fast.bvh", bodies.swinging(40), frame_time=0.005)
    paths = [*bodies.trials(tmp_path, 1), fast]
    with pytest.raises(InputError, match=r"fast.bvh has 200 frames per second, but .*--rate"):
        mocap.read(paths, splits=ONE)
    assert mocap.read(paths, mocap.Cut(rate=50), splits=ONE).n_frames.tolist() == [19, 9]


def test_windows_that_memory_cannot_hold_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """601 windows of 400 frames, of 2 joints with 6 values each."""
    paths, cut = bodies.trials(tmp_path, 1, frames=1001), mocap.Cut(window=400, stride=1)
    monkeypatch.setenv("PGODE_MEMORY", "50MB")
    with pytest.raises(InputError) as caught:
        mocap.read(paths, cut, splits=ONE)
    assert (
        "motion capture of 601 systems, 2 joints and 400 frames needs about 51.9 MB of memory, but "
        "50 MB are free"
    ) in str(caught.value)
    assert "--stride" in str(caught.value)
