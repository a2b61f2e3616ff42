"""Forward kinematics: from the angles of joints to their positions."""

import numpy as np
from jaxtyping import Float

from pgode.data.files.mocap.bvh import Motion
from pgode.data.files.mocap.hierarchy import AXES, POSITIONS, ROTATIONS, Joint

Positions = Float[np.ndarray, "frame joint 3"]
Rotations = Float[np.ndarray, "frame 3 3"]


def positions(motion: Motion) -> Positions:
    """Positions of all joints and ends at all frames, in the units of the file.

    A joint lies at p = p_parent + R_parent t and turns what hangs on it by R = R_parent R_local.
    R_local is the product of the rotations in the order of the channels (Z, Y, X means Rz Ry Rx, so
    that the last is applied first), and t the offset. Position channels replace the offset on their
    axes: for the root they are its place, and programs that write six channels for every joint
    repeat the offset in them.
    """
    frames = len(motion.values)
    place = np.empty((frames, len(motion.joints), 3))
    turned: list[Rotations] = []
    for number, joint in enumerate(motion.joints):
        shift, turn = _local(joint, motion.values)
        if joint.parent < 0:
            place[:, number] = shift
            turned.append(turn)
            continue
        above = turned[joint.parent]
        place[:, number] = place[:, joint.parent] + np.einsum("fij,fj->fi", above, shift)
        turned.append(above @ turn)
    return place


def _local(
    joint: Joint, values: Float[np.ndarray, "frame channel"]
) -> tuple[Float[np.ndarray, "frame 3"], Rotations]:
    """Shift from the parent and rotation of one joint."""
    shift = np.tile(np.array(joint.offset), (len(values), 1))
    turn = np.broadcast_to(np.eye(3), (len(values), 3, 3))
    for place, channel in enumerate(joint.channels):
        column = values[:, joint.first + place]
        if channel in POSITIONS:
            shift[:, POSITIONS.index(channel)] = column
        else:
            turn = turn @ rotation(AXES[ROTATIONS.index(channel)], column)
    return shift, turn


def rotation(axis: str, degrees: Float[np.ndarray, " frame"]) -> Rotations:
    """Right-handed rotations about one axis."""
    cosine, sine = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    turn = np.zeros((len(degrees), 3, 3))
    k = AXES.index(axis)
    i, j = (k + 1) % 3, (k + 2) % 3
    turn[:, k, k] = 1.0
    turn[:, i, i] = turn[:, j, j] = cosine
    turn[:, i, j], turn[:, j, i] = -sine, sine
    return turn
