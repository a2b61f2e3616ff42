"""The `pgode` command: one file per subcommand, each thin, importing what it needs when run."""

from pgode.runtime.stopping.first import note_signals


def main() -> None:
    """Entry point of the `pgode` command."""
    note_signals()

    import sys

    from pgode.runtime.stopping.command import take_charge

    charge = take_charge()

    from pgode.cli.app import BAD_INPUT, run_command
    from pgode.runtime.disk.room import DISK
    from pgode.runtime.disk.streams import flushed

    try:
        code = run_command(sys.argv[1:])
    except Exception as error:
        if charge.signal is not None:
            code = 0  # A consequence of the stop, such as the end of another process.
        elif isinstance(error, OSError) and error.errno in DISK:
            code = BAD_INPUT  # Of the disk that standard error goes to: nothing can be said.
        else:
            raise
    if charge.signal is not None and code == 0:
        charge.say()
        code = charge.exit_code
    charge.end(flushed(code))
