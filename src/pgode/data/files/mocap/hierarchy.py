"""The HIERARCHY of a BVH file: joints with their offsets, channels and parents."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np

from pgode.runtime.errors import InputError

AXES = "XYZ"
POSITIONS = tuple(f"{axis}position" for axis in AXES)
ROTATIONS = tuple(f"{axis}rotation" for axis in AXES)
KNOWN = {name.lower(): name for name in (*POSITIONS, *ROTATIONS)}


@dataclass(frozen=True)
class Joint:
    """One joint, or the end of a limb (an End Site), which has no channels.

    `parent` is the number of a joint before this one, -1 for the root; `first` is the column of its
    first channel.
    """

    name: str
    parent: int
    offset: tuple[float, float, float]
    channels: tuple[str, ...]
    first: int
    is_end: bool = False


@dataclass(frozen=True)
class Hierarchy:
    """All joints, each after its parent, and the number of channels of all of them."""

    joints: tuple[Joint, ...]
    channels: int


class Words:
    """The words of some lines in order, each with its line, for errors that name it."""

    def __init__(self, path: Path, lines: Sequence[str]) -> None:
        self.path = path
        # Brackets need no space around them in some files.
        spaced = [line.replace("{", " { ").replace("}", " } ") for line in lines]
        self._words = [(k + 1, word) for k, line in enumerate(spaced) for word in line.split()]
        self._next = 0
        self._end = len(lines) + 1

    @property
    def line(self) -> int:
        """The line of the next word."""
        return self._words[self._next][0] if self._next < len(self._words) else self._end

    def peek(self) -> str:
        """The next word; empty at the end."""
        return self._words[self._next][1] if self._next < len(self._words) else ""

    def take(self) -> str:
        """The next word, which is then done with."""
        word = self.peek()
        self._next += 1
        return word

    def expect(self, word: str, where: str) -> None:
        """The next word has to be this one."""
        line, found = self.line, self.take()
        if found.upper() != word:
            self.refuse(line, f"{_shown(found)} {where}", f'"{word}"')

    def number(self, where: str) -> float:
        """The next word as a number."""
        line, found = self.line, self.take()
        try:
            value = float(found)
        except ValueError:
            value = float("nan")
        if not np.isfinite(value):
            self.refuse(line, f"{_shown(found)} {where}", "a finite number")
        return value

    def rest_of_line(self) -> str:
        """Words up to the end of the line or a bracket: names may have spaces."""
        line, found = self.line, []
        while self.line == line and self.peek() not in ("{", "}", ""):
            found.append(self.take())
        return " ".join(found)

    def refuse(self, line: int, what: str, expected: str) -> NoReturn:
        """The error of one line."""
        raise InputError(
            f"line {line} of {self.path} has {what}. Expected {expected}. Correct the line, or "
            f"export or download the file again."
        )


def hierarchy(words: Words) -> Hierarchy:
    """Read the part of a file before MOTION."""
    words.expect("HIERARCHY", "at the start")
    joints: list[Joint] = []
    line = words.line
    words.expect("ROOT", "in the place of the first joint")
    try:
        channels = _joint(words, joints, -1, 0, line)
    except RecursionError:
        words.refuse(words.line, "joints within joints, hundreds deep", "the skeleton of a body")
    if words.peek():
        what = f"{_shown(words.peek())} after the first skeleton"
        words.refuse(words.line, what, 'one skeleton, then "MOTION"')
    lines: dict[str, int] = {}
    for joint in joints:
        if joint.name in lines:
            raise InputError(
                f'{words.path} has two joints named "{joint.name}". Expected different names. '
                f"Rename one of them in the file."
            )
        lines[joint.name] = 1
    return Hierarchy(tuple(joints), channels)


def _joint(words: Words, joints: list[Joint], parent: int, first: int, line: int) -> int:
    """Read one joint and all below it into `joints`; the number of channels read so far."""
    name = words.rest_of_line()
    if not name:
        words.refuse(line, "a joint without a name", "a name after ROOT or JOINT")
    words.expect("{", f'after the joint "{name}"')
    offset = _offset(words, name)
    if words.peek().upper() != "CHANNELS":
        words.refuse(
            words.line,
            f'{_shown(words.peek())} in the place of the channels of the joint "{name}"',
            '"CHANNELS", their number and their names',
        )
    channels = _channels(words, name)
    number = len(joints)
    joints.append(Joint(name, parent, offset, channels, first))
    count = first + len(channels)
    ends = 0
    while words.peek() != "}":
        line, kind = words.line, words.take().upper()
        if kind == "JOINT":
            count = _joint(words, joints, number, count, line)
        elif kind == "END" and words.peek().upper() == "SITE":
            words.take()
            words.rest_of_line()
            words.expect("{", f'after the End Site of "{name}"')
            ends += 1
            label = f"{name} end" if ends == 1 else f"{name} end {ends}"
            joints.append(Joint(label, number, _offset(words, label), (), count, is_end=True))
            words.expect("}", f'after the End Site of "{name}"')
        else:
            words.refuse(
                line, f'{_shown(kind)} within the joint "{name}"', '"JOINT", "End Site" or "}"'
            )
    words.take()
    return count


def _offset(words: Words, name: str) -> tuple[float, float, float]:
    words.expect("OFFSET", f'in the place of the offset of "{name}"')
    x, y, z = (words.number(f'in the offset of "{name}"') for _ in range(3))
    return x, y, z


def _channels(words: Words, name: str) -> tuple[str, ...]:
    """The channels of a joint: up to six, in any order, none of them twice."""
    words.take()
    line = words.line
    count = words.number(f'as the number of channels of "{name}"')
    if count not in range(1, 7):
        words.refuse(line, f'{count:g} channels at the joint "{name}"', "1 to 6 channels")
    channels: list[str] = []
    for place in range(int(count)):
        line, found = words.line, words.take()
        channel = KNOWN.get(found.lower())
        if channel is None or channel in channels:
            what = "twice" if channel else f"as channel {place + 1} of {count:g}"
            names = ", ".join((*POSITIONS, *ROTATIONS))
            words.refuse(
                line, f'{_shown(found)} {what} at the joint "{name}"', f"each once of {names}"
            )
        channels.append(channel)
    return tuple(channels)


def _shown(word: str) -> str:
    return f'"{word[:40]}"' if word else "nothing"
