"""The table of `pgode laws` in the terminal."""

from rich import box
from rich.table import Table

from pgode.evaluation.laws import words
from pgode.evaluation.laws.reading import LawsReading
from pgode.reports.base.names import labelled

CAPTION = "deviation: of the form from the law, the largest where the form holds"
SOFTENED = "s^2 = r^2 + e^2"


def laws_table(reading: LawsReading) -> Table:
    """A row for each law."""
    fits = [law.fit if law.fit is not None and law.fit.fits else None for law in reading.laws]
    forms = ["none" if fit is None else words.short_formula(fit) for fit in fits]
    table = Table(
        title="Force laws",
        title_justify="left",
        caption=f"{CAPTION}\n{SOFTENED}" if any(SOFTENED in each for each in forms) else CAPTION,
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    heads = ("on", "from", "kind", "closed form", "deviation")
    for head in (*heads, labelled("seen", reading.length_units)):
        table.add_column(head, overflow="fold")
    for law, fit, form in zip(reading.laws, fits, forms, strict=True):
        table.add_row(
            str(law.receiver),
            str(law.sender),
            words.kind(law),
            form.replace(f", {SOFTENED}", ""),
            "-" if fit is None else words.percent(fit.deviation),
            words.span(law.nearest, law.farthest),
        )
    return table
