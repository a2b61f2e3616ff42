"""A checkup as lines of text: never cut, so that they keep their digits in a pipe."""

from collections.abc import Iterator, Sequence

import numpy as np

from pgode.data.checkup.checkup import Checkup
from pgode.data.checkup.finding import SEVERITIES, Finding, counted, number
from pgode.data.checkup.naive import NaiveErrors

MOST_VARIABLES, MOST_TO_BEAT = 10, 4
"""Variables of which errors are shown, and which the sentence below them names."""

Line = tuple[str, str]
"""A line and its style: "", "bold" or a severity."""


def lines(checkup: Checkup) -> Iterator[Line]:
    """What is in the file, what was found, how far naive models get, and what to do next."""
    yield checkup.name, "bold"
    width = max(len(label) for label in checkup.contents)
    for label, text in checkup.contents.items():
        yield f"  {label:<{width}}  {text}", ""
    yield "", ""
    yield from ((f"  {row}", "") for row in _aligned(_feature_table(checkup)))
    yield "", ""
    yield _verdict(checkup.findings), "bold"
    for finding in checkup.findings:
        yield from _finding(finding)
    if checkup.naive is not None:
        yield "", ""
        naive = checkup.naive
        yield (
            f"How far naive forecasts get: root mean squared error on "
            f"{counted(naive.windows, 'window')} of {naive.split}",
            "bold",
        )
        yield from ((f"  {row}", "") for row in _aligned(_naive_table(naive)))
        if len(naive.variables) > MOST_VARIABLES:
            yield f"  and {len(naive.variables) - MOST_VARIABLES} more variables (--json)", ""
        beat = "; ".join(naive.to_beat()[:MOST_TO_BEAT])
        yield f"  Over {naive.horizons[-1]} frames a forecast must beat {beat}.", ""
    yield "", ""
    yield "Suggested", "bold"
    for command in checkup.commands:
        yield f"  {command}", ""


def _verdict(findings: Sequence[Finding]) -> str:
    if not findings:
        return "Nothing odd was found."
    counts = {each: sum(f.severity == each for f in findings) for each in SEVERITIES}
    return "Found " + ", ".join(counted(n, each) for each, n in counts.items() if n)


def _finding(finding: Finding) -> Iterator[Line]:
    yield f"  {finding.severity}: {finding.text}", finding.severity
    if str(finding.place):
        yield f"    where: {finding.place}", ""
    if finding.fix:
        yield f"    do: {finding.fix}", ""


def _feature_table(checkup: Checkup) -> list[list[str]]:
    rows = [["feature", "role", "variable", "units", "min", "median", "max", "missing"]]
    for each in checkup.features:
        numbers = [
            "-" if each[key] is None else number(each[key]) for key in ("min", "median", "max")
        ]
        missing = f"{100 * each['missing']:.1f} %" if each["missing"] > 0 else "-"
        words = [each["name"], each["role"], each["variable"], each["units"] or "-"]
        rows.append([*words, *numbers, missing])
    return rows


def _naive_table(naive: NaiveErrors) -> list[list[str]]:
    """A row for each variable and model; the lowest error of a column has a star."""
    rows = [["variable", "forecast", *(f"{h} frames" for h in naive.horizons), "units"]]
    for v, variable in enumerate(naive.variables[:MOST_VARIABLES]):
        for model, errors in naive.errors.items():
            still = naive.errors["last value"][:, v]
            if model != "last value" and np.array_equal(errors[:, v], still, equal_nan=True):
                continue  # Constant velocity of what is no position.
            best = [naive.best(v, h) == model for h in range(len(naive.horizons))]
            cells = [
                (number(value) if np.isfinite(value) else "-") + ("*" if star else " ")
                for value, star in zip(errors[:, v], best, strict=True)
            ]
            rows.append([variable, model, *cells, naive.units[v] or "-"])
    return rows


def _aligned(rows: list[list[str]]) -> Iterator[str]:
    """Columns as wide as their longest cell; the first is flush left, numbers are flush right."""
    if not rows:
        return
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    numeric = [k > 0 and all(_is_number(row[k]) for row in rows[1:]) for k in range(len(rows[0]))]
    for row in rows:
        cells = (
            f"{cell:>{width}}" if right else f"{cell:<{width}}"
            for cell, width, right in zip(row, widths, numeric, strict=True)
        )
        yield "  ".join(cells).rstrip()


def _is_number(cell: str) -> bool:
    return cell[:1].isdigit() or cell[:1] == "-" or cell in ("inf", "nan")
