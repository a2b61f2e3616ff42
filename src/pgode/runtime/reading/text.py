"""Text files: UTF-8, with or without a byte-order mark."""

import codecs
from pathlib import Path

from pgode.runtime.errors import InputError
from pgode.runtime.reading.limits import DEFAULT
from pgode.runtime.reading.regular import read_bytes

OTHERS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
"""Marks at the start of files in other encodings; those of UTF-32 begin with those of UTF-16."""


def read_text(
    path: Path | str, what: str = "", limit: int = DEFAULT.size, expected: str = "a text file"
) -> str:
    """The text of a regular file of at most `limit` bytes; `what` stands before its path."""
    content = read_bytes(path, what, limit, expected)
    return decoded(content, f"{what} {path}" if what else str(path))


def decoded(content: bytes, where: str) -> str:
    """Bytes as text; an error names the line and the column of the first that are no UTF-8."""
    for mark, name in OTHERS:
        if content.startswith(mark):
            raise InputError(
                f"{where} is text in {name}. Expected UTF-8. Save it as UTF-8 in the editor, or "
                f"convert it: iconv -f {name} -t UTF-8."
            )
    content = content.removeprefix(codecs.BOM_UTF8)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        line = before.count(b"\n") + 1
        column = len(before.rpartition(b"\n")[2].decode("utf-8", "replace")) + 1
        raise InputError(
            f"{where} is not UTF-8 text: line {line}, column {column} has the byte "
            f"0x{content[error.start]:02x}. Expected text in UTF-8. Save it as UTF-8, or check "
            f"that it is the right file."
        ) from None
