"""Section "Provenance": data, seeds, settings, and all numbers of the evaluation."""

import json
from collections.abc import Mapping
from html import escape
from typing import Any

from pgode.evaluation.evaluation import Evaluation
from pgode.reports.base.numbers import significant
from pgode.reports.base.page import folded
from pgode.reports.base.tables import facts_html, plain_table
from pgode.reports.run.data import PageContent


def provenance_section(content: PageContent) -> str:
    """Facts, ranges of the parameters, the configuration and the evaluation's JSON."""
    evaluation = content.evaluation
    parts = [facts_html(_facts(evaluation), whole=True), _ranges(content.data.parameters)]
    if evaluation.training is not None:
        config = json.dumps(evaluation.training.config, indent=2, ensure_ascii=False, default=str)
        parts.append(folded("Configuration", f"<pre>{escape(config)}</pre>", opened=True))
    # Where a number is not finite, JSON has only null.
    text = json.dumps(evaluation.to_json(), default=str)
    finite = json.loads(text, parse_constant=lambda _: None)
    if finite["training"] is not None:
        del finite["training"]["config"]
    numbers = escape(json.dumps(finite, ensure_ascii=False))
    parts.append(folded("All numbers of the evaluation as JSON", f"<pre>{numbers}</pre>"))
    return "".join(parts)


def _facts(evaluation: Evaluation) -> list[tuple[str, str]]:
    training = evaluation.training
    trained = (
        []
        if training is None
        else [
            ("Trained on data", training.data_hash),
            ("Training seed", str(training.seed)),
        ]
    )
    return [
        ("Evaluated on data", evaluation.data_hash),
        *trained,
        ("Samples per forecast", str(evaluation.samples)),
        ("Evaluation seed", str(evaluation.seed)),
        ("Derivative evaluations", str(evaluation.evaluations)),
        ("Forecast seconds", significant(evaluation.seconds)),
    ]


def _ranges(parameters: Mapping[str, Any]) -> str:
    """The parameters, one per row; ranges that are known by split have a column for each."""
    if not parameters:
        return ""
    by_split = all(isinstance(value, Mapping) for value in parameters.values())
    values = parameters.values()
    splits = dict.fromkeys(split for value in values for split in value) if by_split else {}
    rows = []
    for name, value in parameters.items():
        ranges = [value.get(split, "") for split in splits] if by_split else [value]
        rows.append((str(name), [_range(each) for each in ranges]))
    titles = ["", *map(str, splits)] if splits else ["", "value"]
    return plain_table("Parameters of the systems", titles, rows)


def _range(value: Any) -> str:
    if isinstance(value, list | tuple) and len(value) == 2:
        return " – ".join(_range(end) for end in value)
    if isinstance(value, float | int) and not isinstance(value, bool):
        return f"{value:.4g}"
    return str(value)
