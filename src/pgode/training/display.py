"""Progress of training: loss terms, validation error, time left."""

import sys
from contextlib import AbstractContextManager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn
from rich.progress import Progress as Bars

from pgode.runtime.terminal.console import Terminal, plain_column
from pgode.training.checkpoint import Progress
from pgode.training.gate_use import GateUse
from pgode.training.metrics import EpochRow


class Display(AbstractContextManager["Display"]):
    """Is called after every step and epoch of training. This base class shows nothing."""

    def __exit__(self, *_: object) -> None:
        """Nothing to close."""

    def say(self, sentence: str) -> None:
        """Something was decided before training starts."""

    def prepare(self, what: str, share: float) -> None:
        """A part of what comes before the first epoch is under way."""

    def begin(self, epochs: int, steps: int, progress: Progress, rows: list[EpochRow]) -> None:
        """Training starts or resumes."""

    def step(self, progress: Progress, terms: dict[str, float]) -> None:
        """A step is done."""

    def epoch(self, progress: Progress, row: EpochRow) -> None:
        """An epoch is done and validated."""


class Live(Display):
    """A bar with loss terms, validation error and time left; a line per epoch off a terminal."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Terminal(stderr=True)
        self.preparing: TaskID | None = None
        self.doing = ""
        self.bars = Bars(
            TextColumn("epoch {task.fields[epoch]}", style="bold"),
            BarColumn(),
            MofNCompleteColumn(),
            plain_column("fields[terms]"),
            plain_column("fields[validation]", "cyan"),
            plain_column("fields[left]"),
            console=self.console,
            disable=not self.console.is_terminal,
        )

    def __enter__(self) -> "Live":
        self.bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bars.stop()
        sys.stderr.flush()

    def say(self, sentence: str) -> None:
        """A line of its own."""
        self.console.print(sentence, highlight=False, soft_wrap=True)

    def prepare(self, what: str, share: float) -> None:
        """A bar of its own; off a terminal a line when something new begins."""
        if self.console.is_terminal:
            if self.preparing is None:
                self.preparing = self.bars.add_task(
                    "", total=100, epoch="-", terms=what, validation="", left=""
                )
            self.bars.update(self.preparing, completed=int(100 * share), terms=what)
        elif what != self.doing:
            self.console.print(f"{what} ({share:.0%} done)", highlight=False)
        self.doing = what

    def begin(self, epochs: int, steps: int, progress: Progress, rows: list[EpochRow]) -> None:
        """Lay out the bar."""
        if self.preparing is not None:
            self.bars.remove_task(self.preparing)
        self.epochs, self.steps = epochs, steps
        done = progress.epoch * steps + progress.step
        self.first, self.before = done, progress.seconds
        validation = f"val {rows[-1]['val_mse']:.3e}" if rows else ""
        self.task = self.bars.add_task(
            "",
            total=epochs * steps,
            completed=done,
            epoch=f"{min(progress.epoch + 1, epochs)}/{epochs}",
            terms="",
            validation=validation,
            left="",
        )

    def step(self, progress: Progress, terms: dict[str, float]) -> None:
        """Move the bar."""
        shown = "  ".join(f"{k} {v:.2e}" for k, v in terms.items() if k not in ("total", "mse"))
        done = progress.epoch * self.steps + progress.step
        self.bars.update(
            self.task,
            completed=done,
            epoch=f"{progress.epoch + 1}/{self.epochs}",
            terms=shown or "step skipped: not finite",
            left=f"{_clock(self._left(progress, done))} left",
        )

    def epoch(self, progress: Progress, row: EpochRow) -> None:
        """Show the validation error."""
        best = " (best)" if progress.best_epoch == progress.epoch else ""
        gate = GateUse.from_json(row["gate"]) if "gate" in row else None
        use = "" if gate is None else f"  prototypes {gate.overall:.1f}/{gate.prototypes}"
        self.bars.update(self.task, validation=f"val {row['val_mse']:.3e}{best}{use}")
        if not self.console.is_terminal:
            left = _clock(self._left(progress, progress.epoch * self.steps))
            train = f"train mse {row['train']['mse']:.3e}  " if "mse" in row["train"] else ""
            if gate is not None and gate.difference is not None:
                use += f" differing by {gate.difference:.0%}"
            self.console.print(
                f"epoch {row['epoch']}/{self.epochs}  {train}"
                f"val mse {row['val_mse']:.3e}{best}{use}  {_clock(row['seconds'])} so far, "
                f"{left} left",
                highlight=False,
                soft_wrap=True,
            )

    def _left(self, progress: Progress, done: int) -> float:
        share = max(done - self.first, 1)
        return (progress.seconds - self.before) / share * (self.epochs * self.steps - done)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
