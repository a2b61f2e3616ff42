"""`pgode info`: describe a data file or a run."""

from typing import Annotated, Any

from cyclopts import Parameter


def info(
    path: Annotated[str, Parameter()], *, json: Annotated[bool, Parameter(negative=())] = False
) -> None:
    """Describe a data file or a run.

    Parameters
    ----------
    path
        Data file (.nc, .zarr, .npz), run folder, or a shipped model by name (springs-10).
    json
        Print JSON instead of a table.
    """
    from json import dumps
    from pathlib import Path

    from rich.console import Console
    from rich.table import Table

    from pgode.data import files

    if files.is_data(Path(path)):
        described = files.read(Path(path)).summary()
        rows = {name: _text(value) for name, value in described.items()}
        rows["generator_settings"] = _short(rows["generator_settings"])
    else:
        from pgode.runs.folder import facts, summary

        described, rows = facts(path), summary(path)
    if json:
        print(dumps(described, indent=2))
        return
    table = Table(title=path, show_header=False, title_justify="left")
    for label, value in rows.items():
        table.add_row(label.replace("_", " "), value or "-")
    Console().print(table)


def _short(text: str, most: int = 600) -> str:
    """The settings of data may hold a whole graph."""
    return text if len(text) <= most else f"{text[:most]}..."


def _text(value: Any) -> str:
    """One line of text for the nested numbers, lists and ranges of a summary."""
    if isinstance(value, dict) and set(value) == {"min", "max"}:
        low, high = _text(value["min"]), _text(value["max"])
        return low if low == high else f"{low} to {high}"
    if isinstance(value, dict) and "name" in value:
        return " ".join(_text(part) for part in value.values() if part)
    if isinstance(value, dict) and "range" in value:
        return f"{_text(value['range'])} {value['units']}".strip()
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(part)}" for key, part in value.items())
    if isinstance(value, list):
        return ", ".join(_text(part) for part in value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)
