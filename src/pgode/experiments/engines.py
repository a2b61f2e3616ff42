"""Where trials run: in processes on this machine, or on a Ray cluster."""

import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from pgode.errors import InputError, PgodeError
from pgode.experiments.trials import Trial, result_file, run_trial
from pgode.experiments.worker import STOPPED
from pgode.files import write_json
from pgode.training.signals import stop_on_signal

PAUSE = 0.3
"""Seconds between two looks at the running trials."""


class Watcher(Protocol):
    """Told what happens to the trials."""

    def running(self, trials: Sequence[Trial]) -> None:
        """These are being worked on now."""

    def finished(self, trial: Trial) -> None:
        """Its numbers are there."""

    def failed(self, trial: Trial, reason: str) -> None:
        """It ended without numbers; the others go on."""


Engine = Callable[[Sequence[Trial], Path, int, Watcher], None]
"""Work through trials into a folder, so many at once; KeyboardInterrupt if asked to stop."""


def threads_each(jobs: int) -> int:
    """The share of the cores that each of `jobs` processes gets."""
    return max(1, len(os.sched_getaffinity(0)) // jobs if _has_affinity() else _cores() // jobs)


def run_local(trials: Sequence[Trial], root: Path, jobs: int, watcher: Watcher) -> None:
    """Each trial in a process of its own, `jobs` at a time."""
    waiting, running = deque(trials), dict[subprocess.Popen[bytes], Trial]()
    with ExitStack() as stack:
        stop = stack.enter_context(stop_on_signal())
        stack.callback(lambda: _end(list(running)))
        while waiting or running:
            while waiting and len(running) < jobs:
                trial = waiting.popleft()
                running[_start(trial, root, threads_each(jobs))] = trial
            watcher.running(list(running.values()))
            time.sleep(PAUSE)
            for process in [each for each in running if each.poll() is not None]:
                trial = running.pop(process)
                if process.returncode == 0:
                    watcher.finished(trial)
                elif not (stop and process.returncode == STOPPED):
                    watcher.failed(trial, _last_words(_log(trial, root)))
            if stop:
                raise KeyboardInterrupt


def run_ray(trials: Sequence[Trial], root: Path, jobs: int, watcher: Watcher) -> None:
    """The same on Ray: the cluster that RAY_ADDRESS names, or one of `jobs` workers made here.

    A worker without our files makes the data itself (seeds and hashes are the same everywhere);
    only the numbers travel back.
    """
    try:
        import ray
    except ImportError:
        raise InputError(
            "--engine ray needs Ray, which is not installed. Expected the extra of that name. "
            'Install it with pip install "pgode[ray]", or leave --engine out.'
        ) from None
    threads = threads_each(jobs)
    if not ray.is_initialized():
        cores = None if os.environ.get("RAY_ADDRESS") else jobs * threads
        ray.init(
            num_cpus=cores, include_dashboard=False, log_to_driver=False, configure_logging=False
        )
    remote = ray.remote(num_cpus=threads, max_retries=2)(_on_ray)
    where = str(root.resolve())
    pending = {remote.remote(asdict(trial), where, threads): trial for trial in trials}
    try:
        with stop_on_signal() as stop:
            while pending:
                watcher.running(list(pending.values())[:jobs])
                done, _ = ray.wait(list(pending), timeout=PAUSE)
                for reference in done:
                    trial = pending.pop(reference)
                    try:
                        write_json(result_file(trial, root), ray.get(reference))
                        watcher.finished(trial)
                    except (PgodeError, ray.exceptions.RayError) as error:
                        watcher.failed(trial, str(error).strip().splitlines()[-1])
                if stop:
                    raise KeyboardInterrupt
    finally:
        for reference in pending:
            ray.cancel(reference)


ENGINES: dict[str, Engine] = {"local": run_local, "ray": run_ray}


def _on_ray(content: dict[str, Any], root: str, threads: int) -> dict[str, Any]:
    import torch

    torch.set_num_threads(threads)
    result = run_trial(Trial.from_json(content), Path(root), threads)
    if result is None:
        raise KeyboardInterrupt("the trial was stopped; its state is saved")
    return result


def _start(trial: Trial, root: Path, threads: int) -> subprocess.Popen[bytes]:
    description, log = root / "trials" / f"{trial.key}.json", _log(trial, root)
    write_json(description, asdict(trial))
    log.parent.mkdir(parents=True, exist_ok=True)
    limits = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(threads))
    words = [sys.executable, "-m", "pgode.experiments.worker", str(root), str(description)]
    words.append(str(threads))
    with log.open("wb") as out:
        # A group of its own: an interrupt from the keyboard reaches the grid, which passes it on.
        return subprocess.Popen(
            words,
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


def _log(trial: Trial, root: Path) -> Path:
    return root / "logs" / f"{trial.key}.txt"


def _last_words(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return f"{lines[-1] if lines else 'it left no message'} (see {log})"


def _has_affinity() -> bool:
    return hasattr(os, "sched_getaffinity")


def _cores() -> int:
    return os.cpu_count() or 1
