"""Running the branches of a simulation, as tasks in processes on this machine or on Ray."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pgode.data.simulate.protein.forces import Solvated
from pgode.data.simulate.protein.sampler import Sample, Sampler, State
from pgode.data.simulate.protein.samples import Samples
from pgode.data.simulate.protein.settings import Branch, ProteinSettings
from pgode.runtime.engines import ENGINES
from pgode.runtime.signals import StopRequest
from pgode.runtime.tasks import Task

Part = State | tuple[int, Sample]
"""The initial state of a branch, or a finished sample and its number."""


@dataclass(frozen=True)
class Remainder:
    """The unfinished part of a branch, and the states it continues from.

    `start` is where the branch begins, None until it has separated from the others; `ends` are the
    last states of its finished samples, by number.
    """

    branch: Branch
    equilibrated: State
    start: State | None
    ends: dict[int, State]

    @classmethod
    def of(cls, samples: Samples, branch: Branch) -> "Remainder":
        """Read it from the folder of the simulation."""
        finished = (k for k in range(branch.first, branch.stop) if samples.has(branch.split, k))
        ends = {k: samples.sample(branch.split, k).end for k in finished}
        return cls(branch, samples.required_solvated()[1], samples.start_of(branch), ends)

    def simulate(self, sampler: Sampler, settings: ProteinSettings) -> Iterator[Part]:
        """Every missing part, one after another; each continues the one before."""
        state = self.start
        if state is None:
            state = sampler.separated(self.equilibrated, settings.branch_stream(self.branch))
            yield state
        for index in range(self.branch.first, self.branch.stop):
            if index in self.ends:
                state = self.ends[index]
                continue
            sample = sampler.sample(state, self.branch.split, index)
            yield index, sample
            state = sample.end


def finish_branch(samples: Samples, branch: Branch, sampler: Sampler, stop: StopRequest) -> bool:
    """Simulate and store the unfinished part of a branch; False if stopped before the end."""
    parts = Remainder.of(samples, branch).simulate(sampler, samples.settings)
    while not stop:
        part = next(parts, None)
        if part is None:
            return True
        _store(samples, branch, part)
    return branch not in missing(samples)


def missing(samples: Samples) -> list[Branch]:
    """Branches that are not finished."""
    return [
        branch
        for branch in samples.settings.branches()
        if not all(samples.has(branch.split, k) for k in range(branch.first, branch.stop))
    ]


def run_branches(samples: Samples, jobs: int, engine: str, watch: Callable[[], None]) -> list[str]:
    """Finish all branches, `jobs` at a time with one thread each; returns the failures.

    `watch` is called several times a second. KeyboardInterrupt if the process is asked to stop.
    """
    watcher = _Watcher(watch)
    tasks = [_task(samples, branch) for branch in missing(samples)]
    ENGINES[engine](tasks, jobs, 1, watcher)
    return watcher.failures


@dataclass
class _Watcher:
    watch: Callable[[], None]
    failures: list[str] = field(default_factory=list)

    def running(self, tasks: Sequence[Task]) -> None:
        self.watch()

    def finished(self, task: Task) -> None:
        pass

    def failed(self, task: Task, reason: str) -> None:
        self.failures.append(f"{task.name}: {reason}")


def _task(samples: Samples, branch: Branch) -> Task:
    def arguments() -> tuple[Solvated, ProteinSettings, Remainder]:
        return samples.required_solvated()[0], samples.settings, Remainder.of(samples, branch)

    folder: Path = samples.folder
    return Task(
        name=branch.name,
        command=("pgode.data.simulate.protein.worker", str(folder), branch.name),
        log=folder / "logs" / f"{branch.name}.txt",
        work=_simulate,
        arguments=arguments,
        store=partial(_store, samples, branch),
    )


def _simulate(
    solvated: Solvated, settings: ProteinSettings, remainder: Remainder
) -> Iterator[Part]:
    """The work of a Ray worker, which need not share our files."""
    yield from remainder.simulate(Sampler(solvated, settings), settings)


def _store(samples: Samples, branch: Branch, part: Part) -> None:
    if isinstance(part, State):
        samples.keep_start(branch, part)
    else:
        samples.keep(branch.split, *part)
