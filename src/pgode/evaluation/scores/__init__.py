"""Scores of forecasts: the table of metrics, errors of single frames, conserved quantities."""

from pgode.evaluation.scores.metrics import METRICS, Metric

__all__ = ["METRICS", "Metric"]
