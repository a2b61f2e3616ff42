"""`pgode info`: describe a data file or a run."""

from typing import Annotated, Any

from cyclopts import Parameter

from pgode.cli.parameters import Force


def info(
    path: Annotated[str, Parameter()],
    *,
    force: Force = False,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Describe a data file, a table or a run.

    Parameters
    ----------
    path
        Data file (.nc, .zarr, .npz), table (.csv, .parquet, ...), run folder, or a shipped model by
        name (springs-10).
    json
        Print JSON instead of a table.
    """
    from json import dumps
    from pathlib import Path

    from rich.table import Table

    from pgode.cli.terminal import output
    from pgode.data import files
    from pgode.data.files.table import is_table
    from pgode.runtime.terminal.text import escaped

    if is_table(path):
        from pgode.data.checkup.table.examination import table_facts

        described = table_facts(Path(path))
        rows = {}
        if not json:
            _print_columns(described)
            return
    elif files.is_data(Path(path)):
        described = files.read(Path(path), force=force).summary()
        rows = {name: _text(value) for name, value in described.items()}
        if described["objects"]["min"] != described["objects"]["max"]:
            rows["objects"] += " per system"
        rows["generator_settings"] = _short(rows["generator_settings"])
    else:
        from pgode.runs.folder import facts, summary

        described, rows = facts(path), summary(path)
    if json:
        print(dumps(described, indent=2))
        return
    table = Table(title=escaped(path, lines=False), show_header=False, title_justify="left")
    for label, value in rows.items():
        table.add_row(label.replace("_", " "), escaped(value, lines=False) or "-")
    output().print(table)


def _print_columns(described: dict[str, Any]) -> None:
    """The columns of a table, and the command that would import it."""
    from rich.table import Table
    from rich.text import Text

    from pgode.cli.terminal import output
    from pgode.runtime.terminal.text import escaped

    title = f"{escaped(described['table'], lines=False)}: {described['rows']:,} rows"
    table = Table("column", "type", title=title, title_justify="left")
    table.add_column("different", justify="right")
    table.add_column("missing", justify="right")
    table.add_column("example")
    table.add_column("probably")
    for each in described["columns"]:
        missing = f"{100 * each['missing']:.1f} %" if each["missing"] else "-"
        texts = (each["name"], each["type"], f"{each['different']:,}", missing, each["example"])
        table.add_row(*(Text(text) for text in texts), each["meaning"])
    console = output()
    console.print(table)
    if described["command"]:
        console.print(f"To import it: {described['command']}", soft_wrap=True)
        console.print(f"To check it: pgode check {described['table']}", soft_wrap=True)


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
