"""Where commands print: a terminal, or a pipe, in which nothing is cut."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pgode.runtime.terminal.console import Terminal


def output() -> "Terminal":
    """The console of the output stream; in a pipe it neither wraps nor cuts tables."""
    from pgode.runtime.terminal.console import table_console

    return table_console()
