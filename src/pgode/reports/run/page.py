"""The page: one file with its style, script, pictures and data, which needs no network."""

import base64
import hashlib
import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from pgode.reports.base.numbers import finite, significant
from pgode.reports.molecule.charts import deviation_html
from pgode.reports.molecule.player import (
    drawing_library,
    molecule_content,
    molecule_player,
    skeleton,
)
from pgode.reports.run.comparison import interval_verdicts, reported_variables, split_name
from pgode.reports.run.data import MOST_OBJECTS, Example, ReportData, included, planes
from pgode.reports.run.figures import error_figures, error_legend, training_figures
from pgode.reports.run.pictures import parameter_words, picture, picture_legend, picture_views
from pgode.reports.run.player import page_data
from pgode.reports.run.prototypes import gate_map
from pgode.reports.run.summary import headline, verdict_list
from pgode.reports.run.tables import (
    energy_html,
    facts_html,
    intervals_html,
    ranges_html,
)
from pgode.runtime.files import write_text

FIRST = 2
"""Figures of each split that are open at once; the others unfold."""
PLANE_WORDS = (
    "Discs are what was observed or forecast, rings are the truth, and an ellipse spans the middle "
    "90 % of the sampled forecasts along each axis. Click an object to single it out."
)
LINE_WORDS = (
    "Lines are what was observed or forecast, dashes are the truth, and a band holds the middle "
    "90 % of the sampled forecasts. Click a line to single it out."
)
PANELS = 8
"""Error panels open at once; data with many variables fold the others away."""


def write_report(data: ReportData, path: Path) -> None:
    """Write the report of one training run to `path`, in one step."""
    write_text(Path(path), render(data))


def render(data: ReportData) -> str:
    """The report as the text of one HTML file."""
    variables = tuple(dict.fromkeys(data.variables)) or reported_variables(data.evaluation)
    molecule = data.molecule
    whole = included(data.examples, len(molecule.atoms) if molecule else None)
    examples = [skeleton(molecule, each) for each in whole] if molecule else whole
    content = molecule_content(molecule, whole) if molecule else None
    sections = [
        ("summary", "Summary", headline(data, variables)),
        ("error", "Error against horizon", _errors(data.evaluation, variables)),
        ("deviation", "Deviation", deviation_html(molecule, data.time_units) if molecule else ""),
        ("uncertainty", "Uncertainty", _uncertainty(data.evaluation, variables)),
        ("energy", "Energy", energy_html(data.evaluation)),
        ("trajectories", "Trajectories", _trajectories(data, examples)),
        ("player", "Player", _player(data, examples)),
        ("prototypes", "Prototypes", _prototypes(data, examples)),
        ("training", "Training", _training(data.epochs)),
        ("provenance", "Provenance", _provenance(data)),
    ]
    present = [section for section in sections if section[2]]
    links = "".join(f'<a href="#{key}">{title}</a>' for key, title, _ in present)
    body = "".join(
        f'<section id="{key}" aria-labelledby="{key}-title">'
        f'<h2 id="{key}-title">{title}</h2>{content}</section>'
        for key, title, content in present
    )
    names = ("player.js", "playback.js", "molecule.js" if molecule else "controls.js", "report.js")
    scripts = ["".join(_asset(name) for name in names)]
    if content is not None:
        scripts.insert(0, drawing_library())
    return Template(_asset("report.html")).substitute(
        title=escape(data.title),
        policy=_policy(scripts),
        style=_asset("report.css"),
        links=links,
        body=body,
        data=page_data(data, [] if molecule else examples, content),
        script="</script>\n<script>".join(scripts),
    )


def _policy(scripts: Sequence[str]) -> str:
    """A content security policy: nothing is fetched, and no script runs but our own.

    Escaping is the first guard against names that are markup; this is the second.
    """
    digests = [base64.b64encode(hashlib.sha256(each.encode()).digest()) for each in scripts]
    allowed = " ".join(f"'sha256-{digest.decode()}'" for digest in digests)
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src {allowed}"


def _asset(name: str) -> str:
    return (files("pgode.reports") / "assets" / name).read_text(encoding="utf-8")


def _errors(evaluation: dict[str, Any], variables: Sequence[str]) -> str:
    panels = error_figures(evaluation, variables)
    if not panels:
        return ""
    shown, rest = "".join(panels[:PANELS]), "".join(panels[PANELS:])
    more = _folded("More variables", f'<div class="grid">{rest}</div>') if rest else ""
    return (
        '<p class="lead">Mean squared error at each single forecast frame, in scaled units. '
        "The axis is logarithmic. Point at a curve to read its values.</p>"
        f'{error_legend(evaluation)}<div class="grid">{shown}</div>{more}'
    )


def _uncertainty(evaluation: dict[str, Any], variables: Sequence[str]) -> str:
    table = intervals_html(evaluation, variables)
    if not table:
        return ""
    samples = evaluation.get("samples")
    drawn = f" of {samples} sampled forecasts" if samples else ""
    lead = (
        f'<p class="lead">How far the spread{drawn} can be trusted. The mark on each bar is the '
        "share an interval should hold. CRPS compares the whole sampled distribution with what "
        "happened; lower is better, and for a single forecast it is the absolute error.</p>"
    )
    return f"{lead}{verdict_list(interval_verdicts(evaluation, variables))}{table}"


