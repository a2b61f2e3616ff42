"""The console of every command: any name is text on it."""

import ast
import io
from pathlib import Path

import pytest
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

import pgode
from pgode.runtime.terminal.console import Terminal, plain_column

HOSTILE = ("[/x]", "[bold]b", ":bug:", "\x1b[31mred", "a\0b", "\ud800", "\u202ex", "n" * 400)


def printed(*objects: object, terminal: bool = False, encoding: str = "utf-8") -> str:
    stream = io.BytesIO()
    file = io.TextIOWrapper(stream, encoding=encoding, write_through=True)
    Terminal(file=file, width=200, force_terminal=terminal).print(*objects)
    return stream.getvalue().decode(encoding)


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
@pytest.mark.parametrize("terminal", [True, False])
def test_names_are_text_in_messages_and_tables(name: str, terminal: bool) -> None:
    table = Table(name, title=name, caption=name)
    table.add_row(name)
    table.add_row(Text(name, style="bold"))
    for text in (printed(f"wrote {name}", terminal=terminal), printed(table, terminal=terminal)):
        shown = ascii(name)[1:-1] if name != "n" * 400 else f"{'n' * 60}...{'n' * 20}"
        assert shown in text
        own = text.replace("\x1b[1m", "").replace("\x1b[3m", "").replace("\x1b[2;3m", "")
        assert "\x1b[31m" not in own
        assert not {"\0", "\ud800", "\u202e"} & set(own)


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_names_are_text_in_bars_and_spinners(name: str) -> None:
    stream = io.BytesIO()
    file = io.TextIOWrapper(stream, encoding="utf-8", write_through=True)
    console = Terminal(file=file, width=500, force_terminal=True)
    with console.status(f"reading {name}"):
        pass
    with Progress(plain_column("description"), console=console) as bars:
        bars.add_task(name, total=1)
    text = stream.getvalue().decode()
    assert text.count("n" * 60 if name == "n" * 400 else ascii(name)[1:-1]) >= 2
    assert "\x1b[31m" not in text


def test_a_message_is_one_line_whatever_a_file_is_called() -> None:
    assert printed("wrote a\nb.nc") == "wrote a\\nb.nc\n"
    assert printed(Text("two\nlines")) == "two\nlines\n"


def test_a_stream_that_cannot_show_a_letter_gets_its_code() -> None:
    assert printed("Zürich 10⁻⁴", encoding="ascii") == "Z\\xfcrich 10\\u207b\\u2074\n"


def test_every_console_of_the_package_is_this_one() -> None:
    """A console of rich's own would read markup in names; so would columns with markup."""
    root = Path(pgode.__file__).parent
    for path in sorted(root.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if path.parent.name == "terminal" or not ("Console(" in text or "TextColumn(" in text):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id != "Console", f"{path}:{node.lineno}"
                described = node.func.id == "TextColumn" and "description" in ast.unparse(node)
                assert not described, f"{path}:{node.lineno}"
