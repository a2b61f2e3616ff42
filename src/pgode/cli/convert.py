"""`pgode convert`: convert a run of an earlier format to the present one."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def convert(old: Path, *, output: Annotated[Path, Parameter(name=["--output", "-o"])]) -> None:
    """Convert a run of an earlier format to the present one.

    Forecasts stay the same to the last digit. The old folder is not changed.

    Parameters
    ----------
    old
        Run folder of the earlier format.
    output
        New run folder.
    """
    from rich.console import Console

    from pgode.runs.convert import convert_run

    convert_run(old, output)
    Console().print(f"wrote {output}", highlight=False, soft_wrap=True)
