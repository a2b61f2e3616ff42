"""Engines that run tasks: processes on this machine, or a Ray cluster."""

import os
from collections.abc import Callable, Iterable
from typing import Any

from pgode.runtime.errors import InputError, PgodeError, WriteError
from pgode.runtime.processes import run_local
from pgode.runtime.signals import stop_on_signal
from pgode.runtime.tasks import PAUSE, Task, Watcher

Engine = Callable[[Iterable[Task], int, int, Watcher], None]
"""engine(tasks, jobs, threads, watcher): run all tasks, `jobs` at a time, with `threads` each.

A task is taken from `tasks` when one of the jobs is free, after the watcher has heard of those that
ended before: a generator can choose the next task by their results.

A task that fails is reported to the watcher and the others continue. KeyboardInterrupt if the
process is asked to stop: local processes save their work first, tasks on Ray are cancelled, and
only the results they have already yielded are kept.
"""

RETRIES = 2
"""How often Ray restarts a task whose worker is lost."""


def run_ray(tasks: Iterable[Task], jobs: int, threads: int, watcher: Watcher) -> None:
    """Run tasks on the cluster that RAY_ADDRESS names, or on one of `jobs` workers started here."""
    ray = _ray(jobs * threads)
    waiting, running = iter(tasks), dict[Any, Task]()
    try:
        with stop_on_signal() as stop:
            while not stop:
                while len(running) < jobs and (task := next(waiting, None)) is not None:
                    options = {"num_cpus": threads, "max_retries": RETRIES}
                    remote = ray.remote(num_returns="streaming", **options)(task.work)
                    running[remote.remote(*task.arguments())] = task
                if not running:
                    break
                watcher.running(list(running.values()))
                ready, _ = ray.wait(list(running), timeout=PAUSE)
                for results in ready:
                    task = running[results]
                    try:
                        task.store(ray.get(next(results)))
                    except StopIteration:
                        del running[results]
                        watcher.finished(task)
                    except WriteError:
                        raise
                    except (PgodeError, ray.exceptions.RayError) as error:
                        del running[results]
                        watcher.failed(task, _reason(error))
            if stop:
                raise KeyboardInterrupt
    finally:
        for results in running:
            ray.cancel(results)


ENGINES: dict[str, Engine] = {"local": run_local, "ray": run_ray}


def _reason(error: Exception) -> str:
    """The reason of a failure, which Ray prints below a traceback; its type if there is no text."""
    return (str(error).strip().splitlines() or [type(error).__name__])[-1]


def _ray(cores: int) -> Any:
    """The module `ray`, connected to a cluster; one started here has `cores` cores."""
    try:
        import ray
    except ImportError:
        raise InputError(
            "--engine ray needs Ray, which is not installed. Expected the extra of that name. "
            'Install it with pip install "pgode[ray]", or leave --engine out.'
        ) from None
    if not ray.is_initialized():
        ray.init(
            num_cpus=None if os.environ.get("RAY_ADDRESS") else cores,
            include_dashboard=False,
            log_to_driver=False,
            configure_logging=False,
        )
    return ray
