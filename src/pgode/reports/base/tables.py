"""Tables and lists of facts as HTML. All text in them is escaped, except cells given as HTML."""

import re
from collections.abc import Sequence
from html import escape


def table_html(caption: str, head: str, bodies: Sequence[str]) -> str:
    """A table from its head and bodies as HTML."""
    # A wide table scrolls in its own box; the box takes the focus, so that arrow keys can move it.
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f"<table><caption>{escape(caption)}</caption><thead>{head}</thead>{''.join(bodies)}</table>"
        "</div>"
    )


def plain_table(
    caption: str, titles: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]
) -> str:
    """A table of text: one title per column, and rows of a name and its cells."""
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in titles)
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th>'
        f"{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        for name, cells in rows
    )
    return table_html(caption, f"<tr>{head}</tr>", [f'<tbody class="plain">{body}</tbody>'])


def row_group(title: str, rows: Sequence[tuple[str, str, Sequence[str]]]) -> str:
    """A table body under a line with its title; a row is (class or "", name, cells as HTML)."""
    width = 1 + max(len(cells) for _, _, cells in rows)
    lines = [
        f'<tr{_class(kind)}><th scope="row">{escape(name)}</th>{"".join(cells)}</tr>'
        for kind, name, cells in rows
    ]
    first = f'<tr><th scope="rowgroup" colspan="{width}">{escape(title)}</th></tr>'
    return f"<tbody>{first}{''.join(lines)}</tbody>"


def column_groups(first: str, groups: Sequence[str], names: Sequence[str]) -> str:
    """A table head of two lines: groups, each with the same columns below it.

    `first` is the head of the column of row names, as HTML.
    """
    top = "".join(
        f'<th scope="colgroup" colspan="{len(names)}">{escape(group)}</th>' for group in groups
    )
    below = "".join(f'<th scope="col">{escape(name)}</th>' for _ in groups for name in names)
    return f"<tr>{first}{top}</tr><tr>{below}</tr>"


def facts_html(rows: Sequence[tuple[str, str]], *, whole: bool = False) -> str:
    """Labels and values in a list; long hashes are cut, with the rest on hover, unless `whole`."""
    items = "".join(
        f"<div><dt>{escape(label)}</dt>{_value(value, whole)}</div>" for label, value in rows
    )
    return f'<dl class="facts">{items}</dl>' if items else ""


def _value(value: str, whole: bool) -> str:
    if not re.fullmatch("[0-9a-f]{32,}", value):
        return f"<dd>{escape(value)}</dd>"
    if whole:
        return f"<dd><code>{value}</code></dd>"
    return f'<dd data-tip="{value}"><code>{value[:12]}…</code></dd>'


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""
