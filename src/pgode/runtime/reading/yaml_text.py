"""YAML within limits, which count what aliases stand for, and without repeated keys.

Ten lines that each name the line before ten times stand for ten billion values. So the text is
first read as events, then as nodes, which share what aliases name, and only then as values.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from pgode.runtime.errors import InputError
from pgode.runtime.reading.limits import Limits, check_content, too_deep, too_many
from pgode.runtime.reading.text import read_text

# The parser in C is fifty times faster, and part of most installations.
Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
MERGE = "tag:yaml.org,2002:merge"
YAML = Limits(size=2**20, nodes=100_000)
"""Limits of files that people write: a megabyte of settings."""


def read_yaml(
    path: Path | str,
    what: str = "",
    limits: Limits = YAML,
    expected: str = "a YAML file",
    allow_nan: bool = False,
) -> Any:
    """The content of a YAML file; `what` stands before its path in errors ("the config")."""
    text = read_text(path, what, limits.size, expected)
    return parse_yaml(text, f"{what} {path}" if what else str(path), limits, allow_nan)


def parse_yaml(text: str, where: str, limits: Limits = YAML, allow_nan: bool = False) -> Any:
    """The content of a text; `where` is its name in errors."""
    try:
        _check_events(text, where, limits)
        node = yaml.compose(text, Loader=Loader)
        if node is None:
            return None
        _Expansion(where, limits).measure(node)
        content = _constructed(node)
    except InputError:
        raise
    except yaml.YAMLError as error:
        raise _invalid(where, error) from None
    except Exception as error:  # Tags such as !!int make Python's own types fail in many ways.
        raise InputError(
            f"{where} is not valid YAML: {' '.join(str(error).split()) or type(error).__name__}. "
            f"Expected YAML of plain keys and values. Correct it."
        ) from None
    check_content(content, where, limits, allow_nan)
    return content


def _check_events(text: str, where: str, limits: Limits) -> None:
    """Refuse depth and number before anything is built: the builder calls itself per level."""
    depth = nodes = 0
    for event in yaml.parse(text, Loader=Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        nodes += isinstance(event, yaml.NodeEvent)
        if depth > limits.depth:
            raise too_deep(_place(where, event.start_mark), limits)
        if nodes > limits.nodes:
            raise too_many(where, limits)


class _Expansion:
    """What nodes hold once every alias is replaced by what it names."""

    def __init__(self, where: str, limits: Limits) -> None:
        self.where, self.limits = where, limits
        self.known: dict[int, tuple[int, int]] = {}
        self.within: set[int] = set()

    def measure(self, node: yaml.Node) -> tuple[int, int]:
        """Number and depth of the values of a node."""
        if id(node) in self.known:
            return self.known[id(node)]
        if id(node) in self.within:
            raise InputError(
                f"{_place(self.where, node.start_mark)} has a group or list that holds itself, by "
                f"an alias. Expected aliases of what ends before them. Remove the alias."
            )
        self.within.add(id(node))
        count, depth = 1, 0
        for member in self._members(node):
            inner, below = self.measure(member)
            count, depth = count + inner, max(depth, below + 1)
        self.within.remove(id(node))
        if count > self.limits.nodes:
            raise too_many(f"{_place(self.where, node.start_mark)} with aliases,", self.limits)
        if depth > self.limits.depth:
            raise too_deep(f"{_place(self.where, node.start_mark)} with aliases,", self.limits)
        self.known[id(node)] = count, depth
        return count, depth

    def _members(self, node: yaml.Node) -> list[yaml.Node]:
        if isinstance(node, yaml.MappingNode):
            self._check_keys(node)
            return [each for pair in node.value for each in pair]
        return list(node.value) if isinstance(node, yaml.SequenceNode) else []

    def _check_keys(self, node: yaml.MappingNode) -> None:
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag == MERGE:
                continue
            if (key.tag, key.value) in seen:
                raise InputError(
                    f"{_place(self.where, key.start_mark)} has the key {key.value[:80]!r} a second "
                    f"time in one group. Expected each key once. Remove one of them."
                )
            seen.add((key.tag, key.value))


def _constructed(node: yaml.Node) -> Any:
    loader = Loader("")
    try:
        construct: Callable[[yaml.Node], Any] = loader.construct_document
        return construct(node)
    finally:
        loader.dispose()


def _place(where: str, mark: Any) -> str:
    return f"{where}, line {mark.line + 1}, column {mark.column + 1}," if mark else where


def _invalid(where: str, error: yaml.YAMLError) -> InputError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    parts = [getattr(error, name, None) for name in ("context", "problem")]
    reason = ", ".join(str(part) for part in parts if part) or " ".join(str(error).split())
    place = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    return InputError(
        f"{where} is not valid YAML: {reason}{place}. Expected YAML, such as model: {{width: 64}}. "
        f"Correct it."
    )
