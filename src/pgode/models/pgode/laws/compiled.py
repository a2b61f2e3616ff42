"""How functions of this package are compiled, and kept on disk without ever being out of date.

numba keeps compiled code on disk and compiles again when the file of a function has changed, but
not when a constant, a tuple or a function of another file has. So only the functions that Python
calls are kept (`entry`), with all that they call in them (`inner`, `inlined`), and each has a last
argument `version=VERSION` that is never given: numba keeps code for every default value apart, and
this one changes with the text of every file of compiled functions.
"""

from pathlib import Path
from zlib import crc32

from numba import njit

inner = njit(nogil=True, error_model="numpy")
# Arrays in tuples are counted at every call, which costs the motion of a small system half its
# time. Functions of a single step are inlined; the others would only take longer to compile.
inlined = njit(nogil=True, error_model="numpy", forceinline=True)
entry = njit(cache=True, nogil=True, error_model="numpy")


def _version() -> int:
    """A number that changes with this file and all files named after a kernel."""
    folder = Path(__file__).parent
    files = [Path(__file__), *sorted(folder.rglob("*kernel.py"))]
    return crc32(b"".join(file.read_bytes() for file in files))


VERSION = _version()
