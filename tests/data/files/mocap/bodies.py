"""Small BVH files for the tests: a two-bone arm, and a body of four joints."""

from collections.abc import Sequence
from pathlib import Path

ARM = """HIERARCHY
ROOT Hip
{
\tOFFSET 0 0 0
\tCHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
\tJOINT Elbow
\t{
\t\tOFFSET 2 0 0
\t\tCHANNELS 3 Zrotation Yrotation Xrotation
\t\tEnd Site
\t\t{
\t\t\tOFFSET 1 0 0
\t\t}
\t}
}
"""


def motion(rows: Sequence[Sequence[float]], frame_time: float = 0.01) -> str:
    """The part of a file after the hierarchy."""
    lines = [" ".join(f"{value:g}" for value in row) for row in rows]
    return "\n".join(["MOTION", f"Frames: {len(rows)}", f"Frame Time: {frame_time:g}", *lines, ""])


def write(
    path: Path,
    rows: Sequence[Sequence[float]],
    *,
    frame_time: float = 0.01,
    skeleton: str = ARM,
) -> Path:
    """Write one file."""
    path.write_text(skeleton + motion(rows, frame_time))
    return path


def swinging(frames: int, phase: float = 0.0) -> list[list[float]]:
    """Rows of an arm that walks along x and swings about z."""
    return [
        [0.1 * k, 5, 0, (7 * k + phase) % 360, 0, 0, (3 * k + phase) % 360, 0, 0]
        for k in range(frames)
    ]


def trials(folder: Path, count: int, frames: int = 40, frame_time: float = 0.01) -> list[Path]:
    """Several files of the same arm."""
    return [
        write(folder / f"trial_{k}.bvh", swinging(frames, 20 * k), frame_time=frame_time)
        for k in range(count)
    ]
