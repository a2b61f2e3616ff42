"""Where windows start: at the first frame of each system, or at rolling origins along it."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from pgode.runtime.errors import InputError

MOST_OBJECTS = 100_000
"""Objects of all windows that are forecast together; bounds the memory of large systems."""


@dataclass(frozen=True)
class Origins:
    """One window for each entry: the system it is cut from, and its first frame there."""

    systems: Int[np.ndarray, " window"]
    starts: Int[np.ndarray, " window"]

    def __len__(self) -> int:
        return len(self.systems)

    def chunks(
        self, size: int, objects: Int[np.ndarray, " system"] | None = None
    ) -> Iterator["Origins"]:
        """The windows in order, `size` at a time.

        Given the number of objects of each system, a chunk has at most `MOST_OBJECTS`, or one
        window: memory grows with the objects, not with the windows.
        """
        sizes = np.zeros(len(self), np.int64) if objects is None else objects[self.systems]
        total = np.concatenate([[0], np.cumsum(sizes)])
        first = 0
        while first < len(self):
            fits = int(np.searchsorted(total, total[first] + MOST_OBJECTS, side="right")) - 1
            chosen = slice(first, max(first + 1, min(first + size, fits)))
            yield Origins(self.systems[chosen], self.starts[chosen])
            first = chosen.stop


def first_frames(frames: Int[np.ndarray, " system"], start: int = 0) -> Origins:
    """One window of each system, all at the same frame."""
    return Origins(np.arange(len(frames)), np.full(len(frames), start))


def every(frames: Int[np.ndarray, " system"], length: int, stride: int, offset: int = 0) -> Origins:
    """Windows of `length` frames at each `stride` frames, as long as they lie within a system.

    A system that is shorter than one window has a single one at its first frame.
    """
    room = np.maximum(frames - length + 1, 1)
    shift = np.where(room > offset, offset, 0)
    counts = (room - shift - 1) // stride + 1
    systems = np.repeat(np.arange(len(frames)), counts)
    number = np.arange(len(systems)) - np.repeat(np.cumsum(counts) - counts, counts)
    return Origins(systems, shift[systems] + stride * number)


def parsed(text: str, frames: Int[np.ndarray, " system"], condition: int, horizon: int) -> Origins:
    """The origins that a user asked for: first, last, rolling, all or every:N.

    `rolling` moves on by one horizon, so that every frame is forecast once.
    """
    kind, _, number = text.partition(":")
    length = condition + horizon
    usable = number.isdecimal() and len(number) < 10  # Longer ones are beyond any series.
    if kind == "every" and usable and int(number) > 0:
        return every(frames, length, int(number))
    known = {
        "first": lambda: first_frames(frames),
        "last": lambda: Origins(np.arange(len(frames)), np.maximum(frames - length, 0)),
        "rolling": lambda: every(frames, length, horizon),
        "all": lambda: every(frames, length, 1),
    }
    if text not in known:
        raise InputError(
            f'there are no origins "{text}". Expected first (each system\'s first frames), last, '
            f"rolling (each {horizon} frames, the horizon), all, or every:N for one each N frames. "
            f"Choose one of these."
        )
    return known[text]()
