"""How much memory this process may use, and how much of it a data file may take.

Data that would take more than a share of it stay in their file and are read in pieces, see
`pgode.data.large`. What cannot be done in pieces is refused with the memory that it would need,
because a process that is killed for its memory tells nobody why.
"""

import os
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from pgode.runtime.errors import InputError

VARIABLE = "PGODE_MEMORY"
"""Environment variable that sets the memory to plan with, such as 4GB."""
SHARE_VARIABLE = "PGODE_MEMORY_SHARE"
"""Environment variable that sets the share of it that a file may take."""
SHARE = 0.15
"""Share of the memory that the values of a file may take to be held there.

With checks, splits and scaled copies, training on data in memory takes about five times the values
(`python -m benchmarks.large_data`).
"""
UNITS = {"": 1, "K": 1000, "M": 1000**2, "G": 1000**3, "T": 1000**4}
SIZES = {"EB": 1e18, "PB": 1e15, "TB": 1e12, "GB": 1e9, "MB": 1e6, "kB": 1e3}
UNLIMITED = 2**62


def usable_memory() -> int:
    """Bytes that this process may still use.

    The least of what the machine has free, what its control group may take, and what the limits
    of the process (`ulimit -v`, `ulimit -d`) leave; or what PGODE_MEMORY says instead.
    """
    given = os.environ.get(VARIABLE, "").strip()
    return _parsed(given) if given else min(_limits(), default=UNLIMITED)


def room_for_data() -> int:
    """Bytes that the values of a file may take to be held in memory."""
    given = os.environ.get(SHARE_VARIABLE, "").strip()
    return int((_share(given) if given else SHARE) * usable_memory())


def refuse_beyond_memory(needed: float, what: str, advice: str) -> None:
    """Refuse work that needs more memory than there is, before it starts."""
    usable = usable_memory()
    if needed > usable:
        raise InputError(
            f"{what} needs about {size_text(needed)} of memory, but {size_text(usable)} are free "
            f"for this process. Expected work that fits. {advice} If the process may use more, "
            f"say so with the environment variable {VARIABLE}, such as {VARIABLE}=16GB."
        )


def size_text(size: float) -> str:
    """A number of bytes for people, such as 1.2 GB."""
    for unit, factor in SIZES.items():
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size:.0f} bytes"


@cache
def _parsed(text: str) -> int:
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)i?B?", text, re.IGNORECASE)
    size = float(found[1]) * UNITS[found[2].upper()] if found else 0.0
    if size < 1:
        raise InputError(
            f'the environment variable {VARIABLE} is "{text}". Expected an amount of memory with '
            f"its unit, such as 4GB or 500MB. Correct it, or unset it to use what the machine has."
        )
    return int(size)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise InputError(
            f'the environment variable {SHARE_VARIABLE} is "{text}". Expected a number from 0 (all '
            f"data files are read window by window) to 1. Correct it, or unset it for {SHARE}."
        )
    return share


def _limits() -> Iterator[int]:
    """Bytes left under each limit that can be found out here."""
    if sys.platform.startswith("linux"):
        free = _numbers(Path("/proc/meminfo")).get("MemAvailable")
        if free is not None:
            yield free * 1024
        yield from _group_limits()
    elif hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    yield from _process_limits()


def _process_limits() -> Iterator[int]:
    try:
        import resource
    except ImportError:  # On Windows.
        return
    used = _numbers(Path("/proc/self/status"))
    for limit, counted in ((resource.RLIMIT_AS, "VmSize"), (resource.RLIMIT_DATA, "VmData")):
        soft = resource.getrlimit(limit)[0]
        if soft != resource.RLIM_INFINITY:
            yield max(soft - used.get(counted, 0) * 1024, 0)


def _group_limits(root: Path = Path("/sys/fs/cgroup")) -> Iterator[int]:
    """What the control group of this process, and those above it, leave; cached files do not count.

    Containers are limited this way, and see the memory of the whole machine otherwise.
    """
    for line in _text(Path("/proc/self/cgroup")).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        top, limit, held = (
            (root / "memory", "memory.limit_in_bytes", "total_rss")
            if controllers
            else (root, "memory.max", "anon")
        )
        folder = top / path.lstrip("/")
        for each in (folder, *folder.parents):
            if not each.is_relative_to(top):
                break
            text = _text(each / limit).strip()
            if text.isdecimal() and int(text) < UNLIMITED:
                yield max(int(text) - _numbers(each / "memory.stat").get(held, 0), 0)


def _numbers(path: Path) -> dict[str, int]:
    """The first number of each line, by the name before it."""
    found = re.findall(r"^(\w+):?\s+(\d+)", _text(path), re.MULTILINE)
    return {name: int(number) for name, number in found}


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
