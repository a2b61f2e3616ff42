"""`pgode import table`: import a table with one row for each object at each time."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from pgode.data.trajectories import Trajectories


def import_table(
    files: list[Path],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    object: str = "",
    time: str = "",
    features: str = "",
    system: str = "",
    time_units: str = "",
    date_format: str = "",
    units: str = "",
    positions: str = "",
    velocities: Annotated[bool | int, Parameter(negative=())] = False,
    static: str = "",
    known: str = "",
    transform: str = "",
    edges: str = "",
    edges_every: str = "",
    undirected: Annotated[bool | None, Parameter(negative="--directed")] = None,
    window: int | None = None,
    stride: int | None = None,
    split_time: str = "",
    gap: int = 0,
    split_by: str = "",
    split: str = "",
    split_column: str = "",
    seed: int = 0,
    header: bool = True,
    columns: str = "",
    delimiter: str = "",
    decimal: str = ".",
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
    time_units
        Unit of time. Dates get days, hours, minutes or seconds by their spacing.
    date_format
        Form of dates that can be read in two ways, such as %d/%m/%Y.
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
    undirected
        Edges of a file act both ways, or from sender to receiver only; by default both ways if no
        pair is there twice.
    window
        Frames of each system that a series is cut into; by default series stay whole, and training
        cuts windows by itself.
    stride
        Frames between the starts of two windows; by default the window.
    split_time
        Shares for training, validation and test of each series, cut in time.
    gap
        Frames left out between two splits in time.
    split_by
        system, time, none, or a column: all systems with one value in it are in the same split.
    split
        Shares for training, validation and test of whole systems: 0.7,0.15,0.15.
    split_column
        Column that holds the split of each system: train, val, test or ood.
    seed
        Fixes which systems are in which split.
    header
        The first line names the columns.
    columns
        Names of the columns of a table without a header.
    delimiter
        comma, tab, semicolon, space, pipe, or the character; by default found out.
    decimal
        Decimal mark of numbers in text: . or comma.
    """
    from pgode.cli.parsing import pairs, shares, words
    from pgode.data.files.table.importing import from_table

    def read(note: Callable[[str], None]) -> "Trajectories":
        return from_table(
            files,
            object=object,
            time=time,
            features=words(features),
            system=system,
            time_units=time_units,
            date_format=date_format,
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
            undirected=undirected,
            window=window,
            stride=stride,
            split_time=shares(split_time, "--split-time"),
            gap=gap,
            split_by=split_by,
            split=shares(split, "--split"),
            split_column=split_column,
            seed=seed,
            header=header,
            columns=words(columns),
            delimiter=delimiter,
            decimal=decimal,
            on_note=note,
        )

    write_import(read, output)


def write_import(read: Callable[[Callable[[str], None]], "Trajectories"], output: Path) -> None:
    """Check the output, read, write, and print what was made."""
    from rich.console import Console

    from pgode.data import files
    from pgode.data.files.table.description import described
    from pgode.runtime.files import writable_folder

    files.check_output(output)
    writable_folder(output)
    notes: list[str] = []
    data = read(notes.append)
    files.write(data, output)
    console = Console(soft_wrap=True, highlight=False)
    console.print(f"wrote {output}", markup=False)
    for what, text in described(data, output):
        console.print(f"  {what:<13}{text}", markup=False)
    for note in notes:
        console.print(f"note: {note}", markup=False)
