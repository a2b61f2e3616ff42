"""Settings of a run: preset, then file, then single changes; what is left out is the default."""

from pathlib import Path

import numpy as np
import pytest

from pgode.data.trajectories import Trajectories
from pgode.models import model_config
from pgode.runtime.errors import InputError
from pgode.training.config import (
    RunConfig,
    WindowConfig,
    names_horizon,
    parse_changes,
    run_config,
    with_implied,
    within_data,
)


def test_later_places_win_and_leave_the_rest(tmp_path: Path) -> None:
    file = tmp_path / "my.yaml"
    file.write_text(
        "model: {width: 16, dynamics: {prototypes: 4}}\ntraining: {batch: 7, seed: 3}\n"
    )
    config = run_config(
        "pgode", "paper", file, {"model.dynamics.prototypes": 2, "training.batch": 9}
    )
    assert (config.model["width"], config.model["dynamics"]["prototypes"]) == (16, 2)
    assert (config.training.batch, config.training.seed) == (9, 3)
    assert config.training.optimiser == "adam"  # from the preset
    assert config.model["state"]["kind"] == "latent"
    assert config.window.condition == 12  # the default
    assert (config.name, config.preset) == ("pgode", "paper")


def test_the_anchored_paper_differs_from_the_paper_in_its_decoder_alone() -> None:
    paper, anchored = run_config(preset="paper"), run_config(preset="paper-anchored")
    assert not paper.model["state"]["residual_decoder"]
    state = {**paper.model["state"], "residual_decoder": True}
    assert anchored.model == {**paper.model, "state": state}
    assert (anchored.training, anchored.window) == (paper.training, paper.window)


def test_a_file_may_name_the_model(tmp_path: Path) -> None:
    file = tmp_path / "my.yaml"
    file.write_text("name: last-value\n")
    assert run_config(file=file).name == "last-value"


def test_a_config_holds_every_setting_of_its_model() -> None:
    config = run_config(preset="messages", changes={"model.solver.method": "euler"})
    assert config.model["solver"]["method"] == "euler"
    assert config.model["solver"]["step"] == 0.1
    assert RunConfig.model_validate_json(config.model_dump_json()) == run_config(
        preset="messages", changes={"model.solver.method": "euler"}
    )


def test_the_config_of_a_run_can_be_given_again(tmp_path: Path) -> None:
    config = run_config(preset="paper", changes={"model.width": 32, "training.patience": 4})
    file = tmp_path / "config.json"
    file.write_text(config.model_dump_json())
    assert run_config(preset="paper", file=file) == config


@pytest.mark.parametrize(
    "pair, key, value",
    [
        ("model.width=3", "model.width", 3),
        ("training.learning_rate=1e-3", "training.learning_rate", "1e-3"),
        ("training.curriculum=[[0.5, 12]]", "training.curriculum", [[0.5, 12]]),
        ("model.rebuild_graph=false", "model.rebuild_graph", False),
        ("training.patience=null", "training.patience", None),
        ("training.patience=", "training.patience", None),
        ("name=a=b", "name", "a=b"),
    ],
)
def test_a_change_is_a_key_and_a_yaml_value(pair: str, key: str, value: object) -> None:
    assert parse_changes([pair]) == {key: value}


def test_a_number_that_yaml_takes_for_a_word_is_still_a_number() -> None:
    changes = parse_changes(["training.learning_rate=1e-3"])
    assert run_config(preset="messages", changes=changes).training.learning_rate == 1e-3


def test_changes_are_taken_in_their_order() -> None:
    changes = parse_changes(["model.width=3", "training.seed=1", "model.width=5"])
    assert run_config(preset="messages", changes=changes).model["width"] == 5


@pytest.mark.parametrize(
    "key, value",
    [
        ("window.condition", 0),
        ("window.starts", "last"),
        ("training.learning_rate", float("nan")),
        ("training.clip", 0),
        ("training.curriculum", [[0.5]]),
        ("training.schedule", "linear"),
        ("training.threads", 0),
        ("training.seed", 2**63),
        ("model.gate.contexts", "none"),
        ("window", 3),
        ("name", 3),
    ],
)
def test_an_invalid_value_is_named(key: str, value: object) -> None:
    with pytest.raises(InputError) as raised:
        run_config(preset="messages", changes={key: value})
    assert str(raised.value).startswith(f'the setting "{key}')
    assert f"--set {key}" in str(raised.value)


