"""`pgode import table`: import a table with one row for each object at each time."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pgode.cli.parameters import Output, Overwrite
from pgode.cli.table_options import DEFAULTS, TableOptions

if TYPE_CHECKING:
    from pgode.data.trajectories import Trajectories


def import_table(
    files: list[Path],
    /,
    *,
    output: Output,
    object: str = "",
    time: str = "",
    features: str = "",
    system: str = "",
    units: str = "",
    positions: str = "",
    velocities: Annotated[bool | int, Parameter(negative=())] = False,
    static: str = "",
    known: str = "",
    transform: str = "",
    edges: str = "",
    edges_every: str = "",
    split_by: str = "",
    split_column: str = "",
    header: bool = True,
    columns: str = "",
    options: TableOptions = DEFAULTS,
    overwrite: Overwrite = False,
) -> None:
    """Import a table with one row for each object at each time.

    Parameters
    ----------
    files
        Delimited text (.csv, .tsv, .txt, ..., also .gz), Parquet or Arrow. Of several files each is
        a system, if no column is.
    output
        File to write: .nc (NetCDF) or .zarr.
    object
        Column that tells objects apart; by default one named object, id, agent, name or node.
    time
        Column of time, numbers or dates; by default one named time, t, date, timestamp or frame.
    features
        Columns that change in time, separated by commas; by default all other columns of numbers.
    system
        Column that tells systems apart (a match, a recording); by default "system", if there is
        one, otherwise there is one system.
    units
        Units of features, such as x:m,y:m.
    positions
        Features that are positions; by default those named x, y and z, if velocities are given or
        derived or edges follow from distances.
    velocities
        Derive velocities from past positions; a number is that of the frames it uses (3).
    static
        Columns that are constants of objects, numbers or categories.
    known
        Columns that are known ahead, or weekday, month or hour where times are dates.
    transform
        Transform under which models see values: log1p, log or sqrt for all, or deaths:log1p.
    edges
        all, none, radius:R, knn:K, or a file of edges or a matrix. By default all pairs of up to 20
        objects, and the 8 nearest of more.
    edges_every
        Frames after which graphs by distance are rebuilt, or static; by default 1, unless that
        makes very many edges.
    split_by
        system, time, none, or a column: all systems with one value in it are in the same split.
    split_column
        Column that holds the split of each system: train, val, test or ood.
    header
        The first line names the columns.
    columns
        Names of the columns of a table without a header.
    """
    from pgode.cli.parsing import pairs, words
    from pgode.data.files.table.importing import from_table

    def read(note: Callable[[str], None]) -> "Trajectories":
        return from_table(
            files,
            object=object,
            time=time,
            features=words(features),
            system=system,
            units=pairs(units, "--units", "x:m,y:m"),
            positions=words(positions),
            velocities=velocities,
            static=words(static),
            known=words(known),
            transform=pairs(transform, "--transform", "deaths:log1p")
            if ":" in transform
            else transform,
            edges=edges,
            edges_every=edges_every,
            split_by=split_by,
            split_column=split_column,
            header=header,
            columns=words(columns),
            on_note=note,
            **options.arguments(),
        )

    write_import(read, output, [*files, edges or None], overwrite)


def write_import(
    read: Callable[[Callable[[str], None]], "Trajectories"],
    output: Path,
    inputs: Sequence[Path | str | None],
    overwrite: bool,
) -> None:
    """Check the output, read, write, and print what was made."""
    from pgode.data import files
    from pgode.data.files.table.description import described
    from pgode.runtime.terminal.console import Terminal

    files.check_output(output, inputs=inputs, overwrite=overwrite)
    notes: list[str] = []
    data = read(notes.append)
    files.write(data, output, overwrite=overwrite)
    console = Terminal(soft_wrap=True)
    console.print(f"wrote {output}", markup=False)
    for what, text in described(data, output):
        console.print(f"  {what:<13}{text}", markup=False)
    for note in notes:
        console.print(f"note: {note}", markup=False)
