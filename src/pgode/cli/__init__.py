"""The `pgode` command: one file per subcommand, each thin, importing what it needs when run."""

from pgode.runtime.stopping.first import note_signals


def main() -> None:
    """Entry point of the `pgode` command."""
    note_signals()

    import sys

    from pgode.runtime.stopping.command import take_charge

    charge = take_charge()

    from pgode.cli.app import run_command

    try:
        code = run_command(sys.argv[1:])
    except Exception:
        if charge.signal is None:
            raise
        code = 0  # A consequence of the stop, such as the end of another process.
    if charge.signal is not None and code == 0:
        charge.say()
        code = charge.exit_code
    charge.end(code)
