"""Models by name."""

from typing import get_args

import pytest

from pgode.models import MODELS, Forecaster, build_model, model_config
from pgode.models.forecaster import ModelConfig
from pgode.models.registry import NAIVE, model_class
from pgode.runtime.errors import InputError
from pgode.runtime.settings import Settings
from pgode.training.presets import presets_of


@pytest.mark.parametrize("name", MODELS)
def test_every_name_is_a_forecaster_with_a_config_of_its_own(name):
    found = model_class(name)
    assert issubclass(found, Forecaster)
    assert issubclass(found.config_type, ModelConfig) and found.config_type is not ModelConfig
    assert isinstance(model_config(name, {}), found.config_type)


def test_models_that_learn_nothing_and_a_regression_are_naive_and_have_a_label():
    fitted = "linear-past"  # in closed form, with no gradient and no interaction
    learn_nothing = [name for name in MODELS if not model_class(name).trainable]
    assert list(NAIVE) == [*learn_nothing, fitted]
    assert all(entry.label for entry in NAIVE.values())


@pytest.mark.parametrize("name", MODELS)
def test_every_preset_has_settings_the_model_knows(name):
    presets = presets_of(name)
    assert "default" in presets
    for preset in presets.values():
        model_config(name, preset.get("model", {}))


def undescribed(group):
    """Settings without a description, in the groups of a model's config and in all their kinds."""
    for key, field in group.model_fields.items():
        kinds = get_args(field.annotation) or (field.annotation,)
        groups = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Settings)]
        for inner in groups:
            yield from (f"{key}.{name}" for name in undescribed(inner))
        if not groups and not field.description and key != "kind":
            yield key


@pytest.mark.parametrize("name", MODELS)
def test_every_setting_says_what_it_is(name):
    assert list(undescribed(model_class(name).config_type)) == []


def test_unknown_name_is_refused_with_the_nearest_one():
    with pytest.raises(InputError, match='no model "pgod"') as raised:
        model_class("pgod")
    assert 'Did you mean "pgode"?' in str(raised.value)
    assert "last-value" in str(raised.value)


def test_unknown_setting_is_refused_with_the_nearest_one():
    with pytest.raises(InputError, match="unknown setting") as raised:
        model_config("pgode", {"dynamics": {"prototype": 5}})
    assert str(raised.value) == (
        'unknown setting "model.dynamics.prototype" of the kind "messages". '
        'Did you mean "model.dynamics.prototypes"?'
    )


def test_unknown_setting_of_a_group_is_refused_with_its_whole_name():
    with pytest.raises(InputError, match=r'solver.rtoll"\. Did you mean "model.solver.rtol"'):
        model_config("pgode", {"solver": {"rtoll": 1e-3}})


@pytest.mark.parametrize(
    "settings",
    [
        {"width": 0},
        {"gate": {"contexts": "none"}},
        {"objective": {"sigma": 0}},
        {"dynamics": {"top_k": 0}},
        {"objective": {"kl_weight": -1}},
        {"solver": {"step": 0}},
        {"dynamics": "none"},
    ],
)
def test_senseless_setting_is_refused_by_name(settings):
    ((key, value),) = settings.items()
    key = f"{key}.{next(iter(value))}" if isinstance(value, dict) else key
    with pytest.raises(InputError, match=f'the setting "model.{key}'):
        model_config("pgode", settings)


@pytest.mark.parametrize(
    "old, new",
    [
        ({"kinematics": False}, r"model\.state\.kind"),
        ({"gate": "system"}, r"model\.gate\.contexts"),
        ({"dynamics": "prototypes"}, r"model\.dynamics\.kind=messages"),
        ({"prototypes": 3}, r"model\.dynamics\.prototypes"),
        ({"kl": 0.5}, r"model\.objective\.kl_weight"),
    ],
)
def test_name_of_an_earlier_version_is_refused_with_the_new_one(old, new):
    (key,) = old
    with pytest.raises(InputError, match=f'the setting "model.{key}" is now "{new}'):
        model_config("pgode", old)


def test_model_is_built_for_the_data_that_the_normaliser_describes(normaliser):
    model = build_model("pgode", model_config("pgode", {"width": 4}), normaliser)
    assert model.normaliser is normaliser
    assert model.state.size == len(normaliser.positions) == 2
    assert model.dynamics.gather.edge.shape[0] == len(normaliser.edge_attributes)


def test_forecaster_without_a_forecast_says_which_model_lacks_it(normaliser, batch):
    class Unfinished(Forecaster):
        pass

    model = Unfinished(ModelConfig(), normaliser)
    for call in (lambda: model.loss(batch), lambda: model.forecast(batch, batch.target_times)):
        with pytest.raises(TypeError, match="Unfinished does not define forecast"):
            call()
