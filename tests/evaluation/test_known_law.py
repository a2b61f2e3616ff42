"""The row "known law" of evaluations and tables."""

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from pgode.batches.normaliser import Normaliser
from pgode.data.simulate import simulate
from pgode.data.trajectories import Trajectories
from pgode.evaluation import Evaluation, evaluate
from pgode.models import build_model, model_config
from pgode.reports.base.comparison import compare
from pgode.reports.base.verdicts import law_verdicts
from pgode.reports.terminal import error_table


def scored(data: Trajectories) -> Evaluation:
    model = build_model(
        "constant-velocity", model_config("constant-velocity", {}), Normaliser.fit(data)
    )
    return evaluate(model, data, splits=["test", "ood"], condition=5, horizons=[3, 6], samples=0)


@pytest.fixture(scope="module")
def data() -> Trajectories:
    return simulate("springs", objects=4, frames=12, train=4, val=0, test=3, ood=3)


@pytest.fixture(scope="module")
def evaluation(data: Trajectories) -> Evaluation:
    return scored(data)


def test_the_known_law_is_scored_like_the_model_and_far_below_it(evaluation):
    law = evaluation.known_law
    assert law is not None
    assert (law.splits, law.horizons, law.columns) == (
        evaluation.mse.splits,
        evaluation.mse.horizons,
        evaluation.mse.columns,
    )
    for split in law.splits:
        for horizon in law.horizons:
            for name, error in law.row(split, horizon).items():
                assert 0 < error < 1e-6 * evaluation.mse.at(split, horizon, name)


def test_it_survives_being_written_and_read(evaluation):
    content = json.loads(json.dumps(evaluation.to_json()))
    assert Evaluation.from_json(content).known_law == evaluation.known_law
    del content["known_law"]  # as an evaluation of an earlier version
    assert Evaluation.from_json(content).known_law is None


def test_data_of_other_origin_have_no_such_row(data):
    foreign = Trajectories(data.dataset.assign_attrs(generator="a telescope"))
    assert scored(foreign).known_law is None


def test_the_table_and_the_conclusions_name_it(evaluation):
    text = io.StringIO()
    Console(file=text, width=80).print(error_table(evaluation))
    lines = [line for line in text.getvalue().splitlines() if "known law" in line]
    assert len(lines) == 3  # a row for each split, and the caption
    comparison = compare(evaluation)
    (verdict,) = law_verdicts(comparison, evaluation.known_law)
    assert verdict.text.startswith("The error is ") and "known law" in verdict.text
    assert law_verdicts(comparison, None) == []
    without = replace(evaluation, known_law=None)
    text = io.StringIO()
    Console(file=text, width=80).print(error_table(without))
    assert "known law" not in text.getvalue()
