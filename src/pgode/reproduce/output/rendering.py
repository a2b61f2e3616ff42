"""A table of an experiment as Markdown, as HTML and for the terminal."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from rich.table import Table

from pgode.reports.base.names import SHORT_SPLITS, short_split_name
from pgode.reports.base.page import Section, render_page
from pgode.reports.terminal import SHARE_LABEL, percent_range
from pgode.reproduce.datasets.registry import DATASETS
from pgode.reproduce.output import totals
from pgode.reproduce.output.baselines import FLOOR, LAW
from pgode.reproduce.output.content import (
    Column,
    Content,
    CostContent,
    TableCell,
    TableContent,
    TableRow,
)

WORSE = "▲"
LEGEND = (
    "MSE x 1e-{digits} in scaled units; ours, then the paper's in brackets. Bold: the lowest of "
    f"ours in a column. {WORSE}: ours is above the paper's. ±: standard deviation over seeds."
)
LAW_LEGEND = (
    " Known law: the simulator itself, started from the last observed frame with its strength "
    "fitted to the observed ones."
)
FLOOR_LEGEND = (
    " Noise floor: the irreducible error, estimated from replicas of one state. "
    f"{SHARE_LABEL.capitalize()}: (last value - ours) / (last value - noise floor), all three on "
    "the systems with replicas only, so not comparable with the rows above; in brackets its 90 % "
    "range over resampled systems."
)
OTHER_DATA = "†"
OTHER_DATA_LEGEND = (
    f" {OTHER_DATA}: trained on another version of the data than most rows, so not comparable with "
    "them; remove its results and train again."
)


class TextTable(NamedTuple):
    """The table of one data set, its cells in Markdown."""

    dataset: str
    header: list[str]
    lines: list[list[str]]


def markdown(content: Content) -> str:
    """The experiment's tables, one per data set, after a note on how to read them."""
    parts = [f"## {content.title} ({content.name})\n", _note(content) + "\n"]
    for dataset, header, lines in text_tables(content):
        parts.append(f"### {dataset}\n")
        parts.append("| " + " | ".join(header) + " |")
        parts.append("|---" + "|---:" * (len(header) - 1) + "|")
        parts += ["| " + " | ".join(line) + " |" for line in lines]
        parts.append("")
    return "\n".join(parts)


def page(content: Content, figures: Sequence[str] = ()) -> str:
    """The same as one HTML file that needs no network; `figures` are SVG texts."""
    sections = [
        Section("reading", "How to read it", f'<p class="lead">{_html(_note(content))}</p>')
    ]
    sections += [
        Section(table.dataset, DATASETS[table.dataset].title, _table(table))
        for table in text_tables(content)
    ]
    drawn = "".join(f'<figure class="drawn">{figure}</figure>' for figure in figures)
    sections.append(Section("figures", "Figures", drawn))
    return render_page(f"{content.title} ({content.name})", "pgode reproduction", sections)


def terminal(content: Content) -> list[Table]:
    """The same for a terminal: one narrow table per data set and split."""
    tables = []
    for dataset, header, lines in text_tables(content):
        for split, columns in _by_split(header):
            part = f", {split}" if split else ""
            table = Table(title=f"{content.title}: {dataset}{part}", title_justify="left")
            table.add_column("")
            for column in columns:
                table.add_column(header[column].removeprefix(f"{split} "), justify="right")
            for line in lines:
                table.add_row(_plain(line[0]), *(_plain(line[column]) for column in columns))
            tables.append(table)
    return tables


def text_tables(content: Content) -> list[TextTable]:
    """The table of each data set."""
    if isinstance(content, CostContent):
        return [_cost_table(content, dataset) for dataset in content.datasets]
    return [_error_table(content, dataset) for dataset in content.datasets]


def _error_table(content: TableContent, dataset: str) -> TextTable:
    rows = content.rows_of(dataset)
    header = ["model"] if content.axis is None else ["model", content.axis]
    header += [_head(content, column) for column in content.columns]
    header += ["s / epoch"] if content.timed else []
    scored = [row.cells for row in rows if row.role != "floor"]
    lowest = [
        None if column[2] == "coverage" else _lowest(cells[n].ours for cells in scored)
        for n, column in enumerate(content.columns)
    ]
    unit = 10**-content.digits
    digits = ".1f" if content.kind == "totals" else ".3g"

    def line(row: TableRow, label: str, cells: list[str], seconds: str) -> list[str]:
        value = [] if content.axis is None else [str(row.axis_value)]
        return [label, *value, *cells, *([seconds] if content.timed else [])]

    lines = []
    for row in rows:
        numbers = [
            _number(cell, low, unit, digits) for cell, low in zip(row.cells, lowest, strict=True)
        ]
        if row.diverged:
            numbers = [number.replace("-", "diverged", 1) for number in numbers]
        seconds = f"{row.seconds_per_epoch:.1f}" if row.seconds_per_epoch else "-"
        label = f"{row.label} {OTHER_DATA}" if row.other_data else row.label
        lines.append(line(row, label, numbers, seconds))
    for row in rows:
        shares = [cell.share for cell in row.cells]
        if any(share is not None for share in shares):
            texts = ["-" if share is None else percent_range(*share) for share in shares]
            lines.append(line(row, f"{SHARE_LABEL}: {row.label}", texts, "-"))
    return TextTable(dataset, header, lines)


