"""`python -m pgode.runtime.stopping.worker MODULE ...`: a module as a worker of a command.

The module's own imports take seconds; here its signals are handled before the first of them.
"""

from pgode.runtime.stopping.first import note_signals


def main() -> None:
    """Run the module that the first argument names, as `python -m` would."""
    note_signals()

    import runpy
    import sys

    from pgode.runtime.stopping.command import WORKER_GRACE, take_charge

    charge = take_charge(WORKER_GRACE)
    del sys.argv[0]
    try:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        charge.end(ended.code if isinstance(ended.code, int) else 0)


if __name__ == "__main__":
    main()
