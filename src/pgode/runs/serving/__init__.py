"""Forecasts of arrays by a model that stays warm, for services and control loops."""
