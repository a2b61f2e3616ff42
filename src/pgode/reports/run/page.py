"""The page about one run: its sections in order, in one file that needs no network.

A new section is a function of the page's content, in a file for its topic, and a line below.
"""

from collections.abc import Callable
from pathlib import Path

from pgode.reports.base.page import NO_DATA, Section, asset, page_json, render_page
from pgode.reports.base.presentation import Presentation
from pgode.reports.laws.section import laws_section
from pgode.reports.molecule.presentation import MoleculePresentation
from pgode.reports.run.data import PageContent, ReportData
from pgode.reports.run.energy import energy_section
from pgode.reports.run.error_curves import error_section
from pgode.reports.run.prototypes import prototypes_section
from pgode.reports.run.provenance import provenance_section
from pgode.reports.run.summary import summary_section
from pgode.reports.run.systems.player import ObjectPresentation
from pgode.reports.run.systems.trajectories import trajectories_section
from pgode.reports.run.training import training_section
from pgode.reports.run.uncertainty import uncertainty_section
from pgode.runtime.files import write_text
from pgode.runtime.outputs import claim_output

Build = Callable[[PageContent], str]

ERRORS: tuple[tuple[str, str, Build], ...] = (
    ("laws", "Laws", lambda content: laws_section(content.data.laws, content.examples)),
    ("summary", "Summary", summary_section),
    ("error", "Error against horizon", error_section),
)
"""Sections before those of the presentation, as (key, title, function)."""

DETAILS: tuple[tuple[str, str, Build], ...] = (
    ("uncertainty", "Uncertainty", uncertainty_section),
    ("energy", "Energy", energy_section),
    ("trajectories", "Trajectories", trajectories_section),
    ("player", "Player", lambda content: content.player.html if content.player else ""),
    ("prototypes", "Prototypes", prototypes_section),
    ("training", "Training", training_section),
    ("provenance", "Provenance", provenance_section),
)
"""Sections after those of the presentation."""


def write_report(
    data: ReportData, path: Path, *, overwrite: bool = False, own: bool = False
) -> None:
    """Write the report of one training run to `path`, in one step.

    An existing file is replaced only with `overwrite`, or if it is the run's `own` page.
    """
    claim_output(path, overwrite=overwrite, own=own)
    write_text(Path(path), render(data))


def render(data: ReportData) -> str:
    """The report as the text of one HTML file."""
    content = page_content(data)
    player = content.player
    sections = [
        *(Section(key, title, build(content)) for key, title, build in ERRORS),
        *content.presentation.sections(),
        *(Section(key, title, build(content)) for key, title, build in DETAILS),
    ]
    return render_page(
        data.title,
        "pgode training report",
        sections,
        scripts=[*(player.scripts if player else ()), asset("report.js")],
        data=page_json(player.data) if player else NO_DATA,
    )


def page_content(data: ReportData) -> PageContent:
    """The content that the sections of a report share."""
    presentation = _presentation(data)
    systems = presentation.included(data.examples)
    return PageContent(
        data,
        presentation,
        [presentation.pictured(each) for each in systems],
        presentation.player(systems) if systems else None,
    )


def _presentation(data: ReportData) -> Presentation:
    """The only place that depends on whether the objects are atoms."""
    if data.molecule is None:
        return ObjectPresentation(data)
    return MoleculePresentation(data.molecule, data.time_units)
