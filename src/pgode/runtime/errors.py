"""Errors a user can act on. The command line prints them without a traceback and exits with 2."""


class PgodeError(Exception):
    """Base of errors whose message says what is wrong, where, what was expected, and the fix."""


class InputError(PgodeError, ValueError):
    """Something the user gave (a file, an option, an array) cannot be used as it is."""


class SolverError(PgodeError, RuntimeError):
    """An ODE solve was stopped: its budget ran out, or its state stopped being finite."""


class TrainingError(PgodeError, RuntimeError):
    """Training cannot go on, for instance because its loss stopped being finite."""
