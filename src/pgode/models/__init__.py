"""Forecasters: one contract, one registry, one file or folder per system."""

from pgode.models.forecaster import Forecast, Forecaster, Losses, ModelConfig
from pgode.models.registry import MODELS, build_model, model_config

__all__ = [
    "MODELS",
    "Forecast",
    "Forecaster",
    "Losses",
    "ModelConfig",
    "build_model",
    "model_config",
]
