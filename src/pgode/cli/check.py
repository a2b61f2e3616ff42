"""`pgode check`: the doctor of a data file."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pgode.cli.parameters import Force

PROBLEMS = 1
"""Exit code if training would suffer from what was found."""
STYLES = {"problem": "bold red", "warning": "yellow", "note": "cyan"}


def check(
    file: Path,
    *,
    force: Force = False,
    json: Annotated[bool, Parameter(negative=())] = False,
    condition: int | None = None,
    horizon: int | None = None,
) -> int:
    """Examine a data file: what is in it, what is odd, what to do, and which settings suit.

    The exit code is 1 if there is a problem that training would suffer from.

    Parameters
    ----------
    file
        Data file (.nc, .zarr, .npz), or a table (.csv, .tsv, .parquet, ...), whose columns are
        guessed.
    json
        Print JSON instead of text.
    condition
        Observed frames of a forecast to judge the data by; those that suit the data if not given.
    horizon
        Forecast frames to judge the data by; those that suit the data if not given.
    """
    from json import dumps

    from pgode.data import files
    from pgode.data.checkup.checkup import examine
    from pgode.data.checkup.lines import lines
    from pgode.data.files.table import is_table
    from pgode.runtime.terminal.console import Terminal

    with Terminal(stderr=True).status(f"reading {file}") as status:

        def told(name: str) -> None:
            status.update(f"checking: {name}")

        if is_table(file):
            from pgode.data.checkup.table.examination import examine_table

            found = examine_table(file, condition=condition, horizon=horizon, on_progress=told)
        else:
            found = examine(
                files.read(file, force=force),
                str(file),
                condition=condition,
                horizon=horizon,
                on_progress=told,
            )
    if json:
        print(dumps(found.to_json(), indent=2))
    else:
        console = Terminal(soft_wrap=True)
        for text, style in lines(found):
            console.print(text, style=STYLES.get(style, style) or None)
    return PROBLEMS if found.has_problems else 0
