"""`pgode import wide`: import a table with one row for each time and one column for each object."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pgode.cli.import_table import write_import
from pgode.cli.parameters import Output, Overwrite
from pgode.cli.table_options import DEFAULTS, TableOptions

if TYPE_CHECKING:
    from pgode.data.trajectories import Trajectories


def import_wide(
    files: list[Path],
    /,
    *,
    output: Output,
    adjacency: Path | None = None,
    feature: str = "",
    time: str = "",
    system: str = "",
    units: str = "",
    known: str = "",
    transform: str = "",
    edges: str = "",
    split_by: str = "",
    options: TableOptions = DEFAULTS,
    overwrite: Overwrite = False,
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
    units
        Units of features, such as speed:km/h.
    known
        Columns that are known ahead, or weekday, month or hour where times are dates.
    transform
        Transform under which models see values: log1p, log or sqrt for all, or flow:log1p.
    edges
        all or none, instead of a file; by default all pairs.
    split_by
        time, system or none; by default time, or system if there are three or more.
    """
    from pgode.cli.parsing import pairs, words
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
            units=pairs(units, "--units", "speed:km/h"),
            known=words(known),
            transform=pairs(transform, "--transform", "flow:log1p")
            if ":" in transform
            else transform,
            edges=adjacency or edges,
            split_by=split_by,
            on_note=note,
            **options.arguments(),
        )

    write_import(read, output, [*files, adjacency], overwrite)
