"""The first line of a command: from here on a signal is noted, and cannot end in a traceback.

Imports nothing but `signal`, so that next to nothing of pgode runs before it.
"""

import signal

SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)

noted: list[int] = []
"""Signals before `pgode.runtime.stopping.command` was loaded."""


def note_signals() -> None:
    """Note signals instead of raising. One that is ignored (nohup, background jobs) stays so."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, frame: noted.append(number))
