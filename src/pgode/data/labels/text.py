"""Text that every file can hold: names without control characters, in one line."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from jaxtyping import Shaped

from pgode.runtime.errors import InputError
from pgode.runtime.terminal.text import shown

IN_NAMES = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""NUL ends a text in NetCDF, a lone surrogate has no UTF-8, line ends break tables, and the rest
are commands to a terminal."""
IN_TEXTS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""The same in text of several lines."""


def text_array(name: str, values: Any, source: str) -> Shaped[np.ndarray, "..."]:
    """An array of strings, whatever string type a file or a library stored them in.

    The strings are checked before numpy makes them of one width, which drops a NUL at the end.
    """
    given = values if isinstance(values, np.ndarray) else np.asarray(values, dtype=object)
    if given.dtype.kind == "S":
        try:
            given = np.char.decode(given, "utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                f"{name} in {source} holds bytes that are not UTF-8 ({error.reason}). Expected "
                f"text. Decode the names before building trajectories."
            ) from None
    if given.dtype.kind != "U":
        given = np.vectorize(str, otypes=[object])(given) if given.size else given.astype(object)
    check_names_hold(name, given.ravel().tolist(), source)
    return given.astype(np.str_)


def check_names_hold(name: str, texts: Iterable[str], source: str) -> None:
    """Refuse names that a file could not hold, or that would not stay one line of text."""
    listed = list(texts)
    if IN_NAMES.search("".join(listed)) is None:  # One pass, since there may be very many.
        return
    for place, each in enumerate(listed):
        if found := IN_NAMES.search(each):
            raise InputError(
                f'{name} in {source} has the name "{shown(each, lines=False)}" (number {place}), '
                f"with {_described(found[0])}. Expected names of letters, digits, signs and "
                f"spaces, which every file can hold. Rename it."
            )


def check_texts_hold(texts: Mapping[str, str], source: str) -> None:
    """Refuse text that a file could not hold, by its name; it may have several lines."""
    for name, text in texts.items():
        if found := IN_TEXTS.search(text):
            raise InputError(
                f"{name} in {source} has {_described(found[0])} at position {found.start()}. "
                f"Expected text that every file can hold. Remove it."
            )


def _described(character: str) -> str:
    if "\ud800" <= character <= "\udfff":
        return f"half a character ({shown(character, lines=False)}), which is no text"
    return f"the control character {shown(character, lines=False)}"
