"""A run folder and what is done with it: train, resume, forecast, evaluate, report."""