def _trajectories(data: ReportData, examples: Sequence[Example]) -> str:
    if not examples:
        return ""
    shown, rest = columns([(each.split, picture(data, each)) for each in examples])
    views = picture_views(data)
    chooser = ""
    if len(views) > 1:
        options = "".join(
            f'<option value="{index}">{escape(view.label)}</option>'
            for index, view in enumerate(views)
        )
        chooser = f'<label class="field">Show <select id="picture-view">{options}</select></label>'
    left_out = len(data.examples) - len(examples)
    cut = max(full.objects for full in data.examples) - max(one.objects for one in examples)
    notes = [
        f"{left_out} more systems are left out to keep this file small." if left_out else "",
        _cut_words(data) if cut else "",
    ]
    note = " ".join(each for each in notes if each)
    return (
        '<p class="lead">Whole trajectories, one colour for each object. A dot is the end of the '
        "forecast, a ring that of the truth; dashes are hidden where the forecast covers them. "
        f"{note}</p>"
        f'<div class="bar">{picture_legend()}{chooser}</div>{shown}'
        + (_folded("More systems", rest) if rest else "")
    )


def _cut_words(data: ReportData) -> str:
    if data.molecule is None:
        return f"Of larger systems only the first {MOST_OBJECTS} objects are shown."
    return f"Only the {data.molecule.backbone_words} of the molecule are shown."


def _player(data: ReportData, examples: Sequence[Example]) -> str:
    if not examples:
        return ""
    options = "".join(
        f'<option value="{index}">{escape(_option(example))}</option>'
        for index, example in enumerate(examples)
    )
    if data.molecule is not None:
        return molecule_player(options)
    words = PLANE_WORDS if planes(data) else LINE_WORDS
    return Template(_asset("player.html")).substitute(systems=options, words=words)


def _option(example: Example) -> str:
    words = parameter_words(example)
    return f"{example.name} · {words}" if words else example.name


def _prototypes(data: ReportData, examples: Sequence[Example]) -> str:
    figures = [
        (
            example.split,
            f"<figure>{gate_map(example, example.gate)}"
            f"<figcaption><b>{escape(example.name)}</b></figcaption></figure>",
        )
        for example in examples
        if example.gate is not None
    ]
    if not figures:
        return ""
    shown, rest = columns(figures)
    more = _folded("More systems", rest) if rest else ""
    note = _cut_words(data) if data.molecule is not None else ""
    return (
        '<p class="lead">The weight of each prototype (rows) in the motion of each object '
        f"(columns). The weights of an object add up to 1. {note}</p>"
        f"{shown}{more}"
    )


def _training(epochs: Sequence[dict[str, Any]]) -> str:
    panels = training_figures(epochs)
    if not panels:
        return '<p class="lead">Nothing was trained.</p>'
    words = "1 epoch" if len(epochs) == 1 else f"{len(epochs)} epochs"
    seconds = finite(epochs[-1].get("seconds"))
    if seconds > 0:
        words += f" in {_duration(seconds)}, {significant(seconds / len(epochs))} s each"
    return f'<p class="lead">{words}.</p><div class="grid">{"".join(panels)}</div>'


def _provenance(data: ReportData) -> str:
    evaluation = data.evaluation
    rows = [
        (label, _fact(evaluation[key]))
        for label, key in (
            ("Evaluated on data", "data_hash"),
            ("Trained on data", "trained_on"),
            ("Training seed", "training_seed"),
            ("Samples per forecast", "samples"),
            ("Evaluation seed", "seed"),
            ("Derivative evaluations", "evaluations"),
            ("Forecast seconds", "seconds"),
        )
        if evaluation.get(key) is not None
    ]
    config = evaluation.get("config")
    numbers = {key: value for key, value in evaluation.items() if key != "config"}
    parts = [
        facts_html(rows, whole=True),
        ranges_html(data.parameters, "Parameters of the systems"),
    ]
    if config:
        shown = json.dumps(config, indent=2, ensure_ascii=False, default=str)
        parts.append(_folded("Configuration", f"<pre>{escape(shown)}</pre>", opened=True))
    # Where a number is not finite, JSON has only null.
    exact = json.loads(json.dumps(numbers, default=str), parse_constant=lambda _: None)
    shown = json.dumps(exact, ensure_ascii=False)
    parts.append(_folded("All numbers of the evaluation as JSON", f"<pre>{escape(shown)}</pre>"))
    return "".join(parts)


def _fact(value: Any) -> str:
    return significant(value) if isinstance(value, float) else str(value)


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{significant(seconds)} s"
    return f"{seconds / 60:.1f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"


def columns(figures: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Figures by split, each split a column: the first ones of each, and the others if any."""
    splits = dict.fromkeys(split for split, _ in figures)
    parts = []
    for rest in (False, True):
        made = ""
        for split in splits:
            own = [figure for name, figure in figures if name == split]
            chosen = own[FIRST:] if rest else own[:FIRST]
            made += f"<div><h3>{escape(split_name(split).capitalize())}</h3>{''.join(chosen)}</div>"
        parts.append(f'<div class="columns">{made}</div>')
    more = any(sum(name == split for name, _ in figures) > FIRST for split in splits)
    return parts[0], parts[1] if more else ""


def _folded(title: str, content: str, *, opened: bool = False) -> str:
    return (
        f"<details{' open' if opened else ''}><summary>{escape(title)}</summary>{content}</details>"
    )
