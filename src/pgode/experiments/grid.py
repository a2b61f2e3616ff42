"""Fill an experiment: make what is missing, keep what is there."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from pgode.experiments.catalogue import Experiment
from pgode.experiments.engines import ENGINES
from pgode.experiments.plan import Choice, entries, trials, tuning
from pgode.experiments.trials import Trial, read_result, run_folder


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

    The short runs that choose learning rates come first. A finished trial is never run again,
    whichever experiment it was run for.
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
    if not missing:
        return {}
    with GridDisplay(what, len(unique), len(unique) - len(missing), root, console) as display:
        ENGINES[engine](missing, root, jobs, display)
        return display.failures


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
    words += [] if trial.condition == 12 else [f"condition {trial.condition}"]
    words += [] if trial.horizon == 36 or trial.tuning else [f"horizon {trial.horizon}"]
    return " ".join(words)
