"""Read and write trajectories; the ending of the path selects the format."""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from pgode.data.files import netcdf, npz, parts, zarr
from pgode.data.files.guard.integrity import ContentWarning
from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError
from pgode.runtime.outputs import claim_output
from pgode.runtime.reading import check_file, check_folder

__all__ = ["check_output", "is_data", "read", "read_again", "write", "write_own"]

Writer = Callable[[Trajectories, Path], None]


@dataclass(frozen=True)
class Format:
    """A format of data: its endings, of which the first is the one for writing, if it is written.

    A new format is a file of this folder and an entry of `FORMATS`.
    """

    endings: tuple[str, ...]
    read: Callable[[Path, bool], Trajectories]
    write: Writer | None = None
    is_folder: bool = False


FORMATS = (
    Format((".nc", ".nc4", ".h5"), netcdf.read, netcdf.write),
    Format((".zarr",), zarr.read, zarr.write, is_folder=True),
    Format((".npz",), npz.read),
)
TABLES = (".csv", ".tsv", ".txt", ".gz", ".parquet", ".pq", ".feather", ".arrow")
"""Endings of tables, which are imported first: only a person can say what their columns mean."""
READABLE = {ending: each for each in FORMATS for ending in each.endings}
WRITABLE = {each.endings[0]: each for each in FORMATS if each.write is not None}


def read(path: str | Path, *, force: bool = False) -> Trajectories:
    """Read and validate trajectories from a NetCDF file, a zarr folder or a numpy archive.

    Data that differ from the hash that was written with them are an error; with `force` they are
    read all the same, with a `ContentWarning`.
    """
    path = Path(path)
    known = READABLE.get(path.suffix.lower())
    if known is None:
        advice = (
            f"If it is a table, import it first: pgode import table {path} -o {path.stem}.nc."
            if path.suffix.lower() in TABLES
            else "Convert the file, or build trajectories from arrays with "
            "pgode.data.trajectories.Trajectories.build."
        )
        raise InputError(
            f"cannot read {path}: the ending {path.suffix or '(none)'} is not known. "
            f"Expected one of {', '.join(READABLE)}. {advice}"
        )
    expected = f"a file of trajectories, one of {', '.join(READABLE)}"
    if known.is_folder:
        check_folder(path, expected=f"a folder, as {path.suffix} data is")
    else:
        check_file(path, expected=expected)
    return known.read(path, force)


def read_again(path: str | Path) -> Trajectories:
    """Read data that another process has read and accepted; whoever reads compares their hash."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContentWarning)
        return read(path, force=True)


def write(trajectories: Trajectories, path: str | Path, *, overwrite: bool = False) -> None:
    """Write NetCDF (.nc) or zarr (.zarr); a reader sees the old content or the new, no mixture.

    An existing file, or a zarr folder that pgode wrote, is replaced only with `overwrite`, so that
    a path typed twice costs nothing. Parts of a run and other folders are never replaced.
    """
    check_output(path, inputs=[_file_of(trajectories)], overwrite=overwrite)
    write_own(trajectories, path)


def write_own(trajectories: Trajectories, path: str | Path) -> None:
    """The same for a file that pgode keeps for itself, and replaces if it is left over."""
    writer = _writer(Path(path))
    if trajectories.is_stored:
        parts.write_stored(trajectories, Path(path))
    else:
        writer(trajectories, Path(path))


def _file_of(trajectories: Trajectories) -> Path | None:
    """The file that values are still read from, if they are not in memory."""
    states = trajectories.stored("states")
    source = None if states is None else getattr(states.source, "numbers", states.source)
    return getattr(source, "path", None)


def is_data(path: Path) -> bool:
    """Whether a path has the ending of a data file."""
    return path.suffix.lower() in READABLE


def check_output(
    path: str | Path, *, inputs: Iterable[Path | str | None] = (), overwrite: bool = False
) -> None:
    """Refuse a path that `write` would not write, before any long work is done for it.

    `inputs` are what the command reads, see `pgode.runtime.outputs`.
    """
    path = Path(path)
    _writer(path)
    is_folder = WRITABLE[path.suffix.lower()].is_folder
    claim_output(path, inputs=inputs, overwrite=overwrite, folder=is_folder)


def _writer(path: Path) -> Writer:
    """The function that writes the format of this path."""
    known = WRITABLE.get(path.suffix.lower())
    if known is None or known.write is None:
        raise InputError(
            f"cannot write {path}: the ending {path.suffix or '(none)'} is not known. "
            f"Expected one of {', '.join(WRITABLE)}. Choose another output path."
        )
    return known.write
