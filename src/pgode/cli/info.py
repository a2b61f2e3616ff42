"""`pgode info`: what is in a data file or a run."""

from typing import Annotated

from cyclopts import Parameter


def info(path: Annotated[str, Parameter()]) -> None:
    """Say what a data file or a run folder holds.

    Parameters
    ----------
    path
        Data file (.nc, .zarr, .npz), run folder, or a shipped model by name (springs-10).
    """
    from pathlib import Path

    from rich.console import Console
    from rich.table import Table

    from pgode import io

    if io.is_data(Path(path)):
        rows = io.read(Path(path)).summary()
    else:
        from pgode.run import summary

        rows = summary(path)
    table = Table(title=path, show_header=False, title_justify="left")
    for label, value in rows.items():
        table.add_row(str(label), str(value))
    Console().print(table)
