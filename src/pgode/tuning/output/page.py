"""The page of `pgode tune`: the best trial, how the search went, and what mattered."""

import json
from html import escape

from pgode.reports.base.charts import legend
from pgode.reports.base.page import Section, folded, render_page
from pgode.reports.base.tables import facts_html, plain_table
from pgode.reports.base.verdicts import Verdict, verdict_list
from pgode.tuning.output.charts import (
    curve_chart,
    error_chart,
    parallel_chart,
    setting_charts,
    share_chart,
)
from pgode.tuning.output.sentences import cells, columns, counted, importance_note, verdict
from pgode.tuning.result import Tuning
from pgode.tuning.space.domains import shown


def render_tuning(tuning: Tuning) -> str:
    """The page as the text of one HTML file."""
    config = tuning.record.config
    numbers = escape(json.dumps(tuning.to_json(), ensure_ascii=False))
    return render_page(
        f"{config.name}, {len(tuning.trials)} trials",
        "pgode tune",
        [
            Section("summary", "Summary", _summary(tuning)),
            Section("search", "Search", _search(tuning)),
            Section("mattered", "What mattered", _mattered(tuning)),
            Section("settings", "Settings", _settings(tuning)),
            Section("trials", "Trials", _trials(tuning)),
            Section("numbers", "All numbers", folded("As JSON", f"<pre>{numbers}</pre>")),
        ],
    )


def _summary(tuning: Tuning) -> str:
    record, best = tuning.record, tuning.best
    better = tuning.preset is None or best.error <= tuning.preset.error
    facts = [
        ("model", f"{record.config.name} (preset {record.config.preset})"),
        ("data", record.source),
        ("data hash", record.data_hash),
        ("trials", counted(tuning)),
        ("epochs of a trial", str(record.epochs)),
        ("seed", str(record.seed)),
    ]
    rows = [
        (name, [shown(best.plan.values[name]), domain.text])
        for name, domain in record.space.items()
    ]
    table = plain_table("Settings of the best trial", ["setting", "best", "searched"], rows)
    return f"{verdict_list([Verdict(better, verdict(tuning))])}{facts_html(facts)}{table}"


def _search(tuning: Tuning) -> str:
    return (
        '<p class="lead">Each point is the lowest validation error of a trial; the line is the '
        "best so far. Beside it, the error after each epoch: a trial above the median of complete "
        "ones is pruned. Point at a trial to read its settings.</p>"
        f"{legend([('best', 'trial best'), ('complete', 'trial'), ('pruned', 'trial pruned')])}"
        f'<div class="grid">{error_chart(tuning)}{curve_chart(tuning)}</div>'
    )


def _mattered(tuning: Tuning) -> str:
    panels = f'<div class="panels">{"".join(setting_charts(tuning))}</div>'
    lead = '<p class="lead">The lowest validation error of each trial against each setting.</p>'
    if not tuning.importance:
        note = '<p class="note">Too few trials to say which settings mattered.</p>'
        return f"{note}{lead}{panels}"
    note = f'<p class="lead">{escape(importance_note(tuning))}</p>'
    return f'{note}<div class="grid">{share_chart(tuning)}</div>{lead}{panels}'


def _settings(tuning: Tuning) -> str:
    return (
        '<p class="lead">Each line is a trial, from its settings on the left to its error on the '
        "right, where the lowest is at the top.</p>"
        f'<div class="scroll" tabindex="0" role="region" aria-label="Parallel view">'
        f"{parallel_chart(tuning)}</div>"
    )


def _trials(tuning: Tuning) -> str:
    ended = [trial for trial in tuning.trials if not trial.complete]
    rows = [cells(trial, tuning) for trial in (*tuning.ranked, *ended)]
    table = plain_table("All trials", columns(tuning), [(row[0], row[1:]) for row in rows])
    failures = [
        (f"trial {trial.plan.index}", trial.result.reason)
        for trial in ended
        if trial.result is not None and trial.result.reason
    ]
    return table + (f"<h3>Failed</h3>{facts_html(failures)}" if failures else "")
