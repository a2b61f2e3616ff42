"""Uncertainty: calibrated samples of forecasts, and the irreducible error."""
