"""Scores of forecasts: squared errors, skill, probabilistic scores, conserved quantities."""

from pgode.evaluation.calibration import Calibration
from pgode.evaluation.evaluate import evaluate
from pgode.evaluation.predictions import Predictions, predict

__all__ = ["Calibration", "Predictions", "evaluate", "predict"]
