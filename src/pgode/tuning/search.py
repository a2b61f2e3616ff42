"""Running the trials of a search, in processes or on Ray, until there are enough."""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from rich.console import Console

from pgode.data import files
from pgode.data.trajectories import Trajectories
from pgode.runtime.engines import ENGINES
from pgode.runtime.errors import InputError
from pgode.runtime.files import write_bytes
from pgode.runtime.stored.manifest import changes, run_files
from pgode.runtime.tasks import Task
from pgode.runtime.terminal.task_bars import TaskBar, TaskBars, logged_epochs
from pgode.tuning.record import TuningRecord
from pgode.tuning.space.domains import Value, contains, short_names, shown
from pgode.tuning.space.settings import changed, value_of
from pgode.tuning.study import next_values, store
from pgode.tuning.trials.files import (
    RESULT,
    Trial,
    TrialPlan,
    TrialResult,
    read_trial,
    read_trials,
    trial_folder,
    write_plan,
    write_result,
)
from pgode.tuning.trials.training import THREADS
from pgode.tuning.trials.worker import finish_on_ray

HOPELESS = 3
"""Failed trials after which a search ends if none has succeeded."""


class Search:
    """The trials of one tuning folder: plans them one by one, and hears how they end.

    A `Watcher` of the engine that runs them. A trial whose process ended without a result (it was
    killed, or ran out of memory) is not counted as failed: the next start tries it again.
    """

    def __init__(
        self, folder: Path, record: TuningRecord, wanted: int, *, keep_all: bool, console: Console
    ) -> None:
        self.folder, self.record, self.wanted = folder, record, wanted
        self.keep_all, self.console = keep_all, console
        self.trials = {trial.plan.index: trial for trial in read_trials(folder)}
        self.lost: dict[int, str] = {}
        self.exhausted = False
        store(folder, record.space, self.ended)

    @property
    def ended(self) -> list[Trial]:
        """Trials with a result, in their order."""
        return [trial for _, trial in sorted(self.trials.items()) if trial.result is not None]

    @property
    def best(self) -> Trial | None:
        """The complete trial with the lowest validation error; the first of several."""
        complete = [trial for trial in self.ended if trial.complete]
        return min(complete, key=lambda trial: trial.error, default=None)

    def run(self, data: Trajectories, jobs: int, engine: str) -> None:
        """Run what is missing; KeyboardInterrupt if the process is asked to stop."""
        content = cache(lambda: _netcdf(data))
        total = max(self.wanted, len(self.trials))
        with TaskBars("trials", total, len(self.ended), self.console) as self._bars:
            ENGINES[engine](self._tasks(content), jobs, THREADS, self)
        if not self.keep_all:
            self._remove_losers()

    def _tasks(self, data: Callable[[], bytes]) -> Iterator[Task]:
        """Trials that were interrupted, then new ones; each is planned when it can start."""
        for trial in [each for each in self.trials.values() if each.result is None]:
            plan = replace(trial.plan, source=self.record.source)  # The file may have moved.
            write_plan(plan, trial_folder(self.folder, plan.index))
            yield self._task(plan, data)
        while len(self.trials) < self.wanted and not self.exhausted:
            self._check_hope()
            planned = self._next()
            if planned is not None:
                yield self._task(planned, data)

    def _next(self) -> TrialPlan | None:
        """Plan a trial, and write its plan; None if its settings cannot be, or none are left."""
        record, index = self.record, max(self.trials, default=-1) + 1
        trials = [trial for _, trial in sorted(self.trials.items())]
        values = next_values(record.space, trials, preset_values(record), record.seed, index)
        if values is None:
            self.exhausted = True
            return None
        curves = tuple(t.result.errors for t in trials if t.complete and t.result is not None)
        plan = TrialPlan(
            index=index,
            values=values,
            config={},
            data_hash=record.data_hash,
            source=record.source,
            history=curves,
            warm_up=record.warm_up if record.prune else None,
        )
        path = trial_folder(self.folder, index)
        (path / RESULT).unlink(missing_ok=True)  # Without a plan it is of a start that was killed.
        try:
            config = changed(record.config, {**values, "training.threads": THREADS})
        except InputError as error:  # Each value is allowed, but not all of them together.
            write_result(TrialResult(index, "failed", (), 0.0, 0, str(error)), path)
            write_plan(plan, path)
            self._heard(index)
            return None
        plan = replace(plan, config=config.model_dump(mode="json"))
        write_plan(plan, path)
        self.trials[index] = Trial(plan, None)
        return plan

    def _task(self, plan: TrialPlan, data: Callable[[], bytes]) -> Task:
        path = trial_folder(self.folder, plan.index)
        return Task(
            name=str(plan.index),
            command=("pgode.tuning.trials.worker", str(path)),
            log=self.folder / "logs" / f"{plan.index:04d}.txt",
            work=finish_on_ray,
            arguments=lambda: (plan.to_json(), data()),
            store=partial(_write_files, path),
        )

    def running(self, tasks: Sequence[Task]) -> None:
        """Show the epochs of each running trial."""
        self._bars.running({task.name: self._bar(int(task.name)) for task in tasks})

    def finished(self, task: Task) -> None:
        """Enter the result, say it, and drop the weights of what is not the best."""
        self._heard(int(task.name))

    def _heard(self, index: int) -> None:
        before = self.best
        trial = read_trial(trial_folder(self.folder, index))
        self.trials[trial.plan.index] = trial
        store(self.folder, self.record.space, [trial])
        self._bars.advance()
        self._bars.print(_told(trial, before, self._short(trial.plan)))
        if not self.keep_all:
            self._remove_losers()

    def failed(self, task: Task, reason: str) -> None:
        """Say it; the trial has no result and stays open."""
        self.lost[int(task.name)] = reason
        self._bars.print(f"trial {task.name} ended without a result: {reason}", "red")
        if len(self.lost) >= HOPELESS and not self.ended:
            raise InputError(
                f"{len(self.lost)} trials ended without a result and none with one; the last: "
                f"{reason}. Expected trials that can run here. Correct the cause, then run the "
                f"same command again."
            )

    def _check_hope(self) -> None:
        """Stop where the first trials all failed: the others would too."""
        reasons = [trial.result.reason for trial in self.ended if trial.result is not None]
        if self.best is None and len(reasons) >= HOPELESS and all(reasons):
            raise InputError(
                f"the first {len(reasons)} trials all failed; the first: {reasons[0]} Expected "
                f"settings that can be trained. Change them with --set or --space, and choose "
                f"another folder with -o."
            )

    def _remove_losers(self) -> None:
        best = self.best
        for trial in self.ended:
            if best is None or trial.plan.index != best.plan.index:
                path = trial_folder(self.folder, trial.plan.index)
                if not (path / "checkpoints").exists():
                    continue
                weights = [name for name in run_files(path) if name.startswith("checkpoints/")]
                with changes(path, *weights):
                    shutil.rmtree(path / "checkpoints", ignore_errors=True)

    def _bar(self, index: int) -> TaskBar:
        epochs = partial(logged_epochs, trial_folder(self.folder, index))
        return TaskBar(f"trial {index}", self.record.epochs, epochs)

    def _short(self, plan: TrialPlan) -> str:
        names = short_names(self.record.space)
        return "  ".join(f"{names[name]} {shown(value)}" for name, value in plan.values.items())


