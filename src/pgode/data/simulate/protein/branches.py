"""Running the branches of a simulation: in processes on this machine, or on a Ray cluster."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pgode.data.simulate.protein.sampler import Sample, Sampler, State
from pgode.data.simulate.protein.samples import Samples
from pgode.data.simulate.protein.settings import Branch
from pgode.runtime.errors import InputError, PgodeError
from pgode.runtime.processes import PAUSE, Task, run_tasks
from pgode.runtime.signals import StopRequest, stop_on_signal

BEGIN = -1
"""Stands for the number of a sample while a branch separates from the others."""

Watch = Callable[[], None]
Engine = Callable[[Path, Sequence[Branch], int, Watch], list[str]]
"""Finish branches, so many at a time; returns what went wrong, KeyboardInterrupt if stopped."""


def finish_branch(samples: Samples, branch: Branch, sampler: Sampler, stop: StopRequest) -> bool:
    """Make every missing sample of a branch, one after another; False if stopped before the end."""
    state = _begun(samples, branch, sampler)
    for index in range(branch.first, branch.stop):
        if samples.has(branch.split, index):
            state = samples.sample(branch.split, index).end
            continue
        if stop:
            return False
        sample = sampler.sample(state, branch.split, index)
        samples.keep(branch.split, index, sample)
        state = sample.end
    return True


def missing(samples: Samples) -> list[Branch]:
    """Branches that are not finished."""
    return [
        branch
        for branch in samples.settings.branches()
        if not all(samples.has(branch.split, k) for k in range(branch.first, branch.stop))
    ]


def run_local(folder: Path, branches: Sequence[Branch], jobs: int, watch: Watch) -> list[str]:
    """Each branch in a process with one thread, `jobs` at a time."""
    failures: list[str] = []

    def finish(task: Task, reason: str | None) -> None:
        if reason is not None:
            failures.append(f"{task.words[-1]}: {reason}")

    tasks = [
        Task(
            ("pgode.data.simulate.protein.worker", str(folder), branch.name),
            folder / "logs" / f"{branch.name}.txt",
        )
        for branch in branches
    ]
    run_tasks(tasks, jobs, 1, lambda _: watch(), finish)
    return failures


def run_ray(folder: Path, branches: Sequence[Branch], jobs: int, watch: Watch) -> list[str]:
    """The same on Ray: an actor per branch, which sends each finished sample back."""
    try:
        import ray
    except ImportError:
        raise InputError(
            "--engine ray needs Ray, which is not installed. Expected the extra of that name. "
            'Install it with pip install "pgode[ray]", or leave --engine out.'
        ) from None
    if not ray.is_initialized():
        own = None if os.environ.get("RAY_ADDRESS") else jobs
        ray.init(
            num_cpus=own, include_dashboard=False, log_to_driver=False, configure_logging=False
        )
    samples = Samples(folder)
    solvated, equilibrated = samples.required_solvated()
    actor_type: Any = ray.remote(num_cpus=1)(_OnRay)
    waiting, pending, failures = list(branches), dict[Any, tuple[Any, Branch, int]](), list[str]()

    def go_on(actor: Any, branch: Branch, index: int, state: State) -> None:
        """Ask for the branch's next sample that is missing, if there is one."""
        while index < branch.stop and samples.has(branch.split, index):
            state = samples.sample(branch.split, index).end
            index += 1
        if index < branch.stop:
            pending[actor.sample.remote(state, branch.split, index)] = (actor, branch, index)

    with stop_on_signal() as stop:
        while (waiting or pending) and not stop:
            while waiting and len(pending) < jobs:
                branch = waiting.pop(0)
                actor = actor_type.remote(solvated, samples.settings)
                start = samples.start_of(branch)
                if start is None:
                    pending[actor.begin.remote(equilibrated, branch)] = (actor, branch, BEGIN)
                else:
                    go_on(actor, branch, branch.first, start)
            watch()
            done, _ = ray.wait(list(pending), timeout=PAUSE)
            for reference in done:
                actor, branch, index = pending.pop(reference)
                try:
                    made = ray.get(reference)
                except (PgodeError, ray.exceptions.RayError) as error:
                    failures.append(f"{branch.name}: {str(error).strip().splitlines()[-1]}")
                    continue
                if isinstance(made, State):
                    samples.keep_start(branch, made)
                    go_on(actor, branch, branch.first, made)
                else:
                    samples.keep(branch.split, index, made)
                    go_on(actor, branch, index + 1, made.end)
        for reference in pending:
            ray.cancel(reference)
        if stop:
            raise KeyboardInterrupt
    return failures


ENGINES: dict[str, Engine] = {"local": run_local, "ray": run_ray}


class _OnRay:
    """A sampler in a Ray worker, which need not share our files."""

    def __init__(self, solvated: Any, settings: Any) -> None:
        self._settings = settings
        self._sampler = Sampler(solvated, settings)

    def begin(self, equilibrated: State, branch: Branch) -> State:
        stream = self._settings.branch_stream(branch)
        return self._sampler.separated(equilibrated, stream)

    def sample(self, state: State, split: str, index: int) -> Sample:
        return self._sampler.sample(state, split, index)


def _begun(samples: Samples, branch: Branch, sampler: Sampler) -> State:
    """Where the branch begins; made and kept if it is not there yet."""
    state = samples.start_of(branch)
    if state is None:
        _, equilibrated = samples.required_solvated()
        state = sampler.separated(equilibrated, samples.settings.branch_stream(branch))
        samples.keep_start(branch, state)
    return state
