"""Models by name."""

import pytest

from pgode.models import MODELS, Forecaster, build_model, model_config
from pgode.models.forecaster import ModelConfig
from pgode.models.registry import model_class
from pgode.runtime.errors import InputError


@pytest.mark.parametrize("name", MODELS)
def test_every_name_is_a_forecaster_with_a_config_of_its_own(name):
    found = model_class(name)
    assert issubclass(found, Forecaster)
    assert issubclass(found.config_type, ModelConfig) and found.config_type is not ModelConfig
    assert isinstance(model_config(name, {}), found.config_type)


@pytest.mark.parametrize("name", MODELS)
def test_every_preset_has_settings_the_model_knows(name):
    found = model_class(name)
    assert "default" in found.presets
    for preset in found.presets.values():
        model_config(name, preset.get("model", {}))


@pytest.mark.parametrize("name", MODELS)
def test_every_setting_says_what_it_is(name):
    fields = model_class(name).config_type.model_fields
    bare = [key for key, field in fields.items() if key != "solver" and not field.description]
    assert bare == []


def test_unknown_name_is_refused_with_the_nearest_one():
    with pytest.raises(InputError, match='no model "pgod"') as raised:
        model_class("pgod")
    assert 'Did you mean "pgode"?' in str(raised.value)
    assert "last-value" in str(raised.value)


def test_unknown_setting_is_refused_with_the_nearest_one():
    with pytest.raises(InputError, match="unknown setting") as raised:
        model_config("pgode", {"prototype": 5})
    assert '"model.prototype". Did you mean "prototypes"?' in str(raised.value)


def test_unknown_setting_of_a_group_is_refused_with_its_whole_name():
    with pytest.raises(InputError, match=r'"model.solver.rtoll"\. Did you mean "rtol"'):
        model_config("pgode", {"solver": {"rtoll": 1e-3}})


@pytest.mark.parametrize(
    "settings",
    [{"width": 0}, {"gate": "both"}, {"sigma": 0}, {"top": 0}, {"kl": -1}, {"solver": {"step": 0}}],
)
def test_senseless_setting_is_refused_by_name(settings):
    (key,) = settings
    with pytest.raises(InputError, match=f'the setting "model.{key}'):
        model_config("pgode", settings)


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
