"""The `pgode` command: one file per subcommand, each thin, importing what it needs when run."""

import sys

from pgode.cli.app import BAD_INPUT, app, run_command
from pgode.runtime.disk.room import DISK
from pgode.runtime.disk.streams import flushed

__all__ = ["app", "main"]


def main() -> None:
    """Entry point of the `pgode` command."""
    try:
        code = run_command(sys.argv[1:])
    except OSError as error:  # Of the disk that standard error goes to: nothing can be said.
        if error.errno not in DISK:
            raise
        code = BAD_INPUT
    sys.exit(flushed(code))
