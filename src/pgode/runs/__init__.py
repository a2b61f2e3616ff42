"""Run folders: train, resume, forecast, evaluate, report."""
