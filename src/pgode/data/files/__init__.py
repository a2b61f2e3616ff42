"""Read and write trajectories; the ending of the path selects the format."""

from collections.abc import Callable
from pathlib import Path

from pgode.data.files import netcdf, npz, zarr
from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError

__all__ = ["check_output", "is_data", "read", "write"]

READERS: dict[str, Callable[[Path], Trajectories]] = {
    ".nc": netcdf.read,
    ".nc4": netcdf.read,
    ".h5": netcdf.read,
    ".zarr": zarr.read,
    ".npz": npz.read,
}
WRITERS: dict[str, Callable[[Trajectories, Path], None]] = {
    ".nc": netcdf.write,
    ".zarr": zarr.write,
}


def read(path: str | Path) -> Trajectories:
    """Read and validate trajectories from a NetCDF file, a zarr folder or a numpy archive."""
    path = Path(path)
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(
            f"cannot read {path}: the ending {path.suffix or '(none)'} is not known. "
            f"Expected one of {', '.join(READERS)}. Convert the file, or build trajectories from "
            f"arrays with pgode.data.trajectories.Trajectories.build."
        )
    if not path.exists():
        raise InputError(
            f"cannot read {path}: there is no such file. Expected trajectories in one of "
            f"{', '.join(READERS)}. Check the path."
        )
    folder = reader is zarr.read
    if path.is_dir() != folder:
        actual, expected = ("file", "folder") if folder else ("folder", "file")
        raise InputError(
            f"cannot read {path}: it is a {actual}. Expected a {expected}, as {path.suffix} data "
            f"is. Check the path."
        )
    return reader(path)


def write(trajectories: Trajectories, path: str | Path) -> None:
    """Write NetCDF (.nc) or zarr (.zarr); a reader sees the old content or the new, no mixture."""
    check_output(path)
    WRITERS[Path(path).suffix.lower()](trajectories, Path(path))


def is_data(path: Path) -> bool:
    """Whether a path has the ending of a data file."""
    return path.suffix.lower() in READERS


def check_output(path: str | Path) -> None:
    """Refuse a path that `write` could not write, before any long work is done for it."""
    path = Path(path)
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise InputError(
            f"cannot write {path}: the ending {path.suffix or '(none)'} is not known. "
            f"Expected one of {', '.join(WRITERS)}. Choose another output path."
        )
    folder = writer is zarr.write
    if path.exists() and path.is_dir() != folder:
        existing = "file" if folder else "folder"
        raise InputError(
            f"cannot write {path}: a {existing} of that name is in the way. Expected a free path, "
            f"or {path.suffix} data to replace. Remove it or choose another output path."
        )
