"""Fill an experiment: make what is missing, keep what is there."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from pgode.data.simulate.protein.display import Bars
from pgode.reproduce.plan.choice import Choice, entries, trials, tuning
from pgode.reproduce.plan.molecular_data import PROTEINS, make_protein_data, protein_file
from pgode.reproduce.plan.regimes import CONDITION, regime_of
from pgode.reproduce.plan.trials import Trial, read_result, run_folder
from pgode.reproduce.runner.engines import ENGINES
from pgode.reproduce.tables.catalogue import Experiment
from pgode.runtime.errors import PgodeError


def fill(
    experiments: Sequence[Experiment],
    choice: Choice,
    root: Path,
    *,
    jobs: int,
    engine: str,
    console: Console,
) -> dict[str, str]:
    """Run every missing trial; returns the reasons of those that failed, by trial.

    Proteins that are needed are simulated first; a trial without its data is left out. Then come
    the short runs that choose learning rates. A finished trial is never run again, whichever
    experiment it was run for.
    """
    needed = [(entry, experiment) for experiment in experiments for entry in entries(experiment)]
    failures: dict[str, str] = {}
    short = [trial for entry, _ in needed for trial in tuning(entry, choice)]
    failures |= _run("learning rates", short, root, jobs, engine, console)
    found = [trials(entry, experiment, choice, root) for entry, experiment in needed]
    # Seed by seed, so that a grid that is stopped early has one number in every cell.
    full = sorted(
        (trial for lengths in found if lengths for group in lengths.values() for trial in group),
        key=lambda trial: trial.seed,
    )
    return failures | _run("trials", full, root, jobs, engine, console)


def _run(
    what: str, wanted: Sequence[Trial], root: Path, jobs: int, engine: str, console: Console
) -> dict[str, str]:
    unique = list(dict.fromkeys(wanted))
    missing = [trial for trial in unique if read_result(trial, root) is None]
    done = len(unique) - len(missing)
    without = _simulate(missing, root, jobs, engine, console)
    ready = [trial for trial in missing if trial.dataset not in without]
    if not ready:
        return without
    with GridDisplay(what, done + len(ready), done, root, console) as display:
        ENGINES[engine](ready, root, jobs, display)
        return without | display.failures


def _simulate(
    wanted: Sequence[Trial], root: Path, jobs: int, engine: str, console: Console
) -> dict[str, str]:
    """Make the proteins of trials that are not there; the reasons of failures, by data set."""
    needed = {trial.dataset: trial.budget for trial in wanted if trial.dataset in PROTEINS}
    failures: dict[str, str] = {}
    for name, budget in needed.items():
        if protein_file(name, budget, root).exists():
            continue
        console.print(f"making the data of {name}", highlight=False)
        try:
            with Bars(console) as bars:
                make_protein_data(name, budget, root, jobs=jobs, engine=engine, display=bars)
        except PgodeError as error:
            failures[name] = str(error)
            console.print(f"failed: {name}: {error}", style="red", highlight=False, soft_wrap=True)
    return failures


@dataclass
class GridDisplay:
    """Bars: all trials, and the epochs of each that runs; a line for each that ends."""

    what: str
    total: int
    done: int
    root: Path
    console: Console
    failures: dict[str, str] = field(default_factory=dict)

    def __enter__(self) -> "GridDisplay":
        columns = (TextColumn("{task.description}"), BarColumn(30), MofNCompleteColumn())
        self._bars = Progress(*columns, TextColumn("{task.fields[left]}"), console=self.console)
        self._bars.start()
        self._all = self._bars.add_task(
            self.what, total=self.total, completed=self.done, left="at the start"
        )
        self._own: dict[Trial, TaskID] = {}
        self._began, self._before = time.monotonic(), self.done
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def running(self, trials: Sequence[Trial]) -> None:
        """Show each running trial's epochs."""
        for trial in [each for each in self._own if each not in trials]:
            self._bars.remove_task(self._own.pop(trial))
        for trial in trials:
            if trial not in self._own:
                self._own[trial] = self._bars.add_task(
                    f"  {describe(trial)}", total=trial.epochs, left=""
                )
            self._bars.update(self._own[trial], completed=_epochs(run_folder(trial, self.root)))

    def finished(self, trial: Trial) -> None:
        """Count it, and guess the time left from the pace so far."""
        self.done += 1
        pace = (time.monotonic() - self._began) / (self.done - self._before)
        minutes = pace * (self.total - self.done) / 60
        self._bars.update(self._all, completed=self.done, left=f"about {minutes:.0f} min left")
        self.console.print(f"done: {describe(trial)}", highlight=False, soft_wrap=True)

    def failed(self, trial: Trial, reason: str) -> None:
        """Say why; the others go on."""
        self.failures[describe(trial)] = reason
        self.console.print(
            f"failed: {describe(trial)}: {reason}", style="red", highlight=False, soft_wrap=True
        )


def _epochs(folder: Path) -> int:
    """Lines of a log that another process may be writing."""
    log = folder / "metrics.jsonl"
    return log.read_bytes().count(b"\n") if log.exists() else 0


def describe(trial: Trial) -> str:
    """A trial in a few words."""
    words = [trial.dataset, trial.model]
    words += [] if trial.preset == "default" else [trial.preset]
    words += [f"{key.removeprefix('model.')}={value}" for key, value in trial.settings]
    words += [f"rate {trial.rate:g}"] if trial.tuning else [f"seed {trial.seed}"]
    words += [] if trial.condition == CONDITION else [f"condition {trial.condition}"]
    usual = trial.tuning or trial.horizon == regime_of(trial.dataset).horizon
    words += [] if usual else [f"horizon {trial.horizon}"]
    return " ".join(words)