@pytest.mark.parametrize("preset", ["messages", "paper", "molecules"])
def test_a_stored_run_of_before_there_was_a_trend_has_none(preset: str) -> None:
    stored = run_config("pgode", preset).model_dump(mode="json")
    del stored["model"]["state"]["trend"]
    assert with_implied(stored)["model"]["state"]["trend"] is False


@pytest.mark.parametrize("messages", [True, False])
def test_stored_laws_of_before_there_was_a_trend_still_open(messages: bool) -> None:
    changes = {"model.dynamics.messages": messages}
    stored = run_config("pgode", "default", changes=changes).model_dump(mode="json")
    del stored["model"]["state"]["trend"]
    assert model_config("pgode", with_implied(stored)["model"]).dynamics.messages is messages


def test_a_config_cannot_change() -> None:
    config = run_config()
    with pytest.raises(ValueError, match="frozen"):
        config.training.epochs = 3  # type: ignore[misc]


def test_another_kind_of_a_group_replaces_what_the_preset_says_of_it() -> None:
    latent = run_config("pgode", "paper").model["state"]
    assert latent == {
        "kind": "latent",
        "residual_decoder": False,
        "history_readout": False,
        "mean_structure": False,
        "trend": False,
    }
    changes = {"model.state": "kinematic", "model.state.mean_structure": False}
    assert run_config("pgode", "paper", changes=changes).model["state"] == {
        "kind": "kinematic",
        "residual_decoder": True,
        "history_readout": True,
        "mean_structure": False,
        "trend": True,
    }


@pytest.mark.parametrize("order", [1, -1])
def test_single_changes_that_contradict_each_other_are_refused(order: int) -> None:
    changes = [("model.dynamics.top_k", 2), ("model.dynamics", "single")]
    with pytest.raises(InputError, match='of the kind "single"'):
        run_config(preset="messages", changes=dict(changes[::order]))


def test_a_setting_that_is_gone_is_refused_with_the_reason() -> None:
    with pytest.raises(InputError, match=r'"model.recovery" was removed: .* Leave it out\.'):
        run_config(preset="messages", changes={"model.recovery": False})


def test_a_change_that_names_the_kind_of_a_group_keeps_what_a_file_says_of_it(
    tmp_path: Path,
) -> None:
    file = tmp_path / "my.yaml"
    file.write_text("model: {dynamics: {prototypes: 3}, state: {mean_structure: false}}\n")
    changes = {"model.dynamics.kind": "messages", "model.state": "kinematic"}
    model = run_config(preset="messages", file=file, changes=changes).model
    assert (model["dynamics"]["prototypes"], model["state"]["mean_structure"]) == (3, False)


@pytest.mark.parametrize(
    "key, value",
    [
        ("training.learning_rate", float("inf")),
        ("model.objective.sigma", float("inf")),
        ("model.objective.initial_log_variance", float("nan")),
        ("training.curriculum", [[1.0, 0]]),
        ("training.curriculum", [[2, 12]]),
    ],
)
def test_numbers_that_cannot_be_meant_are_refused(key: str, value: object) -> None:
    with pytest.raises(InputError, match=f'the setting "{key}'):
        run_config(preset="messages", changes={key: value})


@pytest.mark.parametrize("key, option", [("preset", "--preset"), ("name", "--model")])
def test_what_an_option_chooses_is_no_setting(key: str, option: str) -> None:
    with pytest.raises(InputError, match=f"Use {option} instead"):
        run_config(preset="messages", changes={key: "paper"})


def test_weight_decay_is_refused_where_the_optimiser_has_none() -> None:
    with pytest.raises(InputError, match="no effect with optimiser=adam"):
        run_config(
            preset="messages", changes={"training.optimiser": "adam", "training.weight_decay": 0.1}
        )