def preset_values(record: TuningRecord) -> dict[str, Value] | None:
    """The settings that the search started from; None if its space does not hold them."""
    own: dict[str, Value] = {name: value_of(record.config, name) for name in record.space}
    return own if all(contains(record.space[name], own[name]) for name in own) else None


def _told(trial: Trial, before: Trial | None, settings: str) -> str:
    result = trial.result
    assert result is not None
    if result.state == "failed":
        return f"trial {result.index}: failed  {settings}: {result.reason}"
    if result.state == "pruned":
        how = f"{result.errors[-1]:.3e} after {len(result.errors)} epochs, pruned"
    else:
        better = before is None or result.error < before.error
        how = f"{result.error:.3e}{' (best so far)' if better else ''}"
    return f"trial {result.index}: {how}  {settings}"


def _netcdf(data: Trajectories) -> bytes:
    """The data as the bytes of a file, for workers that cannot read ours."""
    with tempfile.TemporaryDirectory(prefix="pgode-tune-") as place:
        path = Path(place) / "data.nc"
        files.write(data, path)
        return path.read_bytes()


def _write_files(path: Path, content: dict[str, bytes]) -> None:
    """Keep the files of a run that a Ray worker sent; the result comes last.

    Before it comes the file that makes the folder a run: one that is kept in part is none.
    """
    shutil.rmtree(path / "checkpoints", ignore_errors=True)
    for name in sorted(content, key=lambda name: (name == RESULT, name == "config.json")):
        write_bytes(path / name, content[name])
