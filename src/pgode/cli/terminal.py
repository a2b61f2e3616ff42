"""Where commands print: a terminal, or a pipe, in which nothing is cut."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

UNLIMITED = 10_000
"""Columns of a pipe: what reads from it has no width, and digits must not be lost."""


def output() -> "Console":
    """The console of the output stream; in a pipe it neither wraps nor cuts tables."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=UNLIMITED)
