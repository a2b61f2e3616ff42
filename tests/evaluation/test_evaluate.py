"""The evaluation of a run: the structure others read, plain JSON, and the numbers themselves."""

import json
from typing import Any

import numpy as np
import pytest
from tests.data.test_molecules import motion, prepared
from tests.small_systems import CONDITION, uneven
from tests.trained_runs import HORIZON, springs, trained

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.evaluation import evaluate, predict
from pgode.models import build_model, model_config
from pgode.runtime.errors import InputError

VARIABLES = {"q", "v"}
FEATURES = {"qx", "qy", "vx", "vy"}
NAIVE = ["last-value", "constant-velocity"]


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    return trained().evaluate(springs(), horizons=[2, HORIZON], samples=10, seed=5)


def numbers(part: Any) -> list[Any]:
    """All leaves of nested dicts and lists."""
    if isinstance(part, dict):
        part = list(part.values())
    if isinstance(part, list):
        return [leaf for each in part for leaf in numbers(each)]
    return [part]


def test_it_has_the_documented_parts(result: dict[str, Any]) -> None:
    assert result["model"] == "pgode"
    assert result["horizons"] == [2, HORIZON]
    assert (result["samples"], result["seed"]) == (10, 5)
    assert result["data_hash"] == result["trained_on"] == springs().hash
    assert result["config"] == trained().config.model_dump(mode="json")
    assert result["training_seed"] == 0
    assert result["evaluations"] > 0
    assert result["seconds"] > 0


def test_tables_are_by_split_horizon_and_variable(result: dict[str, Any]) -> None:
    coverage = [result["coverage"][level] for level in ("50", "90")]
    errors = [result["mse"], result["skill"], *(result["naive"][name] for name in NAIVE)]
    for table, keys in [(t, VARIABLES | FEATURES) for t in errors] + [
        (t, VARIABLES) for t in (result["crps"], *coverage)
    ]:
        assert list(table) == ["test", "ood"]
        for split in table.values():
            assert list(split) == ["2", str(HORIZON)]
            assert all(row.keys() == keys for row in split.values())
    assert list(result["naive"]) == NAIVE
    assert all(0 <= share <= 1 for share in numbers(result["coverage"]))
    assert all(score > 0 for score in numbers(result["crps"]))


def test_curves_are_by_model_split_and_variable(result: dict[str, Any]) -> None:
    assert list(result["curve"]) == ["pgode", *NAIVE]
    for table in (*result["curve"].values(), result["curve_low"], result["curve_high"]):
        assert list(table) == ["test", "ood"]
        assert all(split.keys() == VARIABLES for split in table.values())
        assert all(len(curve) == HORIZON for split in table.values() for curve in split.values())
    low, high = (np.array(numbers(result[name])) for name in ("curve_low", "curve_high"))
    assert (low <= high).all()


def test_it_is_json_without_nan(result: dict[str, Any]) -> None:
    text = json.dumps(result, allow_nan=False)
    assert json.loads(text) == result


def test_errors_are_those_of_the_forecasts(result: dict[str, Any]) -> None:
    run, data = trained(), springs().split_of("ood")
    windows = Windows(data, run.normaliser, run.config.window.condition, HORIZON)
    found = predict(run.model, windows)
    errors = (found.mean - found.truth) ** 2
    assert result["mse"]["ood"]["2"]["q"] == pytest.approx(errors[:, :2, :2].mean(), rel=1e-9)
    assert result["mse"]["ood"][str(HORIZON)]["vy"] == pytest.approx(errors[:, :, 3].mean())
    curve = result["curve"]["pgode"]["ood"]["v"]
    np.testing.assert_allclose(curve, errors[:, :, 2:].mean((0, 2)), rtol=1e-5)
    naive = result["naive"]["constant-velocity"]["ood"]["2"]["q"]
    expected = 1 - result["mse"]["ood"]["2"]["q"] / naive
    assert result["skill"]["ood"]["2"]["q"] == pytest.approx(expected)


