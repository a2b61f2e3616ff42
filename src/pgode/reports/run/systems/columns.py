"""The layout of figures: a column for each split, or all of them side by side."""

from collections.abc import Sequence
from html import escape

from pgode.reports.base.names import split_name
from pgode.reports.base.page import folded
from pgode.reports.run.data import PageContent, View

FIRST = 2
"""Figures of each split that are shown at once; the others unfold."""


def split_columns(figures: Sequence[tuple[str, str]], *, wide: bool = False) -> str:
    """Figures, given as (split, HTML), with a column for each split; all but the first folded.

    Those of a single split lie side by side, so that no half of the page is empty; `wide` ones have
    the whole width.
    """
    by_split: dict[str, list[str]] = {}
    for split, figure in figures:
        by_split.setdefault(split, []).append(figure)
    shown = _columns({split: group[:FIRST] for split, group in by_split.items()}, wide)
    if all(len(group) <= FIRST for group in by_split.values()):
        return shown
    rest = _columns({split: group[FIRST:] for split, group in by_split.items()}, wide)
    return shown + folded("More systems", rest)


def shown_notes(content: PageContent) -> str:
    """Which systems and objects are left out, as sentences; empty if none."""
    left_out = len(content.data.examples) - len(content.examples)
    cut = f"{left_out} more systems are left out to keep this file small." if left_out else ""
    return " ".join(note for note in (cut, content.objects_note) if note)


def view_choice(views: Sequence[View]) -> str:
    """A menu of the views of all pictures; empty if there is one only."""
    if len(views) < 2:
        return ""
    options = "".join(
        f'<option value="{index}">{escape(view.label)}</option>' for index, view in enumerate(views)
    )
    return f'<label class="field">Show <select id="picture-view">{options}</select></label>'


def _columns(by_split: dict[str, list[str]], wide: bool) -> str:
    if wide or len(by_split) == 1:
        return "".join(
            f"<h3>{_title(split)}</h3>"
            f'<div class="{"rows" if wide else "columns"}">'
            f"{''.join(f'<div>{figure}</div>' for figure in figures)}</div>"
            for split, figures in by_split.items()
            if figures
        )
    columns = "".join(
        f"<div><h3>{_title(split)}</h3>{''.join(figures)}</div>"
        for split, figures in by_split.items()
    )
    return f'<div class="columns">{columns}</div>'


def _title(split: str) -> str:
    return escape(split_name(split).capitalize())
