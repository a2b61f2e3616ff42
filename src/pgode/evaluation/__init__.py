"""Scores of forecasts: squared errors, skill, probabilistic scores, conserved quantities."""

from pgode.evaluation.evaluate import evaluate
from pgode.evaluation.evaluation import Evaluation, NoiseFloor, ScoreTable
from pgode.evaluation.predictions import Predictions, predict
from pgode.evaluation.uncertainty.calibration import Calibration

__all__ = [
    "Calibration",
    "Evaluation",
    "NoiseFloor",
    "Predictions",
    "ScoreTable",
    "evaluate",
    "predict",
]