def test_the_variable_is_the_mean_of_its_features(result: dict[str, Any]) -> None:
    for split in result["mse"].values():
        for row in split.values():
            assert row["q"] == pytest.approx((row["qx"] + row["qy"]) / 2)
            assert row["v"] == pytest.approx((row["vx"] + row["vy"]) / 2)


def test_springs_have_an_energy_and_its_drift_is_small_for_the_truth(
    result: dict[str, Any],
) -> None:
    assert list(result["energy_drift"]) == ["test", "ood"]
    for drift in result["energy_drift"].values():
        assert drift.keys() == {"forecast", "truth"}
        assert drift["truth"] < 0.01
        assert drift["forecast"] > 0


def test_the_same_seed_scores_the_same(result: dict[str, Any]) -> None:
    again = trained().evaluate(springs(), horizons=[2, HORIZON], samples=10, seed=5)
    timeless = {"seconds": 0}
    assert {**again, **timeless} == {**result, **timeless}
    other = trained().evaluate(springs(), horizons=[2, HORIZON], samples=10, seed=6)
    assert other["mse"] == result["mse"]
    assert other["crps"] != result["crps"]


def test_without_samples_there_are_no_scores_of_them() -> None:
    result = trained().evaluate(springs(), samples=0)
    assert result["crps"] == {}
    assert result["coverage"] == {"50": {}, "90": {}}
    assert result["mse"]["test"].keys() == {str(HORIZON)}


def test_a_naive_model_has_no_skill_against_itself() -> None:
    normaliser = trained().normaliser
    model = build_model("constant-velocity", model_config("constant-velocity", {}), normaliser)
    result = evaluate(model, springs(), splits=["test"], condition=6, horizons=[4], samples=0)
    assert set(numbers(result["skill"])) == {0.0}
    assert result["mse"] == result["naive"]["constant-velocity"]
    assert result["curve"]["model"] == result["curve"]["constant-velocity"]


def test_without_velocities_skill_is_against_the_last_value() -> None:
    data = prepared(motion(2, 12))
    model = build_model("mean-value", model_config("mean-value", {}), Normaliser.fit(data))
    result = evaluate(model, data, splits=["train"], condition=6, horizons=[4], samples=0)
    assert result["skill_reference"] == "last-value"
    ours, last = (
        table["train"]["4"]["q"] for table in (result["mse"], result["naive"]["last-value"])
    )
    assert result["skill"]["train"]["4"]["q"] == pytest.approx(1 - ours / last)
    assert trained().evaluate(springs(), samples=0)["skill_reference"] == "constant-velocity"


def test_what_is_nowhere_observed_is_null_and_the_rest_is_scored() -> None:
    data = uneven()
    hidden = data.observed.copy()
    hidden[:, :, CONDITION:, 2] = False  # "mass" is not seen after the condition
    hidden[:, :, CONDITION + 1] = False  # nothing is seen at the second frame
    data = uneven(observed=hidden)
    model = build_model("last-value", model_config("last-value", {}), Normaliser.fit(data))
    result = evaluate(model, data, splits=["train"], condition=CONDITION, horizons=[1, 3])
    json.dumps(result, allow_nan=False)
    row = result["mse"]["train"]["3"]
    assert row["m"] is None and row["mass"] is None
    assert row["q"] > 0
    assert result["crps"]["train"]["3"]["m"] is None
    assert result["skill"]["train"]["1"]["mass"] is None
    assert [value is None for value in result["curve"]["model"]["train"]["q"]] == [0, 1, 0]
    assert result["curve_low"]["train"]["m"] == [None] * 3
    assert result["energy_drift"] is None


@pytest.mark.parametrize(
    "condition, horizons, words",
    [
        (6, [0, 3], "cannot score horizons \\[0, 3\\] on the split test"),
        (6, [13], "Expected horizons from 1 to 12"),
        (18, [1], "at most 18 frames, and the model sees 18 before it forecasts"),
        (20, [1], "Expected at least 21 frames"),
    ],
)
def test_horizons_that_no_system_reaches_are_refused(
    condition: int, horizons: list[int], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        evaluate(
            trained().model, springs(), splits=["test"], condition=condition, horizons=horizons
        )
