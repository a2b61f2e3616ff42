"""Single flipped bytes of a file, the same ones every time."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from pgode.runtime.errors import InputError


def flips(path: Path, count: int, seed: int = 0) -> Iterator[int]:
    """Damage a file in `count` ways, one after another, and restore it; yields the place of each.

    Half of them change one bit, the others a byte to any other value.
    """
    whole, random = path.read_bytes(), np.random.default_rng(seed)
    try:
        for number in range(count):
            place = int(random.integers(len(whole)))
            change = 1 << int(random.integers(8)) if number % 2 else int(random.integers(1, 256))
            damaged = bytearray(whole)
            damaged[place] ^= change
            path.write_bytes(damaged)
            yield place
    finally:
        path.write_bytes(whole)


def refusal(read: Callable[[], object]) -> str:
    """The message of the error for bad input that a call ends with; empty if it succeeds."""
    try:
        read()
    except InputError as error:
        return str(error)
    return ""
