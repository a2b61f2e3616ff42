"""Names as a terminal may show them: nothing in them is a command to it, and none fills it."""

import re
import unicodedata

LONGEST = 100
"""Letters of a word, or of one part of a path, that are shown in full."""
KEPT = (60, 20)
"""Letters of a longer one that are shown of its start and of its end."""
LONG = re.compile(rf"[^\s/]{{{LONGEST + 1},}}")
HARMLESS = re.compile(r"[\n\t -~]*")
HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Categories of characters that a terminal obeys, or that change what is around them: controls,
changes of direction, halves of a surrogate pair, and separators of lines."""
JOINERS = "\u200c\u200d\u00ad"
"""Of these categories, but part of words in many languages."""


def escaped(text: str, *, lines: bool = True) -> str:
    """Text with control characters and the like as escapes (\\x1b); `lines` keeps line ends."""
    if not (lines and HARMLESS.fullmatch(text)):
        kept = "\n\t" if lines else ""
        text = "".join(
            each if each in kept or not is_hidden(each) else _code(each) for each in text
        )
    return text


def is_hidden(character: str) -> bool:
    """Whether a character is not one that is seen, and so may not be shown as it is."""
    return unicodedata.category(character) in HIDDEN and character not in JOINERS


def shown(text: str, *, lines: bool = True) -> str:
    """Text escaped, and its overlong words shortened in the middle."""
    return LONG.sub(_shorter, escaped(text, lines=lines))


def _shorter(word: re.Match[str]) -> str:
    start, end = KEPT
    return f"{word[0][:start]}...{word[0][-end:]}"


def _code(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
