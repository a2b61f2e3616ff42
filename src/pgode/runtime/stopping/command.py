"""Signals of a command: noted from its first line on, honoured by a thread that cannot be held up.

The reasons are in `pgode.runtime.stopping`.
"""

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from select import select
from types import FrameType
from typing import NoReturn, Protocol

from pgode.runtime.stopping import kept, leftovers
from pgode.runtime.stopping.first import SIGNALS, noted

GRACE = 6.5
"""Seconds that work in steps has to save its state and end by itself."""
WORKER_GRACE = 4.5
"""The same in a worker, which ends before the command that started it."""
PARKING = 1.0
"""Seconds after which the process is ended although the main thread is still in C."""
CLEANING = 3.0
"""Longest time for removing what must not be left behind, should a disk hang."""
SAME = 0.3
"""A signal so soon after the first is the same event: a wrapper passed on what the terminal sent
to all of its processes."""
PARKED = 0
"""What the main thread tells the other one; no signal has this number."""
SHOW_CURSOR = "\r\x1b[2K\x1b[?25h"
"""Ends a progress bar: clears its line and shows the cursor that it has hidden."""


class Noting(Protocol):
    """What is told of a signal."""

    signal: int | None


class Charge:
    """The signals of this process, from `take_charge` until its end."""

    def __init__(self, grace: float, *, quiet: bool) -> None:
        self.grace, self.quiet = grace, quiet
        self.signal: int | None = None
        """The first one that came."""
        self.said = False
        """Whether the user has been told what is kept."""
        self._in_steps = False
        """Whether the first signal came while code worked in steps."""
        self._requests: list[Noting] = []
        self._undisturbed = 0
        self._watched = False
        self._code: int | None = None
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        try:
            self._errors = os.dup(2)  # Code that silences a library redirects the stream itself.
        except OSError:
            self._errors = 2

    def install(self) -> None:
        """Note signals from now on. One that was ignored (nohup, background jobs) stays so."""
        if os.name == "posix":
            signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._note)

    def watch(self) -> None:
        """Start the thread that ends the process."""
        # First of all, so that it is called last of all.
        atexit.register(self._leave)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)
        threading.Thread(target=self._watch, name="signals", daemon=True).start()
        self._watched = True
        for number in noted[:1]:
            self.signal = self.signal or number
        if self.signal is not None:
            self._park()

    @contextmanager
    def steps(self, request: Noting) -> Iterator[None]:
        """Within the block a signal is only noted; code there looks at `request` and ends."""
        if self.signal is not None and self._may_park():
            self._park()
        request.signal = self.signal
        self.install()  # Libraries such as Ray replace handlers.
        self._requests.append(request)
        try:
            yield
        finally:
            self._requests.remove(request)

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """For a few system calls that belong together: the main thread is parked after them."""
        self._undisturbed += 1
        try:
            yield
        finally:
            self._undisturbed -= 1
            if self.signal is not None and self._may_park():
                self._park()

    @property
    def exit_code(self) -> int:
        """128 and the number of the signal, as shells have it."""
        return 128 + (signal.SIGINT if self.signal is None else self.signal)

    def say(self) -> None:
        """Tell the user what is kept, once; not through a stream, which may be locked."""
        if self.said or self.quiet:
            return
        self.said = True
        bar = os.isatty(self._errors) and os.environ.get("TERM", "dumb") != "dumb"
        text = f"{SHOW_CURSOR if bar else ''}{kept.sentence()}\n"
        with suppress(OSError):
            if os.name != "posix" or _writable(self._errors):
                os.write(self._errors, text.encode("utf-8", "backslashreplace"))

    def end(self, code: int) -> NoReturn:
        """Leave with this exit code."""
        self._code = code
        sys.exit(code)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.signal = self.signal or number
        self._in_steps |= bool(self._requests)
        for request in self._requests:
            request.signal = self.signal
        if os.name != "posix":
            os.write(self._write, bytes([number]))
        if self._may_park():
            self._park()

    def _may_park(self) -> bool:
        return self._watched and not self._requests and not self._undisturbed

    def _park(self) -> NoReturn:
        with suppress(OSError):
            os.write(self._write, bytes([PARKED]))
        while True:
            time.sleep(60)

    def _watch(self) -> None:
        try:
            self._wait()
        finally:
            self._stop()

    def _wait(self) -> None:
        """Until the process has to be ended from here."""

        began: float | None = None
        until = 0.0
        while True:
            left = None if began is None else max(0.0, until - time.monotonic())
            if not select([self._read], [], [], left)[0]:
                return
            for number in os.read(self._read, 64):
                now = time.monotonic()
                if number == PARKED or (began is not None and now - began > SAME):
                    return
                if number in SIGNALS and began is None:
                    # The main thread may be in C and not have noted it.
                    self.signal = self.signal or number
                    in_steps = self._in_steps or self._requests
                    began, until = now, now + (self.grace if in_steps else PARKING)

    def _stop(self) -> None:
        """End the process, whatever fails or hangs on the way."""
        try:
            cleaning = threading.Thread(target=self._clean, name="cleaning", daemon=True)
            try:
                cleaning.start()
            except RuntimeError:  # The system gives no more threads.
                self._clean()
            else:
                cleaning.join(CLEANING)
        finally:
            os._exit(self.exit_code)

    def _clean(self) -> None:
        with suppress(Exception):
            asked = leftovers.ask_children()
            leftovers.undo_all()
            leftovers.end_children(asked)
        with suppress(Exception):
            self.say()

    def _leave(self) -> None:
        """The last thing before the interpreter is taken apart, when no thread runs any more.

        A signal would find no one to honour it there, so this part is left out: all is written.
        """
        if self._code is None:  # An error of the program, which Python has printed.
            for number in SIGNALS:
                signal.signal(number, signal.SIG_DFL)
            return
        code = self._code
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError, AttributeError):
                code = code or 120  # As Python has it.
        os._exit(code)

    def _forget(self) -> None:
        """A copy of this process made by fork has no second thread."""
        signal.set_wakeup_fd(-1)
        for number in SIGNALS:
            if signal.getsignal(number) == self._note:
                signal.signal(number, signal.SIG_DFL)


_charge: Charge | None = None


def take_charge(grace: float = GRACE) -> Charge:
    """Handle the signals of this process until its end; after `first.note_signals`."""
    global _charge
    # Of the processes that torchrun starts, the first one speaks.
    quiet = os.environ.get("RANK", "0") not in ("", "0")
    _charge = Charge(grace, quiet=quiet)
    _charge.install()
    _charge.watch()
    return _charge


def in_charge() -> Charge | None:
    """What handles the signals of this process; None in a notebook or another program."""
    return _charge


@contextmanager
def undisturbed() -> Iterator[None]:
    """See `Charge.undisturbed`; nothing where the process is not a command."""
    if _charge is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    with _charge.undisturbed():
        yield


def _writable(descriptor: int) -> bool:
    """Whether something reads; a pipe that is full would block for good."""

    return bool(select([], [descriptor], [], 1.0)[1])
