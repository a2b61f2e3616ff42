"""Naive models: forecasts without interactions, one of which every model has to beat."""

from pgode.models.naive.extrapolation import ConstantVelocity, LastValue, MeanValue, Naive

__all__ = ["ConstantVelocity", "LastValue", "MeanValue", "Naive"]
