"""Positions from angles, compared with positions worked out by hand."""

from pathlib import Path

import numpy as np
import pytest
from tests.data.files.mocap import bodies

from pgode.data.files.mocap.bvh import read_bvh
from pgode.data.files.mocap.kinematics import positions, rotation


def placed(path: Path, rows: list[list[float]], skeleton: str = bodies.ARM) -> np.ndarray:
    return positions(read_bvh(bodies.write(path, rows, skeleton=skeleton)))


def test_an_arm_of_two_bones_lies_where_its_angles_put_it(tmp_path: Path) -> None:
    rows = [
        [0, 0, 0, 0, 0, 0, 0, 0, 0],  # stretched along x
        [1, 2, 3, 90, 0, 0, 0, 0, 0],  # the whole arm up, at (1, 2, 3)
        [0, 0, 0, 90, 0, 0, 90, 0, 0],  # up, then the elbow bent back to -x
        [0, 0, 0, 0, 90, 0, 0, 0, 0],  # about y: x turns to -z
        [0, 0, 0, 0, 0, 90, 0, 0, 0],  # about x: the arm does not move
    ]
    found = placed(tmp_path / "arm.bvh", rows)
    expected = [
        [[0, 0, 0], [2, 0, 0], [3, 0, 0]],
        [[1, 2, 3], [1, 4, 3], [1, 5, 3]],
        [[0, 0, 0], [0, 2, 0], [-1, 2, 0]],
        [[0, 0, 0], [0, 0, -2], [0, 0, -3]],
        [[0, 0, 0], [2, 0, 0], [3, 0, 0]],
    ]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_the_order_of_the_channels_is_the_order_of_the_rotations(tmp_path: Path) -> None:
    # Z 90 then Y 90: Rz Ry x = Rz (-z) = -z. Y 90 then Z 90: Ry Rz x = Ry y = y.
    rows = [[0, 0, 0, 90, 90, 0, 0, 0, 0]]
    zyx = placed(tmp_path / "zyx.bvh", rows)
    skeleton = bodies.ARM.replace(
        "Zposition Zrotation Yrotation Xrotation", "Zposition Yrotation Zrotation Xrotation"
    )
    yzx = placed(tmp_path / "yzx.bvh", rows, skeleton)
    np.testing.assert_allclose(zyx[0, 1], [0, 0, -2], atol=1e-12)
    np.testing.assert_allclose(yzx[0, 1], [0, 2, 0], atol=1e-12)


def test_channels_of_position_may_come_after_those_of_rotation(tmp_path: Path) -> None:
    skeleton = bodies.ARM.replace(
        "Xposition Yposition Zposition Zrotation Yrotation Xrotation",
        "Zrotation Yrotation Xrotation Zposition Xposition Yposition",
    )
    found = placed(tmp_path / "arm.bvh", [[90, 0, 0, 3, 1, 2, 0, 0, 0]], skeleton)
    np.testing.assert_allclose(found[0], [[1, 2, 3], [1, 4, 3], [1, 5, 3]], atol=1e-12)


def test_six_channels_at_every_joint_replace_its_offset(tmp_path: Path) -> None:
    skeleton = bodies.ARM.replace(
        "CHANNELS 3 Zrotation Yrotation Xrotation",
        "CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation",
    )
    found = placed(tmp_path / "arm.bvh", [[0, 0, 0, 90, 0, 0, 4, 0, 0, 0, 0, 0]], skeleton)
    np.testing.assert_allclose(found[0], [[0, 0, 0], [0, 4, 0], [0, 5, 0]], atol=1e-12)


def test_bones_keep_their_length_in_any_pose(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    found = placed(tmp_path / "arm.bvh", random.uniform(-180, 180, (50, 9)).tolist())
    lengths = np.linalg.norm(np.diff(found, axis=1), axis=2)
    np.testing.assert_allclose(lengths, np.tile([2.0, 1.0], (50, 1)))


@pytest.mark.parametrize("axis, start, end", [("X", 1, 2), ("Y", 2, 0), ("Z", 0, 1)])
def test_a_quarter_turn_takes_one_axis_to_the_next(axis: str, start: int, end: int) -> None:
    turned = rotation(axis, np.array([90.0]))[0] @ np.eye(3)[start]
    np.testing.assert_allclose(turned, np.eye(3)[end], atol=1e-12)


def test_brackets_and_names_with_spaces_are_read(tmp_path: Path) -> None:
    skeleton = bodies.ARM.replace("JOINT Elbow\n\t{", "JOINT left elbow {").replace("\n", "\r\n")
    motion = read_bvh(bodies.write(tmp_path / "a.bvh", [[0.0] * 9], skeleton=skeleton))
    assert [joint.name for joint in motion.joints] == ["Hip", "left elbow", "left elbow end"]
    assert [joint.parent for joint in motion.joints] == [-1, 0, 1]
