"""The default spaces: of every model and preset, always with the preset's own value."""

import pytest

from pgode.models.registry import MODELS, NAIVE
from pgode.runtime.errors import InputError
from pgode.training.config import run_config
from pgode.training.presets import presets_of
from pgode.tuning.space.default import LAWS, default_space
from pgode.tuning.space.domains import Choice, Range, contains
from pgode.tuning.space.settings import changed, description_of, value_of

CASES = [(model, preset) for model in MODELS if model not in NAIVE for preset in presets_of(model)]


@pytest.mark.parametrize("model, preset", CASES)
def test_every_preset_lies_in_its_own_space_of_settings_that_exist(model, preset):
    config = run_config(model, preset)
    space = default_space(config)
    assert 3 <= len(space) <= 11
    for name, domain in space.items():
        assert contains(domain, value_of(config, name)), name
        assert description_of(config, name), name
        ends = domain.values if isinstance(domain, Choice) else (domain.low, domain.high)
        for value in ends:
            assert value_of(changed(config, {name: value}), name) == value


def test_message_prototypes_are_searched_around_their_preset():
    space = default_space(run_config(preset="messages"))
    assert space["training.learning_rate"] == Range(1e-4, 1e-2, log=True)
    assert space["model.width"] == Choice((64, 128, 256))
    assert space["model.dynamics.prototypes"] == Choice((2, 3, 5, 8))
    assert space["model.solver.step"] == Choice((0.05, 0.1))


def test_a_setting_without_effect_is_left_out():
    assert "training.weight_decay" in default_space(run_config(preset="messages"))
    assert "training.weight_decay" not in default_space(run_config(preset="paper"))  # plain Adam
    adaptive = run_config(preset="messages", changes={"model.solver.method": "dopri5"})
    assert "model.solver.step" not in default_space(adaptive)


def test_laws_alone_have_no_settings_of_a_training():
    laws = changed(run_config(), {"model.dynamics.messages": False})
    assert set(default_space(laws)) == set(LAWS)
    both = changed(run_config(), {"model.dynamics.messages": True})
    assert {*LAWS, "training.learning_rate", "model.width"} <= set(default_space(both))


def test_a_setting_that_the_user_fixed_is_not_searched():
    space = default_space(run_config(preset="messages"), {"model.width", "window.condition"})
    assert "model.width" not in space and "training.batch" in space


def test_a_naive_model_has_nothing_to_search():
    with pytest.raises(InputError, match='"last-value" has no settings to search'):
        default_space(run_config("last-value"))
