"""The `pgode` command: one file per subcommand, each thin, importing what it needs when run."""

import sys

from pgode.cli.app import app, run_command
from pgode.runtime.disk.streams import flushed

__all__ = ["app", "main"]


def main() -> None:
    """Entry point of the `pgode` command."""
    sys.exit(flushed(run_command(sys.argv[1:])))
