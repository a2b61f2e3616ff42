"""Memory of a process with large steps: keep freed blocks while there is room; report the peak."""

import ctypes
import sys
from functools import cache
from pathlib import Path
from typing import Any

from pgode.runtime.memory import usable_memory

M_TRIM_THRESHOLD, NEVER = -1, -1
M_MMAP_THRESHOLD, LARGE = -3, 32 << 20
M_MMAP_MAX, NONE, USUAL = -4, 0, 65536
SHARE = 0.4
"""Share of the memory for this process that it may hold before it gives freed blocks back."""

_most_held: float | None = None
"""Bytes that the process may hold while it keeps freed blocks; None where it does not."""


def keep_freed_memory() -> bool:
    """Keep freed blocks in the process; returns whether that was possible.

    A step allocates and frees hundreds of buffers of several megabytes. By default glibc maps
    each anew and the kernel clears it page by page, which at large batches costs as much as the
    arithmetic, and with 100,000 objects a third of a step. Only glibc has these parameters.
    """
    global _most_held
    library = _library()
    settings = ((M_MMAP_THRESHOLD, LARGE), (M_TRIM_THRESHOLD, NEVER), (M_MMAP_MAX, NONE))
    kept = library is not None and all(library.mallopt(*setting) for setting in settings)
    _most_held = SHARE * (_held() + usable_memory()) if kept else None
    return kept


def give_back_if_scarce() -> None:
    """Give freed blocks back once the process holds a large share of the memory that it may use.

    Kept blocks fit some later ones only, so a process that keeps all holds up to twice what it
    uses. From here on blocks of 32 MB and more are mapped, and given back when they are freed.
    """
    global _most_held
    if _most_held is None or _held() <= _most_held:
        return
    _most_held = None
    library = _library()
    library.mallopt(M_MMAP_MAX, USUAL)
    library.malloc_trim(0)


def peak_memory() -> float:
    """Peak memory of this process so far, in GB; 0 where the system does not report it."""
    if not sys.platform.startswith("linux"):
        return 0.0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def _library() -> Any:
    """The C library; None where it does not have these parameters."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        library = ctypes.CDLL("libc.so.6")
        _ = library.mallopt, library.malloc_trim
    except (OSError, AttributeError):
        return None
    return library


def _held() -> int:
    """Bytes that the process holds now."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * _page_size()


@cache
def _page_size() -> int:
    import resource

    return resource.getpagesize()
