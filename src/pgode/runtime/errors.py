"""Errors a user can act on. The command line prints them without a traceback and exits with 2."""


class PgodeError(Exception):
    """Base of errors whose message says what is wrong, where, what was expected, and the fix."""


class InputError(PgodeError, ValueError):
    """Something the user gave (a file, an option, an array) cannot be used as it is."""


class SolverError(PgodeError, RuntimeError):
    """An ODE solve failed: its budget ran out, or its state is not finite any more."""


class TrainingError(PgodeError, RuntimeError):
    """Training cannot continue, for instance because its loss is not finite any more."""


class PgodeWarning(UserWarning):
    """Something is wrong that a command can do without. The command line prints it as a line."""


class DamagedLogWarning(PgodeWarning):
    """The log of a training cannot be read."""
