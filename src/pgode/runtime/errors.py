"""Errors a user can act on. The command line prints them without a traceback and exits with 2."""

from pathlib import Path


class PgodeError(Exception):
    """Base of errors whose message says what is wrong, where, what was expected, and the fix."""


class InputError(PgodeError, ValueError):
    """Something the user gave (a file, an option, an array) cannot be used as it is."""


class WriteError(InputError):
    """Something cannot be written: the disk is full, the folder is gone, the owner forbids it.

    The cause is not what was asked for, so the same command works once it is mended. `path` is
    what was to be written, and `reason` the error of the file system.
    """

    def __init__(self, text: str, path: Path | None = None, reason: OSError | None = None) -> None:
        super().__init__(text)
        self.path, self.reason = path, reason


class BusyError(InputError):
    """Another process works in the folder; the same command works once that has ended."""


class SolverError(PgodeError, RuntimeError):
    """An ODE solve failed: its budget ran out, or its state is not finite any more."""


class TrainingError(PgodeError, RuntimeError):
    """Training cannot continue, for instance because its loss is not finite any more."""


class PgodeWarning(UserWarning):
    """Something is wrong that a command can do without. The command line prints it as a line."""


class DamagedLogWarning(PgodeWarning):
    """The log of a training cannot be read."""
