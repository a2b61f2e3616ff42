"""The files that a search leaves in its folder, besides its trials and the best run."""

from pgode.runtime.files import write_json, write_text
from pgode.tuning.output.page import render_tuning
from pgode.tuning.output.picture import write_pictures
from pgode.tuning.result import Tuning

PAGE, NUMBERS, PICTURE = "report.html", "results.json", "tuning"


def write_outputs(tuning: Tuning) -> None:
    """Write the page, the numbers, and the picture as PNG and SVG."""
    write_json(tuning.folder / NUMBERS, tuning.to_json())
    write_text(tuning.folder / PAGE, render_tuning(tuning))
    write_pictures(tuning, tuning.folder / PICTURE)
