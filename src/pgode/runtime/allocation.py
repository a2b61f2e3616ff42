"""Memory of a process with large steps: keep freed blocks while there is room; report the peak."""

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from pgode.runtime.memory import usable_memory

M_TRIM_THRESHOLD, NEVER, SOMETIMES = -1, -1, 64 << 20
M_MMAP_THRESHOLD, LARGE = -3, 32 << 20
M_MMAP_MAX, NONE, USUAL = -4, 0, 65536
SHARE, LEFT, LITTLE = 0.4, 0.2, 0.05
"""Shares of the memory for this process: what it may hold before it gives freed blocks back; what
has to be left, because other processes may keep theirs; and what is too little to help them.
"""

_available: float | None = None
"""Memory for this process, in bytes, while it keeps freed blocks; None where it does not."""


@contextmanager
def freed_memory_kept() -> Iterator[None]:
    """Keep freed blocks in the process, and give them back at the end.

    A step allocates and frees hundreds of buffers of several megabytes. By default glibc maps
    each anew and the kernel clears it page by page, which at large batches costs as much as the
    arithmetic, and with 100,000 objects a third of a step. Only glibc has these parameters.
    """
    global _available
    library, before, held = _library(), _available, _held()
    settings = ((M_MMAP_THRESHOLD, LARGE), (M_TRIM_THRESHOLD, NEVER), (M_MMAP_MAX, NONE))
    if library is not None and all(library.mallopt(*setting) for setting in settings):
        _available = held + usable_memory()
    try:
        yield
    finally:
        if before is None and _available is not None:
            _give_back(trimmed=_held() - held > SOMETIMES)
        _available = before


def give_back_if_scarce() -> None:
    """Give freed blocks back once the process holds a large share of the memory that it may use.

    Kept blocks fit some later ones only, so a process that keeps all holds up to twice what it
    uses. From here on blocks of 32 MB and more are mapped, and given back when they are freed.
    """
    global _available
    if _available is None or (share := _held() / _available) < LITTLE:
        return
    if share > SHARE or usable_memory() < LEFT * _available:
        _available = None
        _give_back(trimmed=True)


def peak_memory() -> float:
    """Peak memory of this process so far, in GB; 0 where the system does not report it."""
    if not sys.platform.startswith("linux"):
        return 0.0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def _give_back(*, trimmed: bool) -> None:
    library = _library()
    library.mallopt(M_MMAP_MAX, USUAL)
    library.mallopt(M_TRIM_THRESHOLD, SOMETIMES)
    if trimmed:
        library.malloc_trim(0)


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
