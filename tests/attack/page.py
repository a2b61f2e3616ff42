"""The result of an attack as a table, for the terminal and for the documentation."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.table import Table
from tests.attack.outcome import FAILURES, Outcome

BEGIN, END = "<!-- attack: begin -->", "<!-- attack: end -->"
HEADER = ("campaign", "class", "tried", "clean", "failed", "skipped", "slowest refusal", "largest")


def rows(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, ...]]:
    """A row for every class of every campaign, and the total."""
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for each in outcomes:
        groups.setdefault((each.campaign, each.group), []).append(each)
    for (campaign, group), members in groups.items():
        yield (campaign, group, *_counts(members))
    yield ("all", "", *_counts(outcomes))


def _counts(members: Sequence[Outcome]) -> tuple[str, ...]:
    tried = sum(each.tries for each in members if not each.skipped)
    failed = sum(bool(each.failure) for each in members)
    refused = [each for each in members if each.refused]
    return (
        f"{tried:,}",
        f"{tried - failed:,}",
        str(failed),
        str(sum(bool(each.skipped) for each in members)),
        f"{max(each.seconds for each in refused):.1f} s" if refused else "",
        f"{max(each.megabytes for each in refused):.0f} MB" if refused else "",
    )


def failures(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """How many tries failed in each way, also in those that none did."""
    counted = Counter(each.failure for each in outcomes if each.failure)
    return {name: counted[name] for name in FAILURES}


def terminal_table(outcomes: Sequence[Outcome]) -> Table:
    """The table for a terminal."""
    table = Table(*HEADER)
    for row in rows(outcomes):
        table.add_row(*row)
    table.caption = ", ".join(f"{count} {name}" for name, count in failures(outcomes).items())
    return table


def text(outcomes: Sequence[Outcome]) -> str:
    """The tables as Markdown."""
    lines = [f"| {' | '.join(HEADER)} |", f"|{'---|' * len(HEADER)}"]
    lines += [f"| {' | '.join(row)} |" for row in rows(outcomes)]
    lines += ["", "| failure | meaning | found |", "|---|---|---|"]
    lines += [
        f"| {name} | {FAILURES[name]} | {count} |" for name, count in failures(outcomes).items()
    ]
    reasons = sorted({f"{each.group}: {each.skipped}" for each in outcomes if each.skipped})
    if reasons:
        lines += ["", "Skipped here:", "", *(f"- {reason}" for reason in reasons)]
    return "\n".join(lines)


def write(path: Path, outcomes: Sequence[Outcome]) -> None:
    """Put the result between the marks of a page."""
    before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise ValueError(f"{path} has no place for the result: {BEGIN} and {END}")
    path.write_text(f"{before}{BEGIN}\n\n{text(outcomes)}\n\n{END}{after}", encoding="utf-8")