def test_the_preset_is_that_of_the_model_a_file_names(tmp_path: Path) -> None:
    file = tmp_path / "my.yaml"
    file.write_text("name: lstm\n")
    with pytest.raises(InputError, match='the model "lstm" has no preset "paper"'):
        run_config("pgode", "paper", file)


@pytest.mark.parametrize(
    "key, meant",
    [
        ("model.with", "model.width"),
        ("window.horison", "window.horizon"),
        ("train.epochs", "training.epochs"),
        ("trainig.epochs", "training.epochs"),
        ("prototypes", "model.dynamics.prototypes"),
        ("prototype", "model.dynamics.prototypes"),
        ("epochs", "training.epochs"),
        ("model.epochs", "training.epochs"),
        ("horizon", "window.horizon"),
        ("model.horizon", "window.horizon"),
        ("training.condition", "window.condition"),
        ("width", "model.width"),
        ("top_k", "model.dynamics.top_k"),
        ("model.dynamics.topk", "model.dynamics.top_k"),
        ("lr", "training.learning_rate"),
        ("training.lr", "training.learning_rate"),
        ("training.learning-rate", "training.learning_rate"),
        ("batch_size", "training.batch"),
        ("training.optimizer", "training.optimiser"),
        ("model.encoder.layer", "model.encoder.layers"),
        ("solver.method", "model.solver.method"),
        ("models.width", "model.width"),
        ("Model.width", "model.width"),
        ("seed", "training.seed"),
    ],
)
def test_a_typical_mistake_suggests_the_setting_that_was_meant(key: str, meant: str) -> None:
    with pytest.raises(InputError) as refused:
        run_config(preset="messages", changes={key: 3})
    assert str(refused.value).endswith(f'Did you mean "{meant}"?')


def test_a_name_like_no_other_lists_the_known_keys() -> None:
    with pytest.raises(InputError, match="Known keys: condition, horizon, starts, stride"):
        run_config(changes={"window.xyzzy": 3})


def long_series(systems: int, frames: int, **options: object) -> Trajectories:
    states = np.random.default_rng(0).normal(size=(systems, 2, frames, 1))
    edges = np.zeros((systems, 2, 2))
    return Trajectories.build(
        states, np.arange(float(frames)), edges=edges, features=("a",), **options
    )


def test_a_few_long_series_are_trained_in_all_their_windows() -> None:
    window = WindowConfig(condition=4, horizon=6)
    settled = window.settled(long_series(2, 100))
    assert (settled.starts, settled.stride) == ("all", 1) and settled.rolling
    # 20 x 991 windows are too many for an epoch.
    many = window.settled(long_series(20, 1000))
    assert (many.starts, many.stride) == ("all", 9)


def test_many_systems_single_windows_and_simulated_ones_have_one_window_an_epoch() -> None:
    window = WindowConfig(condition=4, horizon=6)
    assert window.settled(long_series(200, 100)).starts == "random"
    assert window.settled(long_series(5, 10)).starts == "random"
    simulated = long_series(2, 100, generator="pgode simulate springs")
    assert window.settled(simulated).starts == "random"
    assert WindowConfig(starts="first").settled(long_series(2, 100)).starts == "first"


def test_a_horizon_that_was_asked_for_and_is_too_long_is_an_error() -> None:
    data = long_series(2, 20)
    config = run_config(preset="messages", changes={"window.horizon": 9})
    with pytest.raises(InputError, match="Expected a horizon from 1 to 8") as error:
        within_data(config, data, asked=True)
    assert "the longest training system has 20, of which 12 are the condition" in str(error.value)
    assert within_data(config, data, asked=False).window.horizon == 8
    fits = run_config(preset="messages", changes={"window.horizon": 8})
    assert within_data(fits, data, asked=True) is fits


def test_it_is_known_whether_a_horizon_was_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "my.yaml"
    file.write_text("window: {horizon: 5}\n")
    assert names_horizon(file, {}) and names_horizon(None, {"window.horizon": 3})
    assert not names_horizon(None, {"window.condition": 3})
