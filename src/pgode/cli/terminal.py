"""Where commands print: a terminal, or a pipe, in which nothing is cut."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pgode.runtime.errors import PgodeWarning

if TYPE_CHECKING:
    from pgode.runtime.terminal.console import Terminal


def output() -> "Terminal":
    """The console of the output stream; in a pipe it neither wraps nor cuts tables."""
    from pgode.runtime.terminal.console import table_console

    return table_console()


@contextmanager
def shown_warnings(console: "Terminal") -> Iterator[None]:
    """Print each warning of pgode's once, as a line and not as a place in the code."""
    usual, said = warnings.showwarning, set[str]()

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if issubclass(category, PgodeWarning):
            if str(message) in said:
                return
            said.add(str(message))
            console.print(f"Warning: {message}", style="yellow")
        else:
            usual(message, category, *place, **more)

    with warnings.catch_warnings():
        warnings.simplefilter("always", PgodeWarning)
        warnings.showwarning = show
        yield
