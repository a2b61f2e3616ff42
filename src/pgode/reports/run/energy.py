"""Section "Energy": how well forecasts of a conservative system conserve its energy."""

from pgode.reports.base.names import split_name
from pgode.reports.base.numbers import finite, significant
from pgode.reports.base.tables import plain_table
from pgode.reports.run.data import PageContent

CAPTION = "Energy drift |E(t) − E(0)| / |E(0)| since the last observed frame"


def energy_section(content: PageContent) -> str:
    """Relative drift of the energy along the forecast and along the truth."""
    columns = ("forecast", "truth")
    rows = [
        (split_name(split), [significant(finite(drift.get(column))) for column in columns])
        for split, drift in (content.evaluation.energy_drift or {}).items()
    ]
    return plain_table(CAPTION, ("split", *columns), rows) if rows else ""
