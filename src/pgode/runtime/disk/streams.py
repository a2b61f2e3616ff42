"""Standard output and error on a disk that is full, or in a pipe that nobody reads any more."""

import errno
import os
import sys
from contextlib import suppress

from pgode.runtime.disk.room import DISK


def flushed(code: int) -> int:
    """Write out what was printed, and return the exit code: 2 if the disk did not take it.

    Python would try again when it ends, and report the failure with a traceback.
    """
    found = [error for stream in (sys.stdout, sys.stderr) if (error := _flush(stream)) is not None]
    refused = next((error for error in found if error.errno in DISK), None)
    if refused is None or code:  # What ended the command has been said.
        return code
    with suppress(OSError, ValueError):
        reason = os.strerror(refused.errno or errno.EIO)
        sys.stderr.write(
            f"Error: cannot write what this command prints: {reason}. Expected room where the "
            f"output goes. Make room there, or print elsewhere.\n"
        )
        sys.stderr.flush()
    return 2


def _flush(stream: object) -> OSError | None:
    try:
        stream.flush()  # type: ignore[attr-defined]
    except OSError as error:
        # What is left in the buffer goes nowhere from now on.
        with suppress(OSError, ValueError, AttributeError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())  # type: ignore[attr-defined]
            os.close(nowhere)
        return error
    except (AttributeError, ValueError):  # There is none, or it is closed.
        return None
    return None
