"""One row of the table of bad inputs, and ways to spoil a file."""

import json
import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Make = Callable[[], object]


@dataclass(frozen=True)
class Case:
    """A command line in the folder of good files, once `make` has spoiled something there."""

    name: str
    words: tuple[str, ...]
    make: Make | None = None
    codes: tuple[int, ...] = (2,)
    writes: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    real: bool = False


def case(
    command: str,
    make: Make | None = None,
    *,
    name: str = "",
    code: int | tuple[int, ...] = 2,
    writes: str = "",
    replaces: str = "",
    real: bool = False,
    more: tuple[str, ...] = (),
) -> Case:
    """A case; `more` are words that a shell's rules would split, and `writes` what success adds."""
    return Case(
        name or command,
        (*shlex.split(command), *more),
        make,
        (code,) if isinstance(code, int) else code,
        tuple(writes.split()),
        tuple(replaces.split()),
        real,
    )


def write(path: str, content: str | bytes) -> Make:
    """A file of this content."""
    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content

    def make() -> None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(data)

    return make


def cut(source: str, path: str, share: float = 0.5) -> Make:
    """The first part of a good file."""

    def make() -> None:
        data = Path(source).read_bytes()
        Path(path).write_bytes(data[: int(len(data) * share)])

    return make


def replaced(source: str, path: str, old: bytes, new: bytes) -> Make:
    """A good file in which some bytes are others."""

    def make() -> None:
        data = Path(source).read_bytes()
        assert old in data, (source, old)
        Path(path).write_bytes(data.replace(old, new))

    return make


def renamed(source: str, path: str) -> Make:
    """A good file or folder under the name of another kind."""

    def make() -> None:
        (shutil.copytree if Path(source).is_dir() else shutil.copy)(source, path)

    return make


def without_manifest(run: str = "run") -> None:
    """As runs of earlier versions are, which only the schema of each file protects."""
    for path in Path(run).glob("manifest*"):
        path.unlink()


def edited(path: str, change: Callable[[Any], Any]) -> Make:
    """A JSON file of a run whose content is changed; its run then has no manifest."""

    def make() -> None:
        file = Path(path)
        content = json.loads(file.read_text())
        result = change(content)
        file.write_text(json.dumps(content if result is None else result))
        without_manifest(file.parts[0])

    return make


def set_to(path: str, *where: str | int, value: Any) -> Make:
    """A JSON file of a run with one value replaced."""

    def change(content: Any) -> None:
        for key in where[:-1]:
            content = content[key]
        content[where[-1]] = value

    return edited(path, change)


def in_order(*makes: Make) -> Make:
    """Several preparations."""

    def make() -> None:
        for each in makes:
            each()

    return make
