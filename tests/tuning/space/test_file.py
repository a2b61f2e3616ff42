"""A space from a file: every value is checked against the schema; errors say what to change."""

import pytest

from pgode.runtime.errors import InputError
from pgode.training.config import run_config
from pgode.tuning.space.domains import Choice, Range
from pgode.tuning.space.file import read_space


@pytest.fixture
def read(tmp_path):
    def reading(text: str, fixed=()):
        path = tmp_path / "space.yaml"
        path.write_text(text)
        return read_space(path, run_config(preset="messages"), fixed)

    return reading


def test_lists_and_ranges_have_values_of_the_type_of_the_setting(read):
    space = read(
        "training.learning_rate: {low: 1e-4, high: 1, log: true}\n"  # YAML reads 1e-4 as a word
        "training: {patience: [null, 5], optimiser: [adam, adamw]}\n"
        "model:\n  dynamics.prototypes: {low: 1, high: 4}\n  dynamics: {top_k: [2, 3]}\n"
    )
    assert space == {
        "training.learning_rate": Range(1e-4, 1.0, log=True),
        "training.patience": Choice((None, 5)),
        "training.optimiser": Choice(("adam", "adamw")),
        "model.dynamics.prototypes": Range(1, 4),
        "model.dynamics.top_k": Choice((2, 3)),
    }
    assert not space["training.learning_rate"].whole and space["model.dynamics.prototypes"].whole


def test_a_kind_of_a_group_can_be_searched_by_its_name(read):
    assert read("model.dynamics: [messages, mlp]\n") == {
        "model.dynamics": Choice(("messages", "mlp"))
    }


@pytest.mark.parametrize(
    "text, words",
    [
        ("model.widht: [4, 8]", ['unknown setting "model.widht"', 'Did you mean "model.width"']),
        ("training.lr: [1, 2]", ['Did you mean "training.learning_rate"']),
        ("model.width: {low: 8, high: 4}", ["from 8 to 4 is empty", "low below high"]),
        ("model.width: {low: 8, high: 8}", ["is empty"]),
        ("model.width: [wide, 8]", ["\"model.width\" is 'wide'", "valid integer"]),
        ("model.width: {low: 1.5, high: 8}", ["model.width", "integer"]),
        ("training.batch: [0, 8]", ["greater than or equal to 1"]),
        ("training.weight_decay: {low: 0, high: 1, log: true}", ["has no logarithm"]),
        ("model.width: [8]", ["has 1 values", "at least 2", "--set"]),
        ("model.width: []", ["has 0 values"]),
        ("model.width: [8, 4, 8]", ["has 8 twice"]),
        ("model.width: 8", ["8 is no domain", "Expected a list such as [32, 64]"]),
        ("model.width: {}", ["is no domain"]),
        ("model.width: {low: 4}", ['has no "high"']),
        ("model.width: {low: 4, high: 8, logg: true}", ['no "logg"', 'Did you mean "log"']),
        ("model.width: {low: 4, high: 8, log: 3}", ["log is 3", "true or false"]),
        ("training.curriculum: [[[0.4, 3]], []]", ["the list holds a list"]),
        ("training.optimiser: {low: adam, high: adamw}", ["is no number", "a list of values"]),
        ("window.horizon: [6, 12]", ["errors of other windows cannot be compared"]),
        ("window: {starts: [first, all]}", ["cannot be compared"]),
        ("training.epochs: [2, 3]", ["--epochs"]),
        ("training.seed: [1, 2]", ["--seed"]),
        ("name: [gru, lstm]", ["--model"]),
        ("model.walls: [none, reflect]", ["walls has an effect with dynamics=laws only"]),
        ("- model.width", ["holds a list", "model.width: [32, 64]"]),
        ("model.width: [4", ["is not valid YAML"]),
        ("", ["names no settings", "--list-space"]),
    ],
)
def test_a_wrong_space_is_refused_with_a_reason(read, text, words):
    with pytest.raises(InputError) as caught:
        read(text)
    message = str(caught.value)
    assert "space.yaml" in message and "\n" not in message
    for each in words:
        assert each in message


def test_a_setting_cannot_be_both_fixed_and_searched(read):
    with pytest.raises(InputError, match="also fixed with --set"):
        read("model.width: [4, 8]", fixed={"model.width"})


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"gone.yaml.*Check the path"):
        read_space(tmp_path / "gone.yaml", run_config())
