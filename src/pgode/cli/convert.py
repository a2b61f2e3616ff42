"""`pgode convert`: a run of an earlier format in the format of today."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def convert(old: Path, *, output: Annotated[Path, Parameter(name=["--output", "-o"])]) -> None:
    """Write a run of an earlier format as a run that this version opens.

    Forecasts stay the same to the last digit. The old folder is left as it is.

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
