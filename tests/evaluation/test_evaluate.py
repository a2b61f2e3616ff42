"""The evaluation of a run: its parts, its JSON, and the numbers themselves."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.data.test_molecules import motion, prepared
from tests.small_systems import CONDITION, uneven
from tests.trained_runs import HORIZON, springs, trained

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.evaluation import Evaluation, NoiseFloor, evaluate, predict
from pgode.models import build_model, model_config

VARIABLES = ("q", "v")
FEATURES = ("qx", "qy", "vx", "vy")
NAIVE = ["last-value", "constant-velocity", "mean-value", "damped-trend", "linear-past"]
OF_MEAN = ["mse", "rmse", "mae", "ade", "fde"]
OF_SAMPLES = ["best_of_n", "crps", "wis", *(f"coverage_{n}" for n in (50, 80, 90, 95))]


@pytest.fixture(scope="module")
def result() -> Evaluation:
    return trained().evaluate(springs(), horizons=[2, HORIZON], samples=10, seed=5)


def numbers(part: Any) -> list[Any]:
    """All leaves of nested dicts and lists."""
    if isinstance(part, dict):
        part = list(part.values())
    if isinstance(part, list):
        return [leaf for each in part for leaf in numbers(each)]
    return [part]


def test_it_has_the_documented_parts(result: Evaluation) -> None:
    assert result.model == "pgode"
    assert result.horizons == (2, HORIZON)
    assert result.variables == ("q", "v")
    assert (result.samples, result.seed) == (10, 5)
    assert result.evaluations > 0
    assert result.seconds > 0
    training = result.training
    assert training is not None
    assert result.data_hash == training.data_hash == springs().hash
    assert training.config == trained().config.model_dump(mode="json")
    assert training.seed == 0
    assert training.seconds_per_epoch is not None and training.seconds_per_epoch > 0


def test_tables_are_by_split_horizon_and_variable(result: Evaluation) -> None:
    assert list(result.scores) == OF_MEAN + OF_SAMPLES
    assert list(result.naive) == NAIVE
    errors = [result.mse, result.skill, *(result.naive_mse(name) for name in NAIVE)]
    coverage = [result.score(f"coverage_{level}") for level in (50, 80, 90, 95)]
    crps = result.score("crps")
    distances = [result.score(name) for name in ("ade", "fde", "best_of_n")]
    single = [*errors, crps, result.score("wis"), *coverage]
    for tables, columns in ((single, VARIABLES + FEATURES), (distances, ("q",))):
        for table in tables:
            assert (table.splits, table.horizons) == (("test", "ood"), (2, HORIZON))
            assert table.columns == columns
            for split in table.splits:
                assert all(tuple(table.row(split, h)) == columns for h in table.horizons)
    assert all(0 <= share <= 1 for table in coverage for share in numbers(table.to_json()))
    assert all(score > 0 for score in numbers(crps.to_json()))
    assert result.score("none") == result.naive_mse("none")
    assert result.mse.at("test", 3, "q") is None and result.mse.row("val", 2) == {}


def test_curves_are_by_model_split_and_variable(result: Evaluation) -> None:
    assert list(result.curves) == ["pgode", *NAIVE]
    for table in (*result.curves.values(), result.curve_low, result.curve_high):
        assert list(table) == ["test", "ood"]
        assert all(tuple(split) == VARIABLES for split in table.values())
        assert all(len(curve) == HORIZON for split in table.values() for curve in split.values())
    low, high = (np.array(numbers(each)) for each in (result.curve_low, result.curve_high))
    assert (low <= high).all()


def test_its_json_has_no_nan_and_is_read_back(result: Evaluation) -> None:
    floor = NoiseFloor(result.mse, {"test": [0.5]}, 4, 2, model=result.mse, share=result.skill)
    for each in (result, replace(result, noise_floor=floor, training=None)):
        text = json.dumps(each.to_json(), allow_nan=False)
        assert Evaluation.from_json(json.loads(text)) == each


def test_errors_are_those_of_the_forecasts(result: Evaluation) -> None:
    run, data = trained(), springs().split_of("ood")
    windows = Windows(data, run.normaliser, run.config.window.condition, HORIZON)
    found = predict(run.model, windows)
    errors = (found.mean - found.truth) ** 2
    ours = result.mse.at("ood", 2, "q")
    assert ours == pytest.approx(errors[:, :2, :2].mean(), rel=1e-9)
    assert result.mse.at("ood", HORIZON, "vy") == pytest.approx(errors[:, :, 3].mean())
    curve = result.curves["pgode"]["ood"]["v"]
    np.testing.assert_allclose(curve, errors[:, :, 2:].mean((0, 2)), rtol=1e-5)
    naive = {name: result.naive_mse(name).at("ood", 2, "q") for name in NAIVE}
    best = min(naive, key=naive.__getitem__)
    assert result.best_naive("ood", 2, "q") == best
    assert result.skill.at("ood", 2, "q") == pytest.approx(1 - ours / naive[best])


def test_the_variable_is_the_mean_of_its_features(result: Evaluation) -> None:
    for split in result.splits:
        for horizon in result.horizons:
            row = result.mse.row(split, horizon)
            assert row["q"] == pytest.approx((row["qx"] + row["qy"]) / 2)
            assert row["v"] == pytest.approx((row["vx"] + row["vy"]) / 2)


def test_springs_have_an_energy_and_its_drift_is_small_for_the_truth(
    result: Evaluation,
) -> None:
    assert result.energy_drift is not None
    assert list(result.energy_drift) == ["test", "ood"]
    for drift in result.energy_drift.values():
        assert drift.keys() == {"forecast", "truth"}
        assert drift["truth"] < 0.01
        assert drift["forecast"] > 0


def test_the_same_seed_scores_the_same(result: Evaluation) -> None:
    again = trained().evaluate(springs(), horizons=[2, HORIZON], samples=10, seed=5)
    assert replace(again, seconds=0.0) == replace(result, seconds=0.0)
    other = trained().evaluate(springs(), horizons=[2, HORIZON], samples=10, seed=6)
    assert other.mse == result.mse
    assert other.score("crps") != result.score("crps")


def test_without_samples_there_are_no_scores_of_them() -> None:
    result = trained().evaluate(springs(), samples=0)
    assert list(result.scores) == OF_MEAN
    assert result.score("crps").splits == ()
    assert result.mse.horizons == (HORIZON,)


def test_a_naive_model_has_no_skill() -> None:
    normaliser = trained().normaliser
    model = build_model("constant-velocity", model_config("constant-velocity", {}), normaliser)
    result = evaluate(model, springs(), splits=["test"], condition=6, horizons=[4], samples=0)
    assert all(skill <= 0 for skill in numbers(result.skill.to_json()))
    assert result.mse == result.naive_mse("constant-velocity")
    assert result.curves["model"] == result.curves["constant-velocity"]


def test_the_best_of_several_naive_models_has_a_skill_of_0_in_its_cells() -> None:
    data = prepared(motion(2, 12))
    model = build_model("mean-value", model_config("mean-value", {}), Normaliser.fit(data))
    result = evaluate(model, data, splits=["train"], condition=6, horizons=[4], samples=0)
    errors = {name: result.naive_mse(name).at("train", 4, "q") for name in result.naive}
    best = min(errors, key=errors.__getitem__)
    assert result.best_naive("train", 4, "q") == best
    assert result.skill.at("train", 4, "q") == pytest.approx(
        1 - errors["mean-value"] / errors[best]
    )


def test_what_is_nowhere_observed_is_null_and_the_rest_is_scored() -> None:
    data = uneven()
    hidden = data.observed.copy()
    hidden[:, :, CONDITION:, 2] = False  # "mass" is not seen after the condition
    hidden[:, :, CONDITION + 1] = False  # nothing is seen at the second frame
    data = uneven(observed=hidden)
    model = build_model("last-value", model_config("last-value", {}), Normaliser.fit(data))
    result = evaluate(model, data, splits=["train"], condition=CONDITION, horizons=[1, 3])
    json.dumps(result.to_json(), allow_nan=False)
    row = result.mse.row("train", 3)
    assert row["m"] is None and row["mass"] is None
    assert row["q"] > 0
    assert result.score("crps").row("train", 3)["m"] is None
    assert result.skill.row("train", 1)["mass"] is None
    assert [value is None for value in result.curves["model"]["train"]["q"]] == [0, 1, 0]
    assert result.curve_low["train"]["m"] == [None] * 3
    assert result.energy_drift is None
