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
    naive: Literal["always", "where it fits"] | None = None
    """Of a model that is scored beside every other: whether it has a row in every table, or only
    where `Naive.suits` says that it differs from "last value"."""


def _rival(path: str, description: str, citation: str) -> ModelEntry:
    return ModelEntry(f"pgode.models.rivals.{path}", description, citation)


def _naive(path: str, description: str, label: str, *, always: bool = False) -> ModelEntry:
    scored: Literal["always", "where it fits"] = "always" if always else "where it fits"
    return ModelEntry(f"pgode.models.naive.{path}", description, label=label, naive=scored)


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
    "last-value": _naive(
        "extrapolation:LastValue", "every feature keeps its last value", "last value", always=True
    ),
    "constant-velocity": _naive(
        "extrapolation:ConstantVelocity",
        "positions continue with their last velocity",
        "constant velocity",
        always=True,
    ),
    "mean-value": _naive(
        "extrapolation:MeanValue",
        "every feature is its mean over the condition",
        "mean of the condition",
    ),
    "damped-trend": _naive(
        "damped_trend:DampedTrend",
        "every feature continues its recent slope, which fades",
        "damped trend",
    ),
    "seasonal": _naive(
        "seasonal:Seasonal", "every feature repeats its last season", "one season ago"
    ),
    "seasonal-rate": _naive(
        "seasonal:SeasonalRate",
        "every feature is its mean over the last season, as a 7-day rate",
        "mean of the last season",
    ),
    "linear-past": _naive(
        "linear_past:LinearPast",
        "linear regression of each object on its own past",
        "linear regression on own past",
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
