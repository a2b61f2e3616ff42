"""Running one command in a process of its own, and measuring it.

Importing takes longer than refusing, so most commands run in a fork of a process that has imported
everything; some run as a user's shell would start them.
"""

import faulthandler
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from tests.attack.outcome import PATIENCE

LIMITS = {resource.RLIMIT_AS: 10 * 2**30, resource.RLIMIT_CPU: 40, resource.RLIMIT_CORE: 0}
"""So that a command that goes wild cannot take the machine down, nor the time of the attack."""


@dataclass(frozen=True)
class Finished:
    """How a process ended, what it said, and what it took."""

    code: int | None
    output: str
    errors: str
    seconds: float
    megabytes: float
    children: bool

    @property
    def hung(self) -> bool:
        """Whether it was ended because it took too long, by the clock or in processor time."""
        return self.code is None or self.code in (-signal.SIGXCPU, -signal.SIGKILL)

    @property
    def last_words(self) -> str:
        """The end of what was said, on one line; if it hung, where."""
        words = " ".join((self.errors or self.output).split())
        return words[-3000:] if self.code is None else words[-300:]


def import_everything() -> None:
    """What the commands of the attack import, so that no fork has to do it again."""
    import h5netcdf  # noqa: F401
    import matplotlib.figure  # noqa: F401
    import pandas  # noqa: F401
    import xarray.backends  # noqa: F401
    import zarr  # noqa: F401

    from pgode.cli import app  # noqa: F401
    from pgode.data import checkup, files, simulate  # noqa: F401
    from pgode.data.checkup import checkup as examining  # noqa: F401
    from pgode.data.files import mocap, table  # noqa: F401
    from pgode.models import registry  # noqa: F401
    from pgode.runs import api, compare, convert, hubverse, laws, report, robustness  # noqa: F401
    from pgode.tuning import api as tuning  # noqa: F401


def forked(arguments: Sequence[str], folder: Path, **options: Any) -> Finished:
    """Run `pgode ARGUMENTS` in a fork of this process."""
    return measured(lambda: run(arguments), folder, **options)


def run(arguments: Sequence[str]) -> NoReturn:
    """Run `pgode ARGUMENTS` in this process and end it, as the program of that name would."""
    from pgode.cli.app import run_command

    try:
        code = run_command(list(arguments))
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # What a process of its own would print before it ends with 1.
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def started(arguments: Sequence[str], folder: Path, **options: Any) -> Finished:
    """Run `pgode ARGUMENTS` as a program of its own."""
    words = [sys.executable, "-m", "pgode.cli", *arguments]
    return measured(lambda: os.execv(words[0], words), folder, **options)


def measured(
    command: Callable[[], NoReturn],
    folder: Path,
    *,
    patience: float = PATIENCE,
    environment: Mapping[str, str] | None = None,
    limits: Mapping[int, int] | None = None,
) -> Finished:
    """Run a function that never returns in a new process and a session of its own."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = os.fork()
        if process == 0:
            try:
                _prepare(folder, output.fileno(), errors.fileno(), environment or {}, limits or {})
                command()
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(97)
        code: int | None = None
        while True:
            ended, status, used = os.wait4(process, os.WNOHANG)
            if ended:
                code = os.waitstatus_to_exitcode(status)
                break
            if time.monotonic() - begin > patience:
                os.kill(process, signal.SIGABRT)  # Python then says where it is.
                time.sleep(1)
                os.killpg(process, signal.SIGKILL)
                used = os.wait4(process, 0)[2]
                break
            time.sleep(0.004)
        children = _end_group(process)
        said = []
        for file in (output, errors):
            file.seek(0)
            said.append(file.read(1_000_000).decode(errors="backslashreplace"))
    return Finished(
        code, *said, used.ru_utime + used.ru_stime, used.ru_maxrss * _RSS_UNIT / 1e6, children
    )


_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


def _prepare(
    folder: Path,
    output: int,
    errors: int,
    environment: Mapping[str, str],
    limits: Mapping[int, int],
) -> None:
    os.setsid()
    os.chdir(folder)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (errors, 2)):
        os.dup2(source, target)
    os.environ.update({"PYTHONFAULTHANDLER": "1", **environment})
    faulthandler.enable(2)
    for kind, most in {**LIMITS, **limits}.items():
        resource.setrlimit(kind, (most, most))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # A write beyond the limit is an error instead.


def _end_group(group: int, seconds: float = 3.0) -> bool:
    """Whether processes of the group outlive its leader; they are ended."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.02)
    os.killpg(group, signal.SIGKILL)
    return True
