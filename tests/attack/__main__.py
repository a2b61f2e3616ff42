"""`python -m tests.attack [campaigns...]`: attack the commands, count, and write the page."""

import argparse
import json
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ["CUDA_VISIBLE_DEVICES"] = ""

from rich.console import Console  # noqa: E402
from rich.progress import Progress  # noqa: E402
from tests.attack import (  # noqa: E402
    bad_inputs,
    disk,
    files,
    flips,
    kills,
    others,
    page,
    place,
    processes,
)
from tests.attack.outcome import Outcome, Task  # noqa: E402

PREFIX = "pgode-attack-"

CAMPAIGNS: dict[str, Callable[[bool], list[Task]]] = {
    bad_inputs.NAME: bad_inputs.tasks,
    kills.NAME: kills.tasks,
    flips.NAME: flips.tasks,
    disk.NAME: disk.tasks,
    "signals": others.tasks_of_signals,
    "fuzzing": others.tasks_of_fuzzing,
}


class Worker:
    """Tries tasks in a copy of the good files, which is restored after each."""

    def __init__(self, good: Path, tasks: list[Task]) -> None:
        self.good, self.tasks = good, tasks
        self.before = files.content(good)
        self.folder: Path | None = None

    def __call__(self, number: int) -> list[Outcome]:
        if self.folder is None:
            self.folder = self.good.parent / f"worker-{os.getpid()}"
            shutil.copytree(self.good, self.folder, symlinks=True)
        task = self.tasks[number]
        try:
            return task.attempt(self.folder)
        except Exception as error:  # One broken try must not end all the others.
            said = f"the attack itself failed: {type(error).__name__}: {error}"
            return [Outcome(task.campaign, task.group, task.name, "traceback", said)]
        finally:
            files.restore(self.folder, self.good, self.before)


WORKER: Worker | None = None
"""Set before the workers are forked, since tasks hold functions, which nothing else passes on."""


def _attempt(number: int) -> list[Outcome]:
    assert WORKER is not None
    return WORKER(number)


def main() -> int:
    """Attack, print a table, and write it; 1 if something failed."""
    options = _options()
    kills.preload()
    console = Console(stderr=True)
    names = options.campaigns or list(CAMPAIGNS)
    outcomes: list[Outcome] = []
    with _good_files(options.quick, options.files) as good:
        tasks = [task for name in names for task in CAMPAIGNS[name](options.quick)]
        if options.only:
            tasks = [task for task in tasks if options.only in f"{task.group}: {task.name}"]
        global WORKER
        WORKER = Worker(good, tasks)
        processes.import_everything()
        # Forked, so that a worker starts with everything imported. The clean-up of this process is
        # none of theirs.
        context = multiprocessing.get_context("fork")
        with context.Pool(options.jobs) as pool, Progress(console=console) as progress:
            bar = progress.add_task("attacking", total=len(tasks))
            for found in pool.imap_unordered(_attempt, range(len(tasks))):
                outcomes += found
                progress.advance(bar)
                for each in found:
                    if each.failure:
                        failed = f"{each.failure}: {each.group}: {each.name}: {each.detail}"
                        progress.console.print(ascii(failed)[1:-1], markup=False, soft_wrap=True)
            pool.close()
            pool.join()
    kills.forget()
    if options.json:
        options.json.write_text(json.dumps([asdict(each) for each in outcomes], indent=1))
    if options.page:
        page.write(options.page, outcomes)
    console.print(page.terminal_table(outcomes))
    return 1 if any(each.failure for each in outcomes) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument(
        "campaigns",
        nargs="*",
        choices=[*CAMPAIGNS, []],
        metavar="CAMPAIGN",
        help="all if none is named",
    )
    parser.add_argument("--quick", action="store_true", help="a sample of every campaign")
    parser.add_argument("--jobs", type=int, default=2, help="workers")
    parser.add_argument("--only", help="only tries whose name has this in it")
    parser.add_argument("--files", type=Path, help="keep the good files here for the next attack")
    parser.add_argument("--page", type=Path, help="Markdown page to write the result into")
    parser.add_argument("--json", type=Path, help="file for every outcome")
    return parser.parse_args()


@contextmanager
def _good_files(quick: bool, kept: Path | None) -> Iterator[Path]:
    """A folder of good files, built in a process of its own; workers have theirs beside it."""
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as folder:
        good = Path(folder) / "good"
        if kept is None or not kept.exists():
            context = multiprocessing.get_context("fork")
            builder = context.Process(target=partial(place.build, kept or good, quick))
            builder.start()
            builder.join()
            if builder.exitcode != 0:
                sys.exit("the attack cannot start: its good files could not be made")
        if kept is not None:
            shutil.copytree(kept, good, symlinks=True)
        yield good


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
