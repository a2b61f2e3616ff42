"""Uncertainty: calibrated samples of forecasts, and the error that no forecast can avoid."""
