"""Section "Trajectories": pictures of whole systems, in columns by split."""

from collections.abc import Sequence
from html import escape

from pgode.reports.base.names import split_name
from pgode.reports.base.page import folded
from pgode.reports.run.data import PageContent, ReportData
from pgode.reports.run.pictures import picture, picture_legend, picture_views

FIRST = 2
"""Figures of each split that are shown at once; the others unfold."""


def trajectories_section(content: PageContent) -> str:
    """Pictures of the included systems; empty without any."""
    data, examples = content.data, content.examples
    if not examples:
        return ""
    figures = split_columns([(each.split, picture(data, each)) for each in examples])
    left_out = len(data.examples) - len(examples)
    cut = f"{left_out} more systems are left out to keep this file small." if left_out else ""
    notes = " ".join(note for note in (cut, content.objects_note) if note)
    return (
        '<p class="lead">Whole trajectories, one colour for each object. A dot is the end of the '
        "forecast, a ring that of the truth; dashes are hidden where the forecast covers them. "
        f"{notes}</p>"
        f'<div class="bar">{picture_legend()}{_view_choice(data)}</div>{figures}'
    )


def split_columns(figures: Sequence[tuple[str, str]]) -> str:
    """Figures, given as (split, HTML), with a column for each split; all but the first folded."""
    by_split: dict[str, list[str]] = {}
    for split, figure in figures:
        by_split.setdefault(split, []).append(figure)
    shown = _columns({split: group[:FIRST] for split, group in by_split.items()})
    if all(len(group) <= FIRST for group in by_split.values()):
        return shown
    rest = _columns({split: group[FIRST:] for split, group in by_split.items()})
    return shown + folded("More systems", rest)


def _columns(by_split: dict[str, list[str]]) -> str:
    columns = "".join(
        f"<div><h3>{escape(split_name(split).capitalize())}</h3>{''.join(figures)}</div>"
        for split, figures in by_split.items()
    )
    return f'<div class="columns">{columns}</div>'


def _view_choice(data: ReportData) -> str:
    views = picture_views(data)
    if len(views) < 2:
        return ""
    options = "".join(
        f'<option value="{index}">{escape(view.label)}</option>' for index, view in enumerate(views)
    )
    return f'<label class="field">Show <select id="picture-view">{options}</select></label>'
