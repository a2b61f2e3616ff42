"""Scores of forecasts: each a function of predictions."""
