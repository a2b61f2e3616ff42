"""The sentence about what is kept when a command is stopped."""

from collections.abc import Callable
from pathlib import Path

NAMED = 3
"""Files that a sentence names; the others are counted."""

_written: list[Path] = []
_sentence: Callable[[], str] | None = None


def begin() -> None:
    """Forget what an earlier command of this process wrote and promised."""
    global _sentence
    _written.clear()
    _sentence = None


def on_stop(sentence: Callable[[], str]) -> None:
    """What a stop says from now on; empty for the usual sentence about written files.

    It may be called in another thread while the main one stands still, perhaps within an import:
    it must neither import nor print.
    """
    global _sentence
    _sentence = sentence


def written(path: Path) -> None:
    """A file or folder is complete and in its place."""
    _written.append(path)


def sentence() -> str:
    """What is kept, for a command that is stopped now."""
    promised = "" if _sentence is None else _sentence()
    if promised:
        return promised
    kept = [str(path) for path in dict.fromkeys(_written) if _stays(path)]
    if not kept:
        return "Stopped: nothing was written; the same command starts anew."
    more = f" and {len(kept) - NAMED} more" if len(kept) > NAMED else ""
    verb = "is" if len(kept) == 1 else "are"
    return f"Stopped: {', '.join(kept[:NAMED])}{more} {verb} complete and kept; the rest was not."


def _stays(path: Path) -> bool:
    """Not within a folder that is itself unfinished."""
    return path.exists() and not any(part.endswith(".part") for part in path.parts)