def _cost_table(content: CostContent, dataset: str) -> TextTable:
    header = ["model", "parameters", "s / epoch", "ratio to LSTM", "paper: s", "paper: ratio"]
    lines = []
    for row in content.rows_of(dataset):
        numbers = (row.seconds, row.ratio, row.published_seconds, row.published_ratio)
        size = f"{row.parameters:,}" if row.parameters else "-"
        lines.append([row.label, size, *("-" if n is None else f"{n:.3g}" for n in numbers)])
    return TextTable(dataset, header, lines)


def _head(content: TableContent, column: Column) -> str:
    split, horizon, variable = column
    if content.kind == "totals":
        part = "" if len({each[0] for each in content.columns}) == 1 else f"{split} "
        return f"{part}{horizon} {variable.upper() if len(variable) < 5 else variable}"
    return f"{short_split_name(split)} {horizon} {variable}"


def _number(cell: TableCell, lowest: float | None, unit: float, digits: str) -> str:
    ours, spread, published = cell.ours, cell.spread, cell.published
    theirs = "" if published is None else f" ({published / unit:{digits}})"
    if ours is None:
        return f"-{theirs}"
    text = f"{ours / unit:{digits}}" + ("" if spread is None else f" ± {spread / unit:.2g}")
    text = f"**{text}**" if ours == lowest else text
    return text + theirs + (f" {WORSE}" if published is not None and ours > published else "")


def _note(content: Content) -> str:
    if isinstance(content, CostContent):
        return (
            "Seconds of an epoch of 1000 systems (batch 16, horizon 36), all models in turn in one "
            "thread; the paper's were measured on an NVIDIA A40. Force laws are found in the data "
            "without epochs."
        )
    trained = (
        "one model per horizon"
        if content.per_length
        else f"one model trained at {content.trained_horizon}"
    )
    if content.kind == "totals":
        scored = {column[2] for column in content.columns}
        note = totals.LEGEND + (totals.QUANTILES if "wis" in scored else "")
        return f"{note}{_other_data(content)} Budget `{content.budget}`, {trained}."
    names = {row.model for row in content.rows}
    legend = LEGEND.format(digits=content.digits)
    legend += LAW_LEGEND if LAW in names else ""
    legend += FLOOR_LEGEND if FLOOR in names else ""
    return f"{legend}{_other_data(content)} Budget `{content.budget}`, {trained}."


def _other_data(content: TableContent) -> str:
    return OTHER_DATA_LEGEND if any(row.other_data for row in content.rows) else ""


def _lowest(values: Iterable[float | None]) -> float | None:
    return min((value for value in values if value is not None), default=None)


def _by_split(header: list[str]) -> list[tuple[str, list[int]]]:
    """(split, its columns): ID and OOD separately, where there are both, to fit on a terminal."""
    groups = []
    for name in SHORT_SPLITS.values():
        columns = [n for n, text in enumerate(header) if text.startswith(f"{name} ")]
        if columns:
            others = [n for n, text in enumerate(header[1:], 1) if " " not in text]
            groups.append((name, others + columns))
    return groups or [("", list(range(1, len(header))))]


def _plain(text: str) -> str:
    """Text without Markdown markup, with the paper's number below ours."""
    return text.replace("**", "").replace("`", "").replace(" (", "\n(")


def _table(table: TextTable) -> str:
    head = "".join(f"<th>{_html(text)}</th>" for text in table.header)
    rows = "".join(
        f'<tr><th scope="row">{_html(line[0])}</th>{"".join(map(_cell, line[1:]))}</tr>'
        for line in table.lines
    )
    return (
        f'<div class="scroll"><table class="reproduced"><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _cell(text: str) -> str:
    return f'<td class="worse">{_html(text)}</td>' if WORSE in text else f"<td>{_html(text)}</td>"


def _html(text: str) -> str:
    """Markdown's bold and code as HTML; everything else is escaped."""
    for mark, tag in (("**", "b"), ("`", "code")):
        parts = text.split(mark)
        if len(parts) % 2 and len(parts) > 1:
            return "".join(
                f"<{tag}>{_html(part)}</{tag}>" if n % 2 else _html(part)
                for n, part in enumerate(parts)
            )
    return escape(text)
