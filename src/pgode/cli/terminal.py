"""Where commands print: a terminal, or a pipe, in which nothing is cut."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pgode.runtime.errors import PgodeWarning

if TYPE_CHECKING:
    from rich.console import Console

UNLIMITED = 10_000
"""Columns of a pipe: what reads from it has no width, and digits must not be lost."""


def output() -> "Console":
    """The console of the output stream; in a pipe it neither wraps nor cuts tables."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=UNLIMITED)


@contextmanager
def shown_warnings(console: "Console") -> Iterator[None]:
    """Print each warning of pgode's once, as a line and not as a place in the code."""
    usual, said = warnings.showwarning, set[str]()

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if issubclass(category, PgodeWarning):
            if str(message) in said:
                return
            said.add(str(message))
            console.print(f"Warning: {message}", style="yellow", markup=False, highlight=False)
        else:
            usual(message, category, *place, **more)

    with warnings.catch_warnings():
        warnings.simplefilter("always", PgodeWarning)
        warnings.showwarning = show
        yield
