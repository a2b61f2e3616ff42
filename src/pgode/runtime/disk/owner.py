"""Who holds a lock, for the message that others get."""

import getpass
import json
import os
import re
import shlex
import socket
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from pgode.runtime.disk.identity import PATTERN, Identity, this_process

LONGEST = 200
"""Characters of a command that are shown."""
MOST = 4096
"""Bytes of a lock that are read: anybody may have written it."""


@dataclass(frozen=True)
class Owner:
    """The process that holds a lock."""

    user: str
    host: str
    pid: int
    since: str
    command: str
    process: str
    """Its identity as text."""

    @classmethod
    def this(cls) -> "Owner":
        """This process, from now on."""
        try:
            user = getpass.getuser()
        except (KeyError, OSError, ImportError):  # A container may run as a user without a name.
            user = str(os.getuid()) if hasattr(os, "getuid") else "unknown"
        program = Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "python"
        program = "pgode" if program == "__main__.py" else program
        command = shlex.join([program, *sys.argv[1:]])
        since = time.strftime("%Y-%m-%d %H:%M:%S")
        own = this_process()
        return cls(user, socket.gethostname(), os.getpid(), since, command[:LONGEST], own.text)

    @classmethod
    def read(cls, handle: int) -> "Owner | None":
        """The owner that an open lock names; None if it names none."""
        try:
            content = json.loads(os.pread(handle, MOST, 0).decode("utf-8"))
            found = {key: str(content[key]) for key in cls.__dataclass_fields__}
            owner = cls(**{**found, "pid": int(found["pid"])})  # type: ignore[arg-type]
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None
        return owner if re.fullmatch(PATTERN, owner.process) else None

    def to_bytes(self) -> bytes:
        """For the file of the lock."""
        return json.dumps(asdict(self)).encode("utf-8")

    @property
    def identity(self) -> Identity:
        """To find out whether the process still runs."""
        host, space, pid, start = self.process.split("-")
        return Identity(host, space, int(pid), start)

    @property
    def text(self) -> str:
        """In words; what is not printable is left out, since anybody may have written it."""
        text = f"{self.command}, process {self.pid} of {self.user} on {self.host}"
        return "".join(each for each in f"{text} since {self.since}" if each.isprintable())
