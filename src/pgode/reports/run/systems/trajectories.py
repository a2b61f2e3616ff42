"""Section "Trajectories": pictures of whole systems, or of their objects one by one."""

from pgode.reports.run.data import PageContent
from pgode.reports.run.systems.columns import shown_notes, split_columns, view_choice
from pgode.reports.run.systems.panels import in_panels, panels_section
from pgode.reports.run.systems.pictures import picture, picture_legend, picture_views


def trajectories_section(content: PageContent) -> str:
    """Pictures of the included systems; empty without any."""
    data, examples = content.data, content.examples
    if not examples:
        return ""
    if in_panels(data, examples):
        return panels_section(content)
    figures = split_columns([(each.split, picture(data, each)) for each in examples])
    notes = shown_notes(content)
    return (
        '<p class="lead">Whole trajectories, one colour for each object. A dot is the end of the '
        "forecast, a ring that of the truth; dashes are hidden where the forecast covers them. "
        f"{notes}</p>"
        f'<div class="bar">{picture_legend()}{view_choice(picture_views(data))}</div>{figures}'
    )
