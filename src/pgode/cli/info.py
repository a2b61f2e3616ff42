"""`pgode info`: what is in a data file or a run."""

from typing import Annotated, Any

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

    from pgode.data import files

    if files.is_data(Path(path)):
        rows = {name: _words(value) for name, value in files.read(Path(path)).summary().items()}
    else:
        from pgode.runs.folder import summary

        rows = summary(path)
    table = Table(title=path, show_header=False, title_justify="left")
    for label, value in rows.items():
        table.add_row(label.replace("_", " "), value or "-")
    Console().print(table)


def _words(value: Any) -> str:
    """Plain words for the nested numbers, lists and ranges of a summary."""
    if isinstance(value, dict) and set(value) == {"min", "max"}:
        low, high = _words(value["min"]), _words(value["max"])
        return low if low == high else f"{low} to {high}"
    if isinstance(value, dict) and "name" in value:
        return " ".join(_words(part) for part in value.values() if part)
    if isinstance(value, dict) and "range" in value:
        return f"{_words(value['range'])} {value['units']}".strip()
    if isinstance(value, dict):
        return ", ".join(f"{key} {_words(part)}" for key, part in value.items())
    if isinstance(value, list):
        return ", ".join(_words(part) for part in value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)
