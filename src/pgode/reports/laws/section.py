"""Section "Laws": what acts between the objects, which prototypes they are, close encounters."""

from collections.abc import Sequence
from html import escape

import numpy as np

from pgode.evaluation.laws.reading import LawReading, LawsReading
from pgode.evaluation.laws.words import NOTE, other_sentences, sentence
from pgode.models.pgode.laws.trust import GROWTH
from pgode.reports.base.charts import legend
from pgode.reports.base.example import Example, Trust
from pgode.reports.base.names import labelled
from pgode.reports.base.numbers import significant
from pgode.reports.base.tables import facts_html, plain_table
from pgode.reports.laws.picture import LEGEND, law_picture

CAPTION = "Prototypes of the objects, and how close they come to each other in the forecast"


def laws_section(reading: LawsReading | None, examples: Sequence[Example]) -> str:
    """Pictures and sentences of all laws, and what they mean for the systems shown.

    Empty for models without laws.
    """
    if reading is None:
        return ""
    facts = [_fact(text) for text in other_sentences(reading)]
    return (
        f"{_pictures(reading)}<h3>Drag, walls and steps</h3>{facts_html(facts)}"
        f"{encounter_table(reading, examples)}"
    )


def _pictures(reading: LawsReading) -> str:
    if not reading.laws:
        return '<p class="lead">The model has found no forces in the training data.</p>'
    figures = "".join(_figure(law, reading) for law in reading.laws)
    return (
        f'<p class="lead">The forces that the model has found in the training data. {NOTE}</p>'
        f'{legend(LEGEND)}<div class="columns">{figures}</div>'
    )


def encounter_table(reading: LawsReading, examples: Sequence[Example]) -> str:
    """A row for each system shown; empty if no forecast says how close its objects came."""
    used = range(len(reading.shares))
    rows = []
    for each in examples:
        if each.encounters is None:
            continue
        met = each.encounters
        cells = [significant(met.strength), significant(met.nearest), str(met.substeps)]
        cells.append(_trusted(met.trust))
        rows.append((each.name, [*_counts(each, used), *cells]))
    if not rows:
        return ""
    titles = (
        *("system", *(f"of prototype {k}" for k in used), "strength"),
        *(labelled("closest distance", reading.length_units), "steps per frame"),
        labelled("trusted until", reading.time_units),
    )
    note = (
        '<p class="note">Counts are of the objects that are mostly of a prototype; their weights '
        'are under <a href="#prototypes">Prototypes</a>. The strength of a system is relative to '
        "the laws above. Steps are the most that any frame of the forecast took. "
        "Trust ends, at a time counted from the last observed frame, where an error of the start "
        f"has grown {GROWTH:g}-fold; the two objects are those that meet there. "
        f"{_extrapolated(reading, examples)}</p>"
    )
    return plain_table(CAPTION, titles, rows) + note


def _trusted(trust: Trust | None) -> str:
    """The time, and who ends it."""
    if trust is None:
        return "–"
    if not trust.pair:
        return "the end"
    return f"{significant(trust.until)} (objects {' and '.join(map(str, trust.pair))})"


def _extrapolated(reading: LawsReading, examples: Sequence[Example]) -> str:
    """How many systems come closer than any law was seen; closest approaches are between frames."""
    if not reading.laws:
        return ""
    nearest = min(law.nearest for law in reading.laws)
    met = [each.encounters.nearest for each in examples if each.encounters is not None]
    closer = sum(distance < nearest for distance in met)
    return (
        f"{closer} of {len(met)} systems come closer than {significant(nearest)}, the nearest that "
        f"the frames of the training data show; there the laws are extrapolated."
    )


def _figure(law: LawReading, reading: LawsReading) -> str:
    text = sentence(law, reading.length_units)
    return (
        f"<div><figure>{law_picture(law, reading.length_units, reading.force_units)}"
        f"<figcaption>{escape(text[:1].upper() + text[1:])}.</figcaption></figure></div>"
    )


def _fact(text: str) -> tuple[str, str]:
    """A sentence as label and value."""
    label, _, value = text.partition(": ")
    return label, value


def _counts(example: Example, used: range) -> list[str]:
    """Objects that are mostly of each prototype."""
    if example.gate is None:
        return ["–" for _ in used]
    chosen = np.bincount(example.gate.argmax(1), minlength=len(used))
    return [str(chosen[k]) for k in used]
