"""Where trials run: in processes on this machine, or on a Ray cluster."""

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from pgode.reproduce.plan.trials import Trial, result_file, run_trial
from pgode.runtime.errors import InputError, PgodeError
from pgode.runtime.files import write_json
from pgode.runtime.processes import PAUSE, Task, run_tasks, threads_each
from pgode.runtime.signals import stop_on_signal


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


def run_local(trials: Sequence[Trial], root: Path, jobs: int, watcher: Watcher) -> None:
    """Each trial in a process of its own, `jobs` at a time."""
    threads = threads_each(jobs)
    owner = {_task(trial, root, threads): trial for trial in trials}

    def finish(task: Task, reason: str | None) -> None:
        if reason is None:
            watcher.finished(owner[task])
        else:
            watcher.failed(owner[task], reason)

    run_tasks(
        owner, jobs, threads, lambda running: watcher.running([owner[t] for t in running]), finish
    )


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


def _task(trial: Trial, root: Path, threads: int) -> Task:
    description = root / "trials" / f"{trial.key}.json"
    write_json(description, asdict(trial))
    words = ("pgode.reproduce.runner.worker", str(root), str(description), str(threads))
    return Task(words, root / "logs" / f"{trial.key}.txt")
