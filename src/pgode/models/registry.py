"""Names of the models. A new one is a file and a line here; it is imported when asked for."""

from difflib import get_close_matches
from importlib import import_module

from pgode.errors import InputError
from pgode.models.forecaster import Forecaster, ModelConfig
from pgode.normaliser import Normaliser
from pgode.settings import validated

MODELS: dict[str, str] = {
    "pgode": "pgode.models.pgode:PGODE",
    "last-value": "pgode.models.naive:LastValue",
    "constant-velocity": "pgode.models.naive:ConstantVelocity",
}


def model_class(name: str) -> type[Forecaster]:
    """The class behind a name."""
    if name not in MODELS:
        close = get_close_matches(name, MODELS, 1)
        hint = f' Did you mean "{close[0]}"?' if close else ""
        raise InputError(f'there is no model "{name}". Expected one of {", ".join(MODELS)}.{hint}')
    module, attribute = MODELS[name].split(":")
    found: type[Forecaster] = getattr(import_module(module), attribute)
    return found


def model_config(name: str, settings: dict[str, object]) -> ModelConfig:
    """Check a model's settings; an unknown key is an error with a suggestion."""
    return validated(model_class(name).config_type, settings, "model")


def build_model(name: str, config: ModelConfig, normaliser: Normaliser) -> Forecaster:
    """A model with fresh weights, for data that `normaliser` describes."""
    return model_class(name)(config, normaliser)
