"""A table of an experiment as Markdown, as HTML and for the terminal."""

from collections.abc import Sequence
from html import escape
from typing import Any

from rich.table import Table

from pgode.reports.terminal import SHARE_LABEL, percent_range
from pgode.reproduce.tables.catalogue import FLOOR

WORSE = "▲"
NAMES = {"test": "ID", "ood": "OOD"}
LEGEND = (
    "MSE x 1e-{digits} in scaled units; ours, then the paper's in brackets. Bold: the lowest of "
    f"ours in a column. {WORSE}: ours is above the paper's. ±: standard deviation over seeds."
)
FLOOR_LEGEND = (
    " Noise floor: the error that no forecast can avoid, from futures that begin in one state. "
    f"{SHARE_LABEL.capitalize()}: (last value - ours) / (last value - noise floor), all three on "
    "the systems with such futures alone, so not comparable with the rows above; its 90 % range, "
    "over draws of these systems, in brackets."
)

Text = list[list[str]]


def markdown(content: dict[str, Any]) -> str:
    """The experiment's tables, one per data set, with a line that says how to read them."""
    parts = [f"## {content['title']} ({content['name']})\n", _note(content) + "\n"]
    for dataset, header, lines in tables(content):
        parts.append(f"### {dataset}\n")
        parts.append("| " + " | ".join(header) + " |")
        parts.append("|---" + "|---:" * (len(header) - 1) + "|")
        parts += ["| " + " | ".join(line) + " |" for line in lines]
        parts.append("")
    return "\n".join(parts)


def page(content: dict[str, Any], figures: Sequence[str] = ()) -> str:
    """The same as one HTML file that needs no network; `figures` are SVG texts."""
    body = [f"<h1>{escape(content['title'])} ({content['name']})</h1>"]
    body.append(f"<p>{_marked(_note(content))}</p>")
    for dataset, header, lines in tables(content):
        head = "".join(f"<th>{_marked(word)}</th>" for word in header)
        rows = "".join(
            f'<tr><th scope="row">{_marked(line[0])}</th>'
            + "".join(f'<td class="{_kind(word)}">{_marked(word)}</td>' for word in line[1:])
            + "</tr>"
            for line in lines
        )
        body.append(
            f'<h2>{escape(dataset)}</h2><div class="wide"><table><thead><tr>{head}</tr></thead>'
            f"<tbody>{rows}</tbody></table></div>"
        )
    body += [f"<figure>{figure}</figure>" for figure in figures]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; img-src data:\">"
        f"<title>{escape(content['name'])}</title><style>{STYLE}</style></head>"
        f"<body>{''.join(body)}</body></html>\n"
    )


def terminal(content: dict[str, Any]) -> list[Table]:
    """The same for a terminal: one narrow table per data set and split."""
    made = []
    for dataset, header, lines in tables(content):
        groups = _by_split(header)
        for words, columns in groups:
            table = Table(title=f"{content['title']}: {dataset}{words}", title_justify="left")
            table.add_column("")
            for column in columns:
                table.add_column(header[column].removeprefix(f"{words[2:]} "), justify="right")
            for line in lines:
                table.add_row(_plain(line[0]), *(_plain(line[column]) for column in columns))
            made.append(table)
    return made


def tables(content: dict[str, Any]) -> list[tuple[str, list[str], Text]]:
    """(data set, header, lines) of each table, in Markdown."""
    datasets = list(dict.fromkeys(row["dataset"] for row in content["rows"]))
    build = _cost_lines if content["kind"] == "cost" else _error_lines
    return [(dataset, *build(content, dataset)) for dataset in datasets]


