"""The levels of stored quantiles."""

import numpy as np

LEVELS = np.concatenate([[0.005, 0.01], np.arange(0.025, 0.98, 0.025), [0.99, 0.995]])
"""Levels of the quantiles of residuals, in a calibration and in joint residuals."""
