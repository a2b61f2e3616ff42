"""`pgode verify`: whether runs, data and forecasts are as they were written."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from pgode.runtime.stored.verification import Verification

WRONG = 2


def verify(
    *paths: str,
    accept: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Check runs, data files and forecasts: manifest, hashes, and the form of what they hold.

    Nothing is changed, unless --accept is given. The exit code is 2 if anything is wrong.

    Parameters
    ----------
    paths
        Run folders, models that come with the package by name (springs-10), data files (.nc,
        .zarr, .npz), or forecasts (.nc).
    accept
        For runs whose files were changed on purpose, or that have no manifest: check the form of
        all files, then list them as they are.
    json
        Print JSON instead of tables.
    """
    from json import dumps
    from pathlib import Path

    from pgode.data.files import is_data
    from pgode.runtime.errors import InputError

    if not paths:
        raise InputError(
            "there is nothing to verify. Expected run folders, data files or forecasts. Name one: "
            "pgode verify RUN."
        )
    found = []
    for path in paths:
        if is_data(Path(path)):
            from pgode.data.files.stored.verification import verify_data

            if accept:
                raise InputError(
                    f"{path} is a file, and --accept is for runs: data and forecasts have no "
                    f"manifest. Expected run folders. Leave out --accept, or the file."
                )
            found.append(verify_data(path))
        else:
            from pgode.runs.stored.verification import accept_run, verify_run

            found.append(accept_run(path) if accept else verify_run(path))
    if json:
        print(dumps([each.to_json() for each in found], indent=2))
    else:
        for each in found:
            _show(each)
    return WRONG if any(each.problems for each in found) else 0


def _show(found: "Verification") -> None:
    from rich.table import Table
    from rich.text import Text

    from pgode.cli.terminal import output
    from pgode.runtime.terminal.console import Terminal

    table = Table(title=Text(f"{found.kind} {found.path}"), title_justify="left")
    table.add_column("file")
    table.add_column("bytes", justify="right")
    table.add_column("SHA-256" if found.kind == "run" else "content hash")
    table.add_column("state")
    for each in found.files:
        size = "-" if each.size is None else f"{each.size:,}"
        style = "red" if each.problem else ""
        digest = "-" if each.sha256 is None else each.sha256[:12]
        table.add_row(Text(each.name), size, digest, Text(each.state, style))
    console = output()
    console.print(table)
    for note in found.notes:
        console.print(f"Note: {note}", soft_wrap=True)
    errors = Terminal(stderr=True, soft_wrap=True)
    for problem in found.problems:
        errors.print(f"Error: {problem}", style="red")
    if not found.problems:
        console.print("Nothing is wrong.")
