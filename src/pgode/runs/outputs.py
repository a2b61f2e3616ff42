"""What commands that open runs read, so that no output of theirs can replace it."""

from collections.abc import Iterable
from pathlib import Path

from pgode.reports.base.page import is_page
from pgode.runs.folder import find_run, read_data
from pgode.runs.run import Run
from pgode.runtime.outputs import claim_output

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


def check_report(
    run: Run | Path | str,
    path: Path,
    *,
    inputs: Iterable[Path | str | None] = (),
    overwrite: bool = False,
) -> None:
    """Refuse a path where the report of a run must not be written, before it is made."""
    own = is_own_report(run.folder if isinstance(run, Run) else find_run(run), path)
    read = run_inputs([run], *inputs)
    if own:  # It lies in the folder of the run, which is read, too.
        read = [each for each in read if not each.is_dir()]
    claim_output(path, inputs=read, overwrite=overwrite, own=own)


def is_own_report(folder: Path, path: Path) -> bool:
    """Whether a path is that of the page in a run folder, which is made again without asking.

    A file of that name that pgode did not write is somebody's, and is kept.
    """
    own = folder / REPORT
    same = path.name == own.name and path.parent.resolve() == own.parent.resolve()
    return same and (is_page(path) or not path.exists())
