"""Which process wrote something, and whether it still runs."""

import os
import socket
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Literal

PATTERN = r"(?P<host>[0-9a-f]{8})-(?P<space>[0-9a-f]{8})-(?P<pid>\d+)-(?P<start>\d+)"
"""An identity as text, for a regular expression."""

State = Literal["alive", "dead", "unknown"]


@dataclass(frozen=True)
class Identity:
    """A process. Numbers of processes are used again, so the time of its start belongs to it."""

    host: str
    """Of the name of the machine."""
    space: str
    """Of its last start, and of the container: only within one do numbers mean the same."""
    pid: int
    start: str
    """In ticks since the machine started; 0 where the system does not tell."""

    @property
    def text(self) -> str:
        """In the form of `PATTERN`."""
        return f"{self.host}-{self.space}-{self.pid}-{self.start}"

    @property
    def state(self) -> State:
        """Whether the process runs. Of other machines and containers nothing is known."""
        own = this_process()
        if (self.host, self.space) != (own.host, own.space):
            return "unknown"
        if own.start != "0":
            return "alive" if started(self.pid) == self.start else "dead"
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return "dead"
        except OSError:  # It runs and belongs to somebody else.
            return "alive"
        return "alive"


def this_process() -> Identity:
    """The identity of this process."""
    return _identity(os.getpid())  # By number: a forked process inherits the cache.


@cache
def _identity(pid: int) -> Identity:
    boot = _read(Path("/proc/sys/kernel/random/boot_id"))
    try:
        container = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        container = ""
    return Identity(_short(socket.gethostname()), _short(boot + container), pid, started(pid))


def started(pid: int) -> str:
    """When a process started; 0 if there is none, or if it has ended and nobody has noticed."""
    # The second field, the name of the program, may hold anything, also spaces and brackets.
    fields = _read(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
    return "0" if len(fields) < 20 or fields[0] in "ZX" else fields[19]


def _short(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:8]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
