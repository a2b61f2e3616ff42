"""The interface between a page and the kind of its systems: plain objects, or a molecule."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from string import Template
from typing import Any, Protocol

from pgode.reports.base.example import Example
from pgode.reports.base.page import Section, asset


@dataclass(frozen=True)
class Player:
    """Animations of the systems: controls as HTML, scripts, and the data that these read.

    One of the scripts defines `startPlayer(data)`; `data["systems"]` has an entry for each system.
    """

    html: str
    scripts: Sequence[str]
    data: dict[str, Any]


class Presentation(Protocol):
    """How a page shows its systems. A page depends on their kind through this only."""

    @property
    def objects_note(self) -> str:
        """Which objects are drawn where not all of them are, as a sentence."""
        ...

    def included(self, examples: Sequence[Example]) -> list[Example]:
        """The systems that fit on a page, with the objects that the player needs."""
        ...

    def pictured(self, example: Example) -> Example:
        """A system with the objects that flat pictures show."""
        ...

    def sections(self) -> list[Section]:
        """Sections for this kind of systems only."""
        ...

    def player(self, examples: Sequence[Example]) -> Player:
        """The player of at least one included system."""
        ...


def player_html(template: str, examples: Sequence[Example], explanation: str) -> str:
    """The controls of a player, with a menu of the systems."""
    options = "".join(
        f'<option value="{index}">{escape(example.title)}</option>'
        for index, example in enumerate(examples)
    )
    return Template(asset(template)).substitute(systems=options, explanation=escape(explanation))
