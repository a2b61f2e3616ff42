"""The error for a damaged file."""

from pathlib import Path

from pgode.runtime.errors import InputError

LONGEST = 200
"""Letters of what a library says."""


def damaged(path: Path, reason: object) -> InputError:
    """The error for a file that is damaged or not of the format of its ending."""
    text = " ".join(str(reason).split()) or type(reason).__name__
    readable = "".join(each if each.isprintable() else "?" for each in text)
    short = readable if len(readable) <= LONGEST else f"{readable[: LONGEST - 3]}..."
    return InputError(
        f"cannot read {path}: it is damaged, incomplete, or not {path.suffix} data ({short}). "
        f"Expected data written by pgode.data.files.write. Write or copy it again."
    )
