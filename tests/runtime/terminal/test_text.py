"""Names as a terminal shows them."""

import pytest

from pgode.runtime.terminal.text import escaped, shown


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Zürich 東京 😀 ½²", "Zürich 東京 😀 ½²"),
        ("[/x] :bug: %s", "[/x] :bug: %s"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("a\0b\x9bm\x7f", "a\\x00b\\x9bm\\x7f"),
        ("\ud800 and \udcff", "\\ud800 and \\udcff"),
        ("\u202egpj.exe\u2028", "\\u202egpj.exe\\u2028"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
    ],
)
def test_characters_that_a_terminal_would_obey_are_escaped(text: str, expected: str) -> None:
    assert escaped(text) == expected
    assert escaped(expected) == expected


def test_a_name_is_one_line() -> None:
    assert escaped("a\nb\tc", lines=False) == "a\\nb\\tc"


def test_overlong_words_are_shortened_in_the_middle() -> None:
    assert shown(f"object {'n' * 300}end: lost") == f"object {'n' * 60}...{'n' * 16}end: lost"
    path = "/".join(["a" * 90] * 5)
    assert shown(path) == path, "folders of a long path are all shown"
    assert shown("word " * 100) == "word " * 100
