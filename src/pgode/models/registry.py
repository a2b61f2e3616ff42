"""Names of the models. A new one is a file and a line here; it is imported when it is used."""

from dataclasses import dataclass
from importlib import import_module
from typing import Literal

from pgode.batches.normaliser import Normaliser
from pgode.models.forecaster import Forecaster, ModelConfig
from pgode.runtime.choices import one_of
from pgode.runtime.settings import validated


@dataclass(frozen=True)
class ModelEntry:
    """Import path, description and citation of a model, and its display name if it differs."""

    path: str
    description: str
    citation: str = ""
    label: str = ""
    naive: Literal["all data", "without velocities"] | None = None
    """Of a model that learns nothing: the data on which it is scored beside every other model."""


def _rival(path: str, description: str, citation: str) -> ModelEntry:
    return ModelEntry(f"pgode.models.rivals.{path}", description, citation)


MODELS: dict[str, ModelEntry] = {
    "pgode": ModelEntry(
        "pgode.models.pgode:PGODE", "prototypical graph ODE", "Luo et al., ICML 2024"
    ),
    "lstm": _rival(
        "recurrent:LSTM", "recurrent, each object alone", "Hochreiter & Schmidhuber, 1997"
    ),
    "gru": _rival("recurrent:GRU", "recurrent, each object alone", "Cho et al., EMNLP 2014"),
    "node": _rival("node:NODE", "latent ODE, each object alone", "Chen et al., NeurIPS 2018"),
    "lg-ode": _rival("lgode:LGODE", "latent graph ODE", "Huang et al., NeurIPS 2020"),
    "mpnode": _rival(
        "mpnode:MPNODE", "message-passing ODE with learned messages", "Gupta et al., 2022"
    ),
    "social-ode": _rival(
        "socialode:SocialODE", "latent ODE with social attention", "Wen et al., ECCV 2022"
    ),
    "hope": _rival("hope:HOPE", "second-order graph ODE, twin encoder", "Luo et al., ICML 2023"),
    "nri": _rival("nri:NRI", "infers the graph, then message passing", "Kipf et al., ICML 2018"),
    "agentformer": _rival(
        "agentformer:AgentFormer", "agent-aware transformer, CVAE", "Yuan et al., ICCV 2021"
    ),
    "i-gpode": _rival(
        "igpode:IGPODE", "Gaussian-process ODE of pair forces", "Yildiz et al., NeurIPS 2022"
    ),
    "egnn": _rival("egnn:EGNN", "E(n)-equivariant graph network", "Satorras et al., ICML 2021"),
    "eqmotion": _rival(
        "eqmotion:EqMotion", "equivariant, all frames at once", "Xu et al., CVPR 2023"
    ),
    "last-value": ModelEntry(
        *("pgode.models.naive:LastValue", "every feature keeps its last value"),
        label="last value",
        naive="all data",
    ),
    "constant-velocity": ModelEntry(
        *("pgode.models.naive:ConstantVelocity", "positions continue with their last velocity"),
        label="constant velocity",
        naive="all data",
    ),
    "mean-value": ModelEntry(
        *("pgode.models.naive:MeanValue", "every feature is its mean over the condition"),
        label="mean of the condition",
        naive="without velocities",  # the mean suits objects that fluctuate
    ),
}
NAIVE = {name: entry for name, entry in MODELS.items() if entry.naive is not None}


def model_class(name: str) -> type[Forecaster]:
    """The class behind a name."""
    module, attribute = MODELS[one_of("model", name, MODELS)].path.split(":")
    model: type[Forecaster] = getattr(import_module(module), attribute)
    return model


def model_config(name: str, settings: dict[str, object]) -> ModelConfig:
    """Check a model's settings; an unknown key is an error with a suggestion."""
    return validated(model_class(name).config_type, settings, "model")


def build_model(name: str, config: ModelConfig, normaliser: Normaliser) -> Forecaster:
    """A model with fresh weights, for data that `normaliser` describes."""
    return model_class(name).build(config, normaliser)
