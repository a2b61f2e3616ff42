"""The whole examination: no false alarms, naive errors as models have them, a fitting command."""

import json
import shlex

import numpy as np
import pytest
from tests.data.checkup.made import arrays, built, series, subject

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.cli.app import app
from pgode.data.checkup.advice import suitable_epochs, suitable_preset, train_command
from pgode.data.checkup.checkup import examine
from pgode.data.checkup.lines import lines
from pgode.data.checkup.naive import naive_errors
from pgode.data.simulate import simulate
from pgode.evaluation import predict
from pgode.models import build_model, model_config
from pgode.runtime.errors import InputError
from pgode.training.presets import preset_for


@pytest.mark.parametrize("system", ["springs", "charged", "mixed", "nbody", "gravity"])
def test_simulated_data_raise_no_alarm(system):
    data = simulate(system, train=12, val=4, test=4, ood=4, seed=3)
    found = examine(data)
    assert {finding.severity for finding in found.findings} <= {"note"}
    assert len(found.findings) <= 3 and not found.has_problems


@pytest.mark.parametrize(
    "name, model", [("last value", "last-value"), ("constant velocity", "constant-velocity")]
)
def test_naive_errors_are_those_of_the_naive_models(name, model):
    checked = subject(condition=12, horizon=24)
    found = naive_errors(checked)
    test = checked.data.split_of("test")
    normaliser = Normaliser.fit(checked.data.split_of("train"))
    windows = Windows(test, normaliser, 12, 24)
    origins = windows.origins(rolling=True)
    forecast = predict(
        build_model(model, model_config(model, {}), normaliser), windows, origins=origins
    )
    squared = (normaliser.raw(forecast.mean) - normaliser.raw(forecast.truth)) ** 2
    expected = np.sqrt([[squared[:, :h, k : k + 2].mean() for k in (0, 2)] for h in found.horizons])
    np.testing.assert_allclose(found.errors[name], expected, rtol=1e-4)


def test_the_slope_replaces_velocities_that_are_not_there():
    data = built(states=arrays()["states"][..., :2], features=("x", "y"), units=None)
    found = naive_errors(subject(data))
    assert found.best(0, 0) == "constant velocity"
    assert found.errors["constant velocity"][0, 0] < 0.5 * found.errors["last value"][0, 0]


def test_constant_velocity_is_left_out_where_nothing_has_a_position():
    found = naive_errors(series(np.random.default_rng(0).random((3, 80))))
    assert set(found.errors) == {"last value", "mean of the condition"}
    assert found.best(0) == "mean of the condition"


def test_no_window_means_no_errors():
    assert naive_errors(subject(condition=50, horizon=40)) is None


@pytest.mark.parametrize(
    "changes",
    [{}, {"edges": np.zeros((40, 4, 4))}, {"roles": ("value",) * 4}],
    ids=["positions", "no edges", "no roles"],
)
def test_the_preset_is_the_one_that_training_would_choose(changes):
    checked = subject(built(**changes))
    assert suitable_preset(checked) == preset_for(checked.data, "pgode")


def test_the_command_has_options_that_exist():
    checked = series(np.random.default_rng(0).random((3, 400)))
    words = shlex.split(train_command(checked, "my data.nc"))
    assert words[0] == "pgode" and words[2] == "my data.nc"
    _, bound, *_ = app.parse_args(words[1:], exit_on_error=False, print_error=False)
    assert bound.arguments["preset"] == "messages" and bound.arguments["horizon"] == 36
    assert bound.arguments["epochs"] == suitable_epochs(checked) == 181


def test_text_and_json_say_the_same():
    given = arrays()["states"]
    given[36] = given[3]
    given[7, 1, 20, 0] += 5
    told = []
    found = examine(built(states=given), "made.nc", on_progress=told.append)
    text = "\n".join(line for line, _ in lines(found))
    content = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert [each["severity"] for each in content["findings"]] == ["problem", "warning"]
    for each in content["findings"]:
        assert f"{each['severity']}: {each['text']}" in text and each["fix"] in text
    assert content["findings"][1]["place"] == {
        "system": "walk 7",
        "object": "p1",
        "time": "2 seconds",
        "feature": "x",
    }
    assert "systems  40 (28 train, 6 val, 6 test)" in text
    assert content["commands"] == ["pgode train made.nc -o runs/made --preset default --horizon 36"]
    assert "jumps" in told and "naive forecasts" in told


def test_what_follows_from_another_finding_is_not_reported_again():
    given = arrays()["states"]
    given[7, 1, 20, 0] = given[7, 1, 20, 2] = 4e4
    found = examine(built(states=given))
    assert [(f.check, f.place.feature) for f in found.findings] == [("extreme values", "x")]


def test_objects_are_counted_per_system():
    present = np.ones((40, 4), dtype=bool)
    present[3, 1:] = False
    edges = arrays()["edges"]
    edges[3] = 0
    found = examine(built(present=present, edges=edges))
    assert found.contents["objects"] == "1 to 4 objects per system"


def test_a_window_that_is_asked_for_is_judged():
    assert examine(built(), horizon=60).has_problems
    assert not examine(built(), condition=4, horizon=8).has_problems
    with pytest.raises(InputError, match="--condition is 0"):
        examine(built(), condition=0)


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_very_short_data_are_examined_without_an_error(frames):
    given = arrays()
    data = built(states=given["states"][:, :, :frames], times=given["times"][:, :frames])
    assert examine(data).contents["frames"].startswith(str(frames))


def test_data_that_were_hardly_observed_are_examined_without_an_error():
    observed = np.zeros((40, 4, 60, 4), dtype=bool)
    assert examine(built(observed=observed)).has_problems
    observed[0, 0, :5] = True
    assert examine(built(observed=observed)).has_problems
