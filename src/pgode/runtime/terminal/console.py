"""The console of every command. Names of objects, features, files and runs are text to it.

Rich reads [bold] in a string as markup and :bug: as a picture, and passes control characters on;
names come from files of other people, so none of that may happen to them.
"""

from collections.abc import Iterable
from typing import IO, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import Task, TextColumn
from rich.segment import Segment
from rich.status import Status
from rich.text import Text

from pgode.runtime.terminal.text import escaped, shown

UNLIMITED = 10_000
"""Columns of a pipe: what reads from it has no width, and digits must not be lost."""


class Terminal(Console):
    """A console without markup and highlighting, on which every text is shown escaped.

    With `soft_wrap` lines are as long as their text. A `style` of the arguments of `print` remains
    the way to colour something.
    """

    def __init__(
        self,
        *,
        stderr: bool = False,
        soft_wrap: bool = False,
        quiet: bool = False,
        width: int | None = None,
        file: IO[str] | None = None,
        force_terminal: bool | None = None,
    ) -> None:
        super().__init__(
            stderr=stderr,
            soft_wrap=soft_wrap,
            quiet=quiet,
            width=width,
            file=file,
            force_terminal=force_terminal,
            markup=False,
            emoji=False,
            highlight=False,
        )

    def print(self, *objects: Any, **options: Any) -> None:
        """As rich does; a plain string is one line, whatever names are in it."""
        plain = (shown(each, lines=False) if isinstance(each, str) else each for each in objects)
        super().print(*plain, **options)

    def status(self, status: RenderableType, **options: Any) -> Status:
        """A line with a spinner while something lasts."""
        return super().status(Text(shown(status)) if isinstance(status, str) else status, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Strings in tables and elsewhere."""
        return super().render_str(shown(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The pieces that are written, of which only rich's own controls control the terminal."""
        if isinstance(renderable, Text) and (text := shown(renderable.plain)) != renderable.plain:
            changed = Text(text, style=renderable.style, justify=renderable.justify)
            changed.no_wrap, changed.overflow = renderable.no_wrap, renderable.overflow
            renderable = changed
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=self._safe(segment.text))

    def _safe(self, text: str) -> str:
        """Text that the stream can encode."""
        text, encoding = escaped(text), self.encoding
        if encoding.startswith("utf"):
            return text
        return text.encode(encoding, "backslashreplace").decode(encoding)


def table_console() -> Terminal:
    """The console for tables: in a pipe or a file as wide as they are, so no digit is cut."""
    console = Terminal()
    return console if console.is_terminal else Terminal(width=UNLIMITED)


class PlainColumn(TextColumn):
    """A column of a progress bar with a text of the tasks, whatever is in it."""

    def render(self, task: Task) -> Text:
        """The text, escaped before its width is measured."""
        text = super().render(task)
        return Text(shown(text.plain, lines=False), style=text.style, justify=text.justify)


def plain_column(field: str, style: str = "none") -> PlainColumn:
    """A column of a progress bar with the text of a task's `field`, such as its description."""
    return PlainColumn(f"{{task.{field}}}", style=style, markup=False)
