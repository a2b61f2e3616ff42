"""Turning an interrupt into a request that a loop honours after its current step.

In a command `pgode.runtime.stopping` handles signals throughout, and ends a process that does not
honour the request in time. Elsewhere (a notebook, a script that imports pgode) the handlers are
replaced within the block only, and Python's own are in force outside it.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from pgode.runtime.stopping.command import in_charge


class StopRequest:
    """True once the process is asked to stop. A second interrupt stops at once."""

    def __init__(self) -> None:
        self.signal: int | None = None

    def __bool__(self) -> bool:
        return self.signal is not None

    def receive(self, number: int, frame: FrameType | None) -> None:
        """Remember the signal; the current step is finished and saved first."""
        if self.signal is not None:
            raise KeyboardInterrupt
        self.signal = number


def stop_requested() -> bool:
    """Whether this process is a command that has been asked to stop."""
    charge = in_charge()
    return charge is not None and charge.signal is not None


@contextmanager
def stop_on_signal() -> Iterator[StopRequest]:
    """Catch SIGINT and SIGTERM inside the block (only the main thread can)."""
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    charge = in_charge()
    if charge is not None:
        with charge.steps(request):
            yield request
        return
    wanted = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, request.receive) for number in wanted]
    try:
        yield request
    finally:
        for number, handler in zip(wanted, before, strict=True):
            signal.signal(number, handler)
