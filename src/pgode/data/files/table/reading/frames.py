"""Tables as pandas frames, from files and from other libraries."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pgode.data.files.guard.tables.arrow_file import check_arrow, check_views
from pgode.data.files.guard.tables.parquet import check_parquet
from pgode.data.files.table.reading import delimited
from pgode.data.files.table.reading.places import PARTS
from pgode.runtime.errors import InputError
from pgode.runtime.memory import refuse_beyond_memory
from pgode.runtime.reading import check_file, open_file

if TYPE_CHECKING:
    import pandas as pd

PARQUET = (".parquet", ".pq")
ARROW = (".feather", ".arrow")
WORK = 3
"""Times its size that reading a table takes in memory at least."""
TEXT = (".csv", ".tsv", ".tab", ".txt", ".dat", ".gz")


def read_frame(
    path: str | Path, delimiter: str | None = None, header: bool = True, *, decimal: str = "."
) -> "pd.DataFrame":
    """Read a table: Parquet and Arrow by their endings, everything else as delimited text.

    `delimiter` is a character or its name (comma, tab, semicolon, space, pipe); without one it is
    found out. Without a header the columns are named "column 1", "column 2" and so on.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(
            f"cannot read {path}: it is a folder. Expected a table. Name its files, such as "
            f"{path}/*.csv."
        )
    size = check_file(path, expected=f"a table ({', '.join(TEXT[:4])}, {PARQUET[0]})").st_size
    refuse_beyond_memory(WORK * size, f"reading {path}", "Split the table into several.")
    if path.suffix.lower() in PARQUET + ARROW:
        return _read_arrow(path)
    return delimited.read(path, delimiter or None, header, decimal)


def is_table(path: str | Path) -> bool:
    """Whether a path has the ending of a table."""
    return Path(path).suffix.lower() in TEXT + PARQUET + ARROW


def frame_of(table: Any) -> "pd.DataFrame":
    """A pandas frame of a pandas, polars or Arrow table."""
    import pandas as pd

    if isinstance(table, pd.DataFrame):
        frame = table.reset_index(drop=list(table.index.names) == [None])
    elif hasattr(table, "collect") and hasattr(table, "collect_schema"):
        return frame_of(table.collect())  # a lazy frame of polars
    elif hasattr(table, "to_pandas"):
        try:
            frame = table.to_pandas()
        except ImportError:
            raise _no_arrow(f"a table of {type(table).__module__.partition('.')[0]}") from None
    else:
        raise InputError(
            f"cannot read a table from {type(table).__name__}. Expected a path, or a table of "
            f"pandas, polars or pyarrow. Convert it to one of these."
        )
    frame.columns = [str(name) for name in frame.columns]
    for name in frame.columns[frame.columns.duplicated()][:1]:
        raise InputError(
            f'the table has two columns named "{name}". Expected different names. Rename one.'
        )
    frame.attrs = {}
    return frame


def joined(frames: Sequence["pd.DataFrame"], paths: Sequence[Path]) -> "pd.DataFrame":
    """Tables of the same columns, one below the other."""
    import pandas as pd

    if len(frames) == 1:
        return frames[0]
    names = list(frames[0].columns)
    parts, first = [], 0
    for frame, path in zip(frames, paths, strict=True):
        if sorted(frame.columns) != sorted(names):
            missing = [name for name in names if name not in frame.columns]
            which = f'no column "{missing[0]}"' if missing else "further columns"
            raise InputError(
                f"{path} has {which}, unlike {paths[0]}, which has {', '.join(names[:12])}. "
                f"Expected the same columns in all files. Import it alone, or rename its columns."
            )
        parts.append((str(path), first))
        first += len(frame)
    whole = pd.concat(frames)
    whole.attrs = {PARTS: parts}
    return whole


def _read_arrow(path: Path) -> "pd.DataFrame":
    try:
        from pyarrow import feather, parquet
    except ImportError:
        raise _no_arrow(str(path)) from None
    packed = path.suffix.lower() in PARQUET
    check, read = (
        (check_parquet, parquet.read_table) if packed else (check_arrow, feather.read_table)
    )
    try:
        check(path)
        # A file object: the name of a file may be the address of a server to Arrow.
        with open_file(path) as file:
            table = read(file)
        if not packed:
            # Arrow takes buffers as they are: a wrong offset would be read outside of memory.
            table.validate(full=True)
            check_views(path, table)
        return frame_of(table)
    except InputError:
        raise
    # Damaged files are reported by errors of many types, those of memory included.
    except Exception as error:
        reason = re.sub(r"\s+", " ", str(error))[:120]
        raise InputError(
            f"cannot read {path}: it is damaged, incomplete, or not {path.suffix} data ({reason}). "
            f"Expected a whole {path.suffix} file. Write or copy it again."
        ) from None


def _no_arrow(what: str) -> InputError:
    return InputError(
        f"cannot read {what}: it needs the package pyarrow, which is missing. Expected it to be "
        f'installed. Run: pip install "pgode[tables]".'
    )
