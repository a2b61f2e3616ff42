"""The tables that `pgode tune` prints."""

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from pgode.training.config import RunConfig
from pgode.tuning.output.sentences import cells, columns, importance_note
from pgode.tuning.result import Tuning
from pgode.tuning.space.domains import Space, shown
from pgode.tuning.space.settings import description_of, value_of

BEST = 5
"""Trials in the table."""


def best_table(tuning: Tuning) -> Table:
    """The best trials with their settings; the preset's own too."""
    shown_trials = tuning.ranked[:BEST]
    preset = tuning.preset
    if preset is not None and preset.complete and preset not in shown_trials:
        shown_trials.append(preset)
    table = _table(f"Best of {len(tuning.trials)} trials", columns(tuning))
    for trial in shown_trials:
        first, *others = cells(trial, tuning)
        name = f"{first} (preset)" if trial is preset else first
        table.add_row(name, *others, style="bold" if trial is tuning.best else "")
    return table


def importance_table(tuning: Tuning) -> Table | None:
    """Shares of the settings as bars; None if they are not known."""
    if not tuning.importance:
        return None
    table = _table("What mattered", ["setting", "share", ""])
    table.caption = Text(importance_note(tuning), no_wrap=True, overflow="ignore")
    table.caption_justify = "left"
    for name, share in tuning.importance.items():
        table.add_row(name, f"{100 * share:.0f} %", Text("█" * round(24 * share), style="blue"))
    return table


def space_table(title: str, config: RunConfig, space: Space) -> Table:
    """The settings that a search varies, and the values it starts from."""
    table = _table(title, ["setting", "values", "preset", "what it is"])
    for name, domain in space.items():
        own = value_of(config, name)
        table.add_row(name, domain.text, shown(own), description_of(config, name))
    return table


def _table(title: str, heads: Sequence[str]) -> Table:
    table = Table(
        title=Text(title, no_wrap=True, overflow="ignore"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for k, head in enumerate(heads):
        table.add_column(head, no_wrap=k == 0, overflow="fold")
    return table