def _error_lines(content: dict[str, Any], dataset: str) -> tuple[list[str], Text]:
    rows = [row for row in content["rows"] if row["dataset"] == dataset]
    cells = content["cells"]
    heads = [
        f"{NAMES.get(split, split)} {horizon} {variable}" for split, horizon, variable in cells
    ]
    axis = content["axis"]
    first = ["model"] if axis is None else ["model", axis.removeprefix("model.")]
    timed = axis == "model.prototypes"
    reached = [row["cells"] for row in rows if row["model"] not in FLOOR]
    lowest = [_lowest(line[number]["ours"] for line in reached) for number in range(len(cells))]
    unit = 10 ** -content["digits"]
    lines = []

    def place(row: dict[str, Any]) -> list[str]:
        return [] if axis is None else [str(row["place"])]

    for row in rows:
        line = [row["label"], *place(row)]
        line += [_number(cell, low, unit) for cell, low in zip(row["cells"], lowest, strict=True)]
        seconds = row.get("seconds_per_epoch")
        line += ([f"{seconds:.1f}" if seconds else "-"]) if timed else []
        lines.append(line)
    lines += [
        [
            f"{SHARE_LABEL}: {row['label']}",
            *place(row),
            *(percent_range(*cell["gained"]) for cell in row["cells"]),
            *(["-"] if timed else []),
        ]
        for row in rows
        if any("gained" in cell for cell in row["cells"])
    ]
    return [*first, *heads, *(["s / epoch"] if timed else [])], lines


def _cost_lines(content: dict[str, Any], dataset: str) -> tuple[list[str], Text]:
    header = ["model", "parameters", "s / epoch", "ratio to LSTM", "paper: s", "paper: ratio"]
    lines = [
        [
            row["label"],
            f"{row['parameters']:,}" if row["parameters"] else "-",
            *(
                "-" if row[key] is None else f"{row[key]:.3g}"
                for key in ("seconds", "ratio", "published_seconds", "published_ratio")
            ),
        ]
        for row in content["rows"]
        if row["dataset"] == dataset
    ]
    return header, lines


def _number(cell: dict[str, Any], lowest: float | None, unit: float) -> str:
    ours, spread, published = cell["ours"], cell["spread"], cell["published"]
    theirs = "" if published is None else f" ({published / unit:.3g})"
    if ours is None:
        return f"-{theirs}"
    text = f"{ours / unit:.3g}" + ("" if spread is None else f" ± {spread / unit:.2g}")
    text = f"**{text}**" if ours == lowest else text
    return text + theirs + (f" {WORSE}" if published is not None and ours > published else "")


def _note(content: dict[str, Any]) -> str:
    if content["kind"] == "cost":
        return (
            "Seconds that an epoch of 1000 systems takes (batch 16, horizon 36), all models in "
            "turn in one process; the paper's were measured on an NVIDIA A40."
        )
    longest = content["trained_horizon"]
    trained = (
        "one model per horizon" if content["per_length"] else f"one model trained at {longest}"
    )
    floor = FLOOR_LEGEND if any(row["model"] in FLOOR for row in content["rows"]) else ""
    legend = LEGEND.format(digits=content["digits"]) + floor
    return f"{legend} Budget `{content['budget']}`, {trained}."


def _lowest(values: Any) -> float | None:
    return min((value for value in values if value is not None), default=None)


def _by_split(header: list[str]) -> list[tuple[str, list[int]]]:
    """Columns that fit on a terminal: ID and OOD apart, where there are both."""
    found = []
    for name in NAMES.values():
        columns = [n for n, word in enumerate(header) if word.startswith(f"{name} ")]
        if columns:
            others = [n for n, word in enumerate(header[1:], 1) if " " not in word]
            found.append((f", {name}", others + columns))
    return found or [("", list(range(1, len(header))))]


def _plain(text: str) -> str:
    """Without Markdown's marks, and the paper's number below ours."""
    return text.replace("**", "").replace("`", "").replace(" (", "\n(")


def _marked(text: str) -> str:
    """Markdown's bold and code as HTML; everything else is escaped."""
    for mark, tag in (("**", "b"), ("`", "code")):
        parts = text.split(mark)
        if len(parts) % 2 and len(parts) > 1:
            return "".join(
                f"<{tag}>{_marked(part)}</{tag}>" if n % 2 else _marked(part)
                for n, part in enumerate(parts)
            )
    return escape(text)


def _kind(text: str) -> str:
    return "worse" if WORSE in text else ""


STYLE = """
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .6rem;text-align:right;white-space:nowrap;border-bottom:1px solid #8884}
th:first-child{text-align:left}
td.worse{background:#c6450018}
figure{margin:1.5rem 0}
figure svg{max-width:100%;height:auto;background:#fff}
""".strip()
