"""Results that earlier versions stored can still be read."""

import json
from pathlib import Path

import pytest

from pgode.evaluation import Evaluation
from pgode.reports.base.comparison import compare
from pgode.reports.base.verdicts import verdicts

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
STORED = [
    path
    for path in sorted(RESULTS.rglob("*.json"))
    if '"curve_low"' in path.read_text(encoding="utf-8")[:2_000_000]
]


def evaluations(content) -> list[dict]:
    """Everything in a file that is the JSON of an evaluation."""
    if isinstance(content, dict) and {"scores", "naive", "skill"} <= content.keys():
        return [content]
    parts = content.values() if isinstance(content, dict) else content
    return (
        [each for part in parts for each in evaluations(part)]
        if isinstance(content, dict | list)
        else []
    )


def test_there_are_stored_results():
    assert STORED


@pytest.mark.parametrize("path", STORED[:6], ids=lambda path: path.stem)
def test_a_stored_result_has_its_numbers_and_a_reference_for_each_cell(path):
    for content in evaluations(json.loads(path.read_text(encoding="utf-8"))):
        result = Evaluation.from_json(content)
        assert result.mse.to_json() == content["scores"]["mse"]
        if isinstance(content["reference"], str):
            for split in result.skill.splits:
                for h in result.skill.horizons:
                    for column in result.skill.row(split, h):
                        assert result.best_naive(split, h, column) == content["reference"]
        assert (result.origins, result.raw, result.worst) == ("first", {}, {})
        assert verdicts(compare(result))
        assert Evaluation.from_json(json.loads(json.dumps(result.to_json()))) == result
