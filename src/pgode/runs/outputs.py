"""What commands that open runs read, so that no output of theirs can replace it."""

from collections.abc import Iterable
from pathlib import Path

from pgode.reports.base.page import is_page
from pgode.runs.folder import find_run, read_data
from pgode.runs.run import Run

REPORT = "report.html"
"""The page in a run folder that `pgode report` writes, and writes again."""


def run_inputs(runs: Iterable[Run | Path | str], *others: Path | str | None) -> list[Path]:
    """The folders of runs, the files that they were trained on, and other files that are read."""
    found = [Path(each) for each in others if each is not None]
    for run in runs:
        folder = run.folder if isinstance(run, Run) else find_run(run)
        record = run.data if isinstance(run, Run) else read_data(folder)
        found += [folder, *record.places(folder)]
    return found


def is_own_report(run: Run, path: Path) -> bool:
    """Whether a path is that of the run's own page, which is made again without being asked.

    A file of that name that pgode did not write is somebody's, and is kept.
    """
    own = run.folder / REPORT
    same = path.name == own.name and path.parent.resolve() == own.parent.resolve()
    return same and (is_page(path) or not path.exists())
