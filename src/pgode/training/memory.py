"""Memory of a training process: keep freed blocks, and report the peak."""

import ctypes
import sys

M_TRIM_THRESHOLD = -1
M_MMAP_THRESHOLD = -3


def keep_freed_memory() -> bool:
    """Keep freed blocks in the process; returns whether that was possible.

    A step allocates and frees hundreds of buffers of several megabytes. By default glibc maps
    each anew and the kernel clears it page by page, which at large batches costs as much as the
    arithmetic. Only glibc has these two parameters.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):
        return False
    return bool(mallopt(M_MMAP_THRESHOLD, 32 << 20)) and bool(mallopt(M_TRIM_THRESHOLD, 2**31 - 1))


def peak_memory() -> float:
    """Peak memory of this process so far, in GB; 0 where the system does not report it."""
    if not sys.platform.startswith("linux"):
        return 0.0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
