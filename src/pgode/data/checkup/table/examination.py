"""The examination of a raw table: of what `pgode import table` would make of it."""

import shlex
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pgode.data.checkup.checkup import Checkup, examine
from pgode.data.checkup.finding import Finding, Place, counted
from pgode.data.checkup.table.guess import Guess, column_facts, guess, has_no_header, headless_names
from pgode.data.files.table import TableRecipe, from_frame, read_frame
from pgode.data.files.table.reading.delimited import open_bytes
from pgode.data.files.table.reading.frames import ARROW, PARQUET
from pgode.data.files.table.reading.places import Places
from pgode.data.files.table.velocities import DEFAULT
from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def examine_table(
    path: Path,
    *,
    condition: int | None = None,
    horizon: int | None = None,
    on_progress: Callable[[str], None] = lambda _: None,
) -> Checkup:
    """Guess the columns of a table, and check what its import would make."""
    frame, names = read_guessed(path)
    on_progress("meaning of columns")
    found = guess(frame)
    for what, column in (("time", found.time), ("object", found.object)):
        if not column:
            raise InputError(
                f"cannot tell which column of {path} is the {what}; it has "
                f"{', '.join(map(str, list(frame.columns)[:12]))}. Expected a table with one row "
                f"for each object at each time. Rename the column to {what}, or import the table "
                f"with pgode import table --{what} COLUMN, or pgode import wide if columns are "
                f"objects."
            )
    findings: list[Finding] = []
    frame = _without_repeats(frame, found, path, findings)
    on_progress("import")
    data = _imported(frame, found, path, findings)
    output = f"{path.stem.partition('.')[0]}.nc"
    # The checks find out which transform and inputs suit, so the command comes last.
    result = examine(
        data,
        str(path),
        condition=condition,
        horizon=horizon,
        before=findings,
        imported=("", output),
        on_progress=on_progress,
    )
    command = import_command(path, output, found, names, result)
    return Checkup(
        name=result.name,
        contents={"table": _shape(frame, found), **result.contents},
        features=result.features,
        findings=result.findings,
        naive=result.naive,
        settings=result.settings,
        commands=(command, *result.commands[1:]),
    )


def table_facts(path: Path) -> dict[str, Any]:
    """What `pgode info` tells of a table: rows, columns with type and meaning, and a command."""
    frame, names = read_guessed(path)
    found = guess(frame)
    output = f"{path.stem.partition('.')[0]}.nc"
    return {
        "table": str(path),
        "rows": len(frame),
        "columns": [vars(each) for each in column_facts(frame, found)],
        "command": import_command(path, output, found, names) if found.features else None,
    }


def read_guessed(path: Path) -> tuple["pd.DataFrame", tuple[str, ...]]:
    """A table, and names for its columns if it has no line of them."""
    if not has_no_header(_first_line(path)):
        return read_frame(path), ()
    frame = read_frame(path, header=False)
    names, attributes = headless_names(frame), frame.attrs
    frame = frame.set_axis(list(names), axis=1)
    frame.attrs = attributes
    return frame, names


def _first_line(path: Path) -> str:
    """The first line of delimited text; empty for other tables, and where none can be read."""
    if path.suffix.lower() in PARQUET + ARROW or not path.is_file():
        return ""
    try:
        with open_bytes(path) as file:
            return file.readline(10_000).decode("utf-8", errors="replace")
    except (OSError, EOFError, zlib.error):
        return ""  # What is wrong with the file is said when it is read.


def import_command(
    path: Path, output: str, found: Guess, names: tuple[str, ...], result: Checkup | None = None
) -> str:
    """The command that imports a table as guessed, with what the checks found to suit."""
    words = ["pgode", "import", "table", str(path), "-o", output]
    if names:
        words += ["--no-header", "--columns", ",".join(names)]
    for option in ("system", "object", "time"):
        if getattr(found, option):
            words += [f"--{option}", getattr(found, option)]
    words += ["--features", ",".join(found.features)]
    if found.needs_velocities:
        words += ["--velocities"]
    if found.static:
        words += ["--static", ",".join(found.static)]
    if found.split:
        words += ["--split-column", found.split]
    elif not found.system:
        words += ["--split-time", "0.7,0.15,0.15"]
    tailed = list(result.settings["transforms"]) if result else []
    if tailed:
        whole = len(tailed) == len(found.features)
        words += ["--transform", "log1p" if whole else ",".join(f"{n}:log1p" for n in tailed)]
    if result and found.dated and result.settings["season"]:
        words += ["--known", "weekday" if result.settings["season"] == 7 else "hour"]
    return shlex.join(words)


def _imported(
    frame: "pd.DataFrame", found: Guess, path: Path, findings: list[Finding]
) -> Trajectories:
    def note(text: str) -> None:
        findings.append(Finding("note", "import", text[:1].lower() + text[1:]))

    recipe = TableRecipe(
        features=found.features,
        object=found.object,
        time=found.time,
        system=found.system,
        static=found.static,
        split_column=found.split,
        split_by="" if found.split or found.system else "time",
        velocities=DEFAULT if found.needs_velocities else 0,
    )
    return from_frame(frame, recipe, str(path), on_note=note)


def _without_repeats(
    frame: "pd.DataFrame", found: Guess, path: Path, findings: list[Finding]
) -> "pd.DataFrame":
    """The table without rows of the same system, object and time, which are a problem."""
    keys = [name for name in (found.system, found.object, found.time) if name]
    repeated = frame.duplicated(keys).to_numpy()
    if not repeated.any():
        return frame
    row = int(repeated.argmax())
    first = frame.iloc[row]
    findings.append(
        Finding(
            "problem",
            "duplicated times",
            f"{counted(int(repeated.sum()), 'row')} repeat {' and '.join(keys)} of an earlier one, "
            f"the first at {Places(frame, str(path)).of(row)}; the import refuses such a table.",
            "Drop the repeats, or name the column that tells these rows apart with --system.",
            Place(
                system=str(first[found.system]) if found.system else "",
                object=str(first[found.object]),
                time=str(first[found.time]),
            ),
        )
    )
    attributes = frame.attrs
    kept = frame[~repeated]
    kept.attrs = attributes
    return kept


def _shape(frame: "pd.DataFrame", found: Guess) -> str:
    meanings = [
        f"{what} {column}"
        for what, column in (
            ("system", found.system),
            ("object", found.object),
            ("time", found.time),
            ("split", found.split),
        )
        if column
    ]
    return f"{counted(len(frame), 'row')}, guessed: {', '.join(meanings)}"
