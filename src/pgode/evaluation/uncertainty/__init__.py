"""What is not known: calibrated spread of forecasts, and error that none can avoid."""
