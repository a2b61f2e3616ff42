"""Forecasts over many frames: how many systems fit at once, and where each stops being sound."""
