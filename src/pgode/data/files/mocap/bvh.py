"""BVH files: a skeleton of joints, and the angles of all of them at each frame."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from pgode.data.files.mocap.hierarchy import Hierarchy, Joint, Words, hierarchy
from pgode.runtime.errors import InputError
from pgode.runtime.reading import read_bytes

__all__ = ["Motion", "read_bvh"]

LARGEST = 2**28
"""Bytes of a file: an hour of a body with a hundred joints has about 100 MB."""


@dataclass(frozen=True)
class Motion:
    """One file: its skeleton, and a row of channel values for each frame.

    `frame_time` is in seconds. The values are in the order in which the file names the channels,
    angles in degrees.
    """

    path: Path
    joints: tuple[Joint, ...]
    frame_time: float
    values: Float[np.ndarray, "frame channel"]


def read_bvh(path: Path) -> Motion:
    """Read one file, or say in which line it is damaged."""
    lines = _lines(path)
    start = next((k for k, line in enumerate(lines) if line.strip().upper() == "MOTION"), None)
    if start is None:
        raise InputError(
            f"{path} has no line MOTION, so it ends before any frame, or is no BVH file. Expected "
            f"HIERARCHY with the joints, then MOTION with the frames. Export or download it again."
        )
    found: Hierarchy = hierarchy(Words(path, lines[:start]))
    body = [(k + 1, line.split()) for k, line in enumerate(lines) if k > start and line.strip()]
    frames = int(_setting(path, body, 0, ("Frames:",), "a whole number above 0", start + 2))
    frame_time = _setting(path, body, 1, ("Frame", "Time:"), "a time in seconds above 0", start + 3)
    values = _values(path, body[2:], frames, found.channels)
    return Motion(path, found.joints, frame_time, values)


def _lines(path: Path) -> list[str]:
    text = read_bytes(path, limit=LARGEST, expected="a BVH file").decode("utf-8-sig", "replace")
    lines = text.splitlines()
    first = next((k for k, line in enumerate(lines) if line.strip()), None)
    if first is None or lines[first].split()[0].upper() != "HIERARCHY":
        start = "" if first is None else lines[first].strip()[:40]
        readable = "".join(each if each.isprintable() else "?" for each in start)
        shown = f'"{readable}" in line {(first or 0) + 1}' if start else "nothing"
        raise InputError(
            f"{path} starts with {shown}. Expected the word HIERARCHY, with which BVH files start. "
            f"Give BVH files; other formats (C3D, ASF/AMC, FBX) have to be converted first."
        )
    return lines


def _setting(
    path: Path,
    body: list[tuple[int, list[str]]],
    place: int,
    name: tuple[str, ...],
    expected: str,
    line: int,
) -> float:
    """The number after `Frames:` or `Frame Time:`; both have to be above 0."""
    words: list[str] = []
    if place < len(body):
        line, words = body[place]
    title = " ".join(name)
    if [word.lower() for word in words[: len(name)]] != [word.lower() for word in name]:
        shown = f'"{" ".join(words)[:40]}"' if words else "nothing"
        raise InputError(
            f'line {line} of {path} has {shown} in the place of "{title}". Expected "{title}" and '
            f"{expected}. Export or download the file again."
        )
    text = " ".join(words[len(name) :])
    value = _number(text)
    whole = "whole" not in expected or value == round(value)
    if not np.isfinite(value) or value <= 0 or not whole:
        raise InputError(
            f'line {line} of {path} says "{title} {text}". Expected {expected}. Correct the line, '
            f"or leave the file out."
        )
    return value


def _values(
    path: Path, body: list[tuple[int, list[str]]], frames: int, channels: int
) -> Float[np.ndarray, "frame channel"]:
    """The numbers of all frames, one line for each."""
    values = np.empty((min(frames, len(body)), channels))
    for row, (line, words) in enumerate(body[:frames]):
        if len(words) != channels:
            raise InputError(
                f"line {line} of {path} (frame {row + 1} of {frames}) has {len(words)} numbers. "
                f"Expected {channels}, one for each channel of the joints. The file may be cut: "
                f"export or download it again."
            )
        try:
            values[row] = np.array(words, dtype=np.float64)
        except ValueError:
            values[row] = [_number(word) for word in words]
        if not np.isfinite(values[row]).all():
            column = int(np.flatnonzero(~np.isfinite(values[row]))[0])
            raise InputError(
                f'line {line} of {path} (frame {row + 1}) has "{words[column]}" as number '
                f"{column + 1}. Expected a finite number. Correct it, or leave the file out."
            )
    if len(body) != frames:
        last = body[-1][0] if body else 0
        where = f" (the last is line {last})" if body else ""
        raise InputError(
            f"{path} says that it has {frames} frames, but has {len(body)} lines of them{where}. "
            f"Expected one line for each frame. The file may be cut: export or download it again, "
            f"or correct the line Frames."
        )
    return values


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
