"""Work that is cut into tasks, each in a process of its own, some at a time.

A fresh process per task gives back all memory, leaves its own log, and can be stopped without
touching the others.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from pgode.runtime.signals import stop_on_signal

PAUSE = 0.3
"""Seconds between two looks at the running tasks."""
STOPPED = 3
"""Exit code of a task that was stopped and can go on later."""


@dataclass(frozen=True)
class Task:
    """`python -m words`, and where what it prints goes."""

    words: tuple[str, ...]
    log: Path


Watch = Callable[[Sequence[Task]], None]
Finish = Callable[[Task, str | None], None]


def run_tasks(tasks: Iterable[Task], jobs: int, threads: int, watch: Watch, finish: Finish) -> None:
    """Run `jobs` tasks at a time; KeyboardInterrupt if asked to stop, after all have saved.

    `watch` is told again and again what is running, `finish` what ended: with None, or with the
    last words of a task that failed; the others go on.
    """
    waiting, running = deque(tasks), dict[subprocess.Popen[bytes], Task]()
    with ExitStack() as stack:
        stop = stack.enter_context(stop_on_signal())
        stack.callback(lambda: _end(list(running)))
        while waiting or running:
            while waiting and len(running) < jobs:
                task = waiting.popleft()
                running[_start(task, threads)] = task
            watch(list(running.values()))
            time.sleep(PAUSE)
            for process in [each for each in running if each.poll() is not None]:
                task = running.pop(process)
                if process.returncode == 0:
                    finish(task, None)
                elif not (stop and process.returncode == STOPPED):
                    finish(task, _last_words(task.log))
            if stop:
                print(
                    "Stopping: what is running saves its work first; interrupt again to stop now.",
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


def follow_parent() -> None:
    """Ask this process to stop (SIGTERM) when the one that started it is gone."""

    def follow(parent: int) -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=follow, args=(os.getppid(),), daemon=True).start()


def _start(task: Task, threads: int) -> subprocess.Popen[bytes]:
    task.log.parent.mkdir(parents=True, exist_ok=True)
    limits = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(threads))
    with task.log.open("wb") as out:
        # A group of its own: an interrupt from the keyboard reaches us, and we pass it on.
        return subprocess.Popen(
            [sys.executable, "-m", *task.words],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, **limits},
        )


def _end(running: list[subprocess.Popen[bytes]]) -> None:
    """Ask what still runs to save its work, and wait for it."""
    for process in running:
        process.terminate()
    for process in running:
        process.wait()


def _last_words(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return f"{lines[-1] if lines else 'it left no message'} (see {log})"
