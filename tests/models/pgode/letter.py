"""The model of the paper, for tests that write out its equations."""

from pgode.runtime.settings import merged
from pgode.training.presets import PAPER

WIDTH = 8


def paper(make, **changes):
    """The model of the paper to the letter, but for these settings."""
    return make(**merged(PAPER["model"], changes))
