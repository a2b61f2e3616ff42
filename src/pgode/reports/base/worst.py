"""The systems and objects with the largest errors, in words and as tables."""

from html import escape

from pgode.evaluation.evaluation import Evaluation
from pgode.evaluation.worst import WorstEntry
from pgode.reports.base.names import model_name, split_name
from pgode.reports.base.numbers import MISSING, significant, times
from pgode.reports.base.page import folded
from pgode.reports.base.tables import row_group, table_html


def worst_text(entry: WorstEntry) -> str:
    """A name with its error and the ratio to the best naive model: "Jo 0.12 (1.9 ×)"."""
    ratio = "" if entry.ratio is None else f" ({times(entry.ratio)})"
    return f"{entry.name} {significant(entry.error)}{ratio}"


def worst_html(evaluation: Evaluation) -> str:
    """Tables of the worst systems and objects of each split, folded; empty where there are none."""
    bodies = []
    for split, found in evaluation.worst.items():
        rows = [
            ("", entry.name, [f"<td>{significant(entry.error)}</td><td>{_cell(entry)}</td>"])
            for entry in (*found.systems, *found.objects)
        ]
        if rows:
            bodies.append(row_group(split_name(split).capitalize(), rows))
    if not bodies:
        return ""
    head = (
        '<tr><td></td><th scope="col">error</th>'
        '<th scope="col">ratio to the best naive model</th></tr>'
    )
    caption = "Systems and objects with the largest mean squared error over all features"
    return folded("Worst systems and objects", table_html(caption, head, bodies))


def _cell(entry: WorstEntry) -> str:
    if entry.ratio is None:
        return MISSING
    return escape(f"{times(entry.ratio)} {model_name(entry.naive)}")
