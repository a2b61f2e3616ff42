"""Names of the models. A new one is a file and a line here; it is imported when asked for."""

from difflib import get_close_matches
from importlib import import_module

from pgode.batches.normaliser import Normaliser
from pgode.models.forecaster import Forecaster, ModelConfig
from pgode.runtime.errors import InputError
from pgode.runtime.settings import validated

MODELS: dict[str, str] = {
    "pgode": "pgode.models.pgode:PGODE",
    "lstm": "pgode.models.rivals.recurrent:LSTM",
    "gru": "pgode.models.rivals.recurrent:GRU",
    "node": "pgode.models.rivals.node:NODE",
    "lg-ode": "pgode.models.rivals.lgode:LGODE",
    "mpnode": "pgode.models.rivals.mpnode:MPNODE",
    "social-ode": "pgode.models.rivals.socialode:SocialODE",
    "hope": "pgode.models.rivals.hope:HOPE",
    "nri": "pgode.models.rivals.nri:NRI",
    "agentformer": "pgode.models.rivals.agentformer.model:AgentFormer",
    "i-gpode": "pgode.models.rivals.igpode.model:IGPODE",
    "egnn": "pgode.models.rivals.egnn:EGNN",
    "eqmotion": "pgode.models.rivals.eqmotion:EqMotion",
    "last-value": "pgode.models.naive:LastValue",
    "constant-velocity": "pgode.models.naive:ConstantVelocity",
    "mean-value": "pgode.models.naive:MeanValue",
}

ABOUT: dict[str, tuple[str, str]] = {
    "pgode": ("prototypical graph ODE", "Luo et al., ICML 2024"),
    "lstm": ("recurrent, each object alone", "Hochreiter & Schmidhuber, 1997"),
    "gru": ("recurrent, each object alone", "Cho et al., EMNLP 2014"),
    "node": ("latent ODE, each object alone", "Chen et al., NeurIPS 2018"),
    "lg-ode": ("latent graph ODE", "Huang et al., NeurIPS 2020"),
    "mpnode": ("message-passing ODE with learned messages", "Gupta et al., 2022"),
    "social-ode": ("latent ODE with social attention", "Wen et al., ECCV 2022"),
    "hope": ("second-order graph ODE, twin encoder", "Luo et al., ICML 2023"),
    "nri": ("infers the graph, then message passing", "Kipf et al., ICML 2018"),
    "agentformer": ("agent-aware transformer, CVAE", "Yuan et al., ICCV 2021"),
    "i-gpode": ("Gaussian-process ODE of pair forces", "Yildiz et al., NeurIPS 2022"),
    "egnn": ("E(n)-equivariant graph network", "Satorras et al., ICML 2021"),
    "eqmotion": ("equivariant, all frames at once", "Xu et al., CVPR 2023"),
    "last-value": ("every feature keeps its last value", ""),
    "constant-velocity": ("positions go on as they went", ""),
    "mean-value": ("every feature is its mean over the condition", ""),
}
"""What each model is, and where it comes from."""


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
