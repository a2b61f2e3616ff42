"""`pgode import wide`: import a table with one row for each time and one column for each object."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pgode.cli.import_table import write_import

if TYPE_CHECKING:
    from pgode.data.trajectories import Trajectories


def import_wide(
    files: list[Path],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    adjacency: Path | None = None,
    feature: str = "",
    time: str = "",
    system: str = "",
    time_units: str = "",
    date_format: str = "",
    units: str = "",
    known: str = "",
    transform: str = "",
    edges: str = "",
    undirected: Annotated[bool | None, Parameter(negative="--directed")] = None,
    window: int | None = None,
    stride: int | None = None,
    split_time: str = "",
    gap: int = 0,
    split_by: str = "",
    split: str = "",
    seed: int = 0,
    delimiter: str = "",
    decimal: str = ".",
) -> None:
    """Import a table with one row for each time and one column for each object.

    Parameters
    ----------
    files
        Delimited text, Parquet or Arrow. Several files are several features of the same objects.
    output
        File to write: .nc (NetCDF) or .zarr.
    adjacency
        File of the graph: a square matrix, or a list of edges.
    feature
        Name of the feature of each file, separated by commas; by default "value", or the names of
        the files.
    time
        Column of time, numbers or dates; by default the first, if it looks like times; otherwise
        rows are counted.
    system
        Column that tells systems apart; by default there is one.
    time_units
        Unit of time. Dates get days, hours, minutes or seconds by their spacing.
    date_format
        Form of dates that can be read in two ways, such as %d/%m/%Y.
    units
        Units of features, such as speed:km/h.
    known
        Columns that are known ahead, or weekday, month or hour where times are dates.
    transform
        Transform under which models see values: log1p, log or sqrt for all, or flow:log1p.
    edges
        all or none, instead of a file; by default all pairs.
    undirected
        Edges of the file act both ways, or from sender to receiver only; by default both ways if no
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
        time, system or none; by default time, or system if there are three or more.
    split
        Shares for training, validation and test of whole systems: 0.7,0.15,0.15.
    seed
        Fixes which systems are in which split.
    delimiter
        comma, tab, semicolon, space, pipe, or the character; by default found out.
    decimal
        Decimal mark of numbers in text: . or comma.
    """
    from pgode.cli.parsing import pairs, shares, words
    from pgode.data.files.table.importing import from_table
    from pgode.runtime.errors import InputError

    if adjacency is not None and edges:
        raise InputError(
            "--adjacency and --edges are both given. Expected one of them. Leave the other out."
        )

    def read(note: Callable[[str], None]) -> "Trajectories":
        return from_table(
            files,
            wide=True,
            features=words(feature),
            time=time,
            system=system,
            time_units=time_units,
            date_format=date_format,
            units=pairs(units, "--units", "speed:km/h"),
            known=words(known),
            transform=pairs(transform, "--transform", "flow:log1p")
            if ":" in transform
            else transform,
            edges=adjacency or edges,
            undirected=undirected,
            window=window,
            stride=stride,
            split_time=shares(split_time, "--split-time"),
            gap=gap,
            split_by=split_by,
            split=shares(split, "--split"),
            seed=seed,
            delimiter=delimiter,
            decimal=decimal,
            on_note=note,
        )

    write_import(read, output)
