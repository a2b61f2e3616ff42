"""Tasks in separate processes on this machine, and the entry point of such a process.

A fresh process per task frees all memory when it ends, writes its own log, and can be stopped
without touching the others.
"""

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO

from pgode.runtime.disk.room import unwritable
from pgode.runtime.errors import PgodeError, WriteError
from pgode.runtime.signals import stop_on_signal
from pgode.runtime.stopping import leftovers
from pgode.runtime.tasks import PAUSE, Task, Watcher

WORKER = "pgode.runtime.stopping.worker"
"""Runs another module; a signal is handled before that module is loaded."""
STOPPED = 3
"""Exit code of a task that was stopped and can be continued later."""


UNWRITABLE = 4
"""Exit code of a task that could not write; others in the same folder could not either."""


def run_local(tasks: Iterable[Task], jobs: int, threads: int, watcher: Watcher) -> None:
    """Run each task as `python -m command`, `jobs` at a time."""
    waiting, running = iter(tasks), dict[subprocess.Popen[bytes], Task]()
    with ExitStack() as stack:
        stop = stack.enter_context(stop_on_signal())
        stack.callback(lambda: _end(list(running)))
        while True:
            while len(running) < jobs and (task := next(waiting, None)) is not None:
                running[_start(task, threads)] = task
            if not running:
                break
            watcher.running(list(running.values()))
            time.sleep(PAUSE)
            for process in [each for each in running if each.poll() is not None]:
                task = running.pop(process)
                if process.returncode == 0:
                    watcher.finished(task)
                elif process.returncode == UNWRITABLE:
                    raise _unwritten(task)
                elif not (stop and process.returncode == STOPPED):
                    watcher.failed(task, _last_line(task.log))
            if stop:
                print(
                    "Stopping: running tasks save their work first; interrupt again to stop now.",
                    file=sys.stderr,
                )
                raise KeyboardInterrupt


def threads_each(jobs: int) -> int:
    """The share of the cores that each of `jobs` processes gets."""
    return max(1, cores() // jobs)


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def worker_exit_code(work: Callable[[], bool]) -> int:
    """Do the work of a task's process; `work` returns False if it was stopped before the end.

    The process is asked to stop (SIGTERM) when the one that started it is gone. An error that a
    user can act on is printed without a traceback, as the last line of the log.
    """
    _stop_with_parent()
    try:
        return 0 if work() else STOPPED
    except PgodeError as error:
        with suppress(OSError):  # The log may be on the disk that is full.
            print(f"Error: {error}", file=sys.stderr, flush=True)
        return UNWRITABLE if isinstance(error, WriteError) else 2


def _stop_with_parent() -> None:
    def watch(parent: int) -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, args=(os.getppid(),), daemon=True).start()


def _start(task: Task, threads: int) -> subprocess.Popen[bytes]:
    limits = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(threads))
    with _opened(task.log) as out:
        # A separate process group: a keyboard interrupt reaches only us, and we pass it on.
        return leftovers.child(
            subprocess.Popen(
                [sys.executable, "-m", WORKER, *task.command],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, **limits},
            )
        )


def _opened(log: Path) -> IO[bytes]:
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        return log.open("wb")
    except OSError as error:
        raise unwritable(log, error) from None


def _unwritten(task: Task) -> WriteError:
    """What a task said that could not write, as far as its log had room for it."""
    said = task.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    if said and said[-1].startswith("Error: "):
        return WriteError(said[-1].removeprefix("Error: "))
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return unwritable(task.log, full, "Make room there, then give the same command again.")


def _end(running: list[subprocess.Popen[bytes]]) -> None:
    """Ask the running processes to save their work, and wait for them."""
    for process in running:
        process.terminate()
    for process in running:
        process.wait()


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return f"{lines[-1] if lines else 'it left no message'} (see {log})"
