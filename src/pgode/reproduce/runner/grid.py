"""Running the trials that an experiment lacks."""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from pgode.reproduce.datasets.dataset import Resources
from pgode.reproduce.datasets.registry import DATASETS
from pgode.reproduce.plan.results import Result, read_result, write_result
from pgode.reproduce.plan.selection import (
    Selection,
    combinations,
    full_trials,
    learning_rate,
    tuning_trials,
)
from pgode.reproduce.plan.trials import Trial
from pgode.reproduce.runner.display import GridDisplay
from pgode.reproduce.runner.training import run_trial
from pgode.reproduce.tables.catalogue import Experiment
from pgode.runtime.engines import ENGINES
from pgode.runtime.errors import PgodeError, WriteError
from pgode.runtime.processes import threads_each
from pgode.runtime.tasks import Task


def run_grid(
    experiments: Sequence[Experiment],
    selection: Selection,
    root: Path,
    *,
    jobs: int,
    engine: str,
    device: str,
    console: Console,
) -> dict[str, str]:
    """Run every missing trial; returns the reasons of failures, by trial.

    Data that takes long to make is made first; trials whose data cannot be made are left out. The
    short runs that choose learning rates come before the full ones; a trial that diverges is
    followed by one at the next lower rate. A finished trial is never run again, whichever
    experiment it was run for.
    """
    run = partial(_run_missing, root=root, jobs=jobs, engine=engine, device=device, console=console)
    needed = [(each, experiment) for experiment in experiments for each in combinations(experiment)]
    failures: dict[str, str] = {}
    for part in (slice(1), slice(1, None)):  # The first may tell that the others are not needed.
        undecided = [each for each, _ in needed if learning_rate(each, selection, root) is None]
        short = [trial for each in undecided for trial in tuning_trials(each, selection)[part]]
        failures |= run("learning rates", short)
    tried: set[Trial] = set()
    while True:
        planned = [full_trials(each, experiment, selection, root) for each, experiment in needed]
        trials = [trial for each in planned if each for group in each.values() for trial in group]
        # Seed by seed, so that a grid that is stopped early has one number in every cell.
        new = sorted(set(trials) - tried, key=lambda trial: (trial.seed, trials.index(trial)))
        if not new:
            return failures
        failures |= run("trials", new)
        tried |= set(new)


def _run_missing(
    title: str,
    trials: Sequence[Trial],
    *,
    root: Path,
    jobs: int,
    engine: str,
    device: str,
    console: Console,
) -> dict[str, str]:
    unique = list(dict.fromkeys(trials))
    missing = [trial for trial in unique if read_result(trial, root) is None]
    failures = _make_data(missing, root, jobs, engine, console)
    ready = {trial.key: trial for trial in missing if trial.dataset not in failures}
    if not ready:
        return failures
    threads = threads_each(jobs)
    tasks = [_task(trial, root, threads, device) for trial in ready.values()]
    done = len(unique) - len(missing)
    with GridDisplay(title, ready, done, root, console) as display:
        ENGINES[engine](tasks, jobs, threads, display)
        return failures | display.failures


def _make_data(
    trials: Sequence[Trial], root: Path, jobs: int, engine: str, console: Console
) -> dict[str, str]:
    """Make the data that trials cannot make themselves; the reasons of failures, by data set."""
    failures: dict[str, str] = {}
    for name, budget in {trial.dataset: trial.budget for trial in trials}.items():
        dataset = DATASETS[name]
        if dataset.is_ready(budget, root):
            continue
        console.print(f"making the data of {name}", highlight=False)
        try:
            dataset.make(budget, root, Resources(jobs, engine, console))
        except WriteError:
            raise
        except PgodeError as error:
            failures[name] = str(error)
            console.print(f"failed: {name}: {error}", style="red", highlight=False, soft_wrap=True)
    return failures


def _task(trial: Trial, root: Path, threads: int, device: str) -> Task:
    content = trial.to_json()
    worker = "pgode.reproduce.runner.worker"
    return Task(
        name=trial.key,
        command=(worker, str(root), json.dumps(content), str(threads), device),
        log=root / "logs" / f"{trial.key}.txt",
        work=_result_on_ray,
        arguments=lambda: (content, str(root.resolve()), threads, device),
        store=lambda result: write_result(Result.from_json(result), root),
    )


def _result_on_ray(
    content: dict[str, Any], root: str, threads: int, device: str
) -> Iterator[dict[str, Any]]:
    """The work of a Ray worker.

    Without access to our files it makes the data itself (seeds and hashes are the same everywhere);
    only the numbers are sent back.
    """
    import torch

    torch.set_num_threads(threads)
    result = run_trial(Trial.from_json(content), Path(root), threads, device=device)
    if result is None:
        raise KeyboardInterrupt("the trial was stopped; its state is saved")
    yield result.to_json()
