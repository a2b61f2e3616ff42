"""Progress bars of a simulation."""

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from pgode.runtime.terminal.console import plain_column


class Bars:
    """A `Display` with bars for the equilibration and the samples, and the time left."""

    def __init__(self, console: Console) -> None:
        self._bars = Progress(
            plain_column("description"),
            BarColumn(30),
            TextColumn("{task.completed:.0f}/{task.total:.0f} {task.fields[unit]}"),
            TimeRemainingColumn(elapsed_when_finished=True),
            console=console,
            speed_estimate_period=3600,
        )
        self._shown: dict[str, TaskID] = {}

    def __enter__(self) -> "Bars":
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def solvating(self) -> None:
        """The structure is being repaired and solvated."""
        self._show("solvating and minimising", 0, 1, "")

    def equilibrating(self, atoms: int, done: float, total: float) -> None:
        """`done` of `total` ps, with this many atoms."""
        self._show("solvating and minimising", 1, 1, "")
        self._show(f"equilibrating {atoms} atoms", done, total, "ps")

    def sampling(self, finished: int, total: int) -> None:
        """`finished` of `total` samples."""
        self._show("simulating", finished, total, "samples")

    def _show(self, what: str, done: float, total: float, unit: str) -> None:
        if what not in self._shown:
            self._shown[what] = self._bars.add_task(what, total=total, unit=unit)
        self._bars.update(self._shown[what], completed=done)
