"""Rolling origins, best naive models and worst objects on straight walkers."""

import numpy as np
import pytest
from rich.console import Console
from tests.evaluation.walkers import FRAMES, OBJECTS, walkers

from pgode.batches.normaliser import Normaliser
from pgode.evaluation import Evaluation, evaluate
from pgode.models import build_model, model_config
from pgode.reports.base.verdicts import all_verdicts
from pgode.reports.terminal import error_table, worst_lines
from pgode.runtime.errors import InputError

CONDITION, HORIZON = 6, 4


def scored(name: str = "last-value", data=None, **options) -> Evaluation:
    data = walkers() if data is None else data
    model = build_model(name, model_config(name, {}), Normaliser.fit(walkers().split_of("train")))
    given = {"splits": ["test"], "horizons": [2, HORIZON], "samples": 0} | options
    return evaluate(model, data, condition=CONDITION, **given)


@pytest.mark.parametrize(
    "origins, windows",
    [
        ("first", 1),
        ("last", 1),
        ("rolling", (FRAMES - CONDITION) // HORIZON),
        ("all", FRAMES - CONDITION - HORIZON + 1),
        ("every:3", (FRAMES - CONDITION - HORIZON) // 3 + 1),
    ],
)
def test_windows_are_counted_and_averaged_over_their_origins(origins, windows):
    result = scored(origins=origins)
    assert result.windows == {"test": 2 * windows} and result.origins == origins
    # The last value of a straight walk is wrong by speed times time, wherever it starts.
    speed = np.diff(walkers().split_of("test").states, axis=2)[:, :, 0]
    squared = speed**2 / np.square(Normaliser.fit(walkers().split_of("train")).scale)
    expected = {h: squared.mean() * np.mean(np.arange(1, h + 1) ** 2) for h in (2, HORIZON)}
    variable = result.variables[0]
    for h, error in expected.items():
        row = [result.mse.at("test", h, name) for name in ("x", "y")]
        assert np.mean(row) == pytest.approx(error, rel=1e-4)
    assert result.mse.at("test", 2, variable) is not None


def test_unknown_origins_are_refused():
    with pytest.raises(InputError, match='no origins "sometimes"'):
        scored(origins="sometimes")


def test_constant_velocity_is_perfect_and_the_verdict_says_that_the_model_is_worse():
    result = scored("mean-value", origins="rolling")
    assert "seasonal" not in result.naive and "constant-velocity" in result.naive
    for column, name in result.reference["test"][HORIZON].items():
        assert name in ("constant-velocity", "linear-past"), column
    assert result.naive_mse("constant-velocity").at("test", HORIZON, "x") < 1e-10
    first, *_ = all_verdicts(result)
    assert not first.good
    assert first.text.startswith("Worse than ")
    assert "In every cell no better than the best naive model" in first.text
    assert all(value < -1000 for value in result.skill.row("test", HORIZON).values())


def test_without_a_training_split_the_regression_is_left_out_and_the_table_says_so():
    result = scored(data=walkers().split_of("test"))
    assert list(result.naive) == ["last-value", "constant-velocity", "mean-value", "damped-trend"]
    assert "no training split" in result.omitted["linear-past"]
    console = Console(width=200)
    with console.capture() as captured:
        console.print(error_table(result))
    assert "without linear regression on own past: the evaluated data has no" in captured.get()


def test_models_that_coincide_are_scored_once():
    data = walkers()
    plain = data.dataset.copy()
    plain["feature_role"] = ("feature", np.array(["value", "value"]))
    values = type(data)(plain)
    model = build_model(
        "last-value", model_config("last-value", {}), Normaliser.fit(values.split_of("train"))
    )
    result = evaluate(
        model, values, splits=["test"], condition=1, horizons=[2], samples=0, origins="last"
    )
    assert list(result.naive) == ["last-value", "linear-past"]


def test_the_worst_systems_and_objects_are_named_with_their_error_and_ratio():
    result = scored(origins="rolling")
    worst = result.worst["test"]
    assert {entry.name for entry in worst.systems} == {"street 4", "street 5"}
    speed = np.diff(walkers().split_of("test").states, axis=2)[:, :, 0]
    sizes = (speed**2 / np.square(Normaliser.fit(walkers().split_of("train")).scale)).mean(2)
    system, item = np.unravel_index(sizes.argmax(), sizes.shape)
    label = f"{('Ann', 'Bo', 'Cy')[item]}{system + 4} of street {system + 4}"
    assert worst.objects[0].name == label
    assert worst.objects[0].error == pytest.approx(sizes.max() * np.mean([1, 4, 9, 16]), rel=1e-4)
    assert len(worst.objects) == min(3, 2 * OBJECTS)
    assert worst.objects[0].ratio > 1000
    assert Evaluation.from_json(result.to_json()) == result
    assert any(label in line for line in worst_lines(result))


def test_errors_in_own_units_are_those_of_the_data():
    result = scored(metrics=["mae", "fde"])
    speed = np.abs(np.diff(walkers().split_of("test").states, axis=2)[:, :, 0])
    raw = result.raw["model"]
    assert raw["mae"].at("test", 2, "x") == pytest.approx(speed[..., 0].mean() * 1.5, rel=1e-4)
    distance = np.sqrt((speed**2).sum(-1)).mean() * HORIZON
    (column,) = raw["fde"].columns
    assert raw["fde"].at("test", HORIZON, column) == pytest.approx(distance, rel=1e-4)
    assert result.units["x"] == result.units[column] == "m"
    console = Console(width=200)
    with console.capture() as captured:
        console.print(error_table(result, "mae", units=True))
    assert "Mean absolute error in the data's own units" in captured.get()
    assert "(m)" in captured.get()
