"""Learning-rate schedules as plain functions of the step, so that resuming needs no state."""

import math

WARM_UP = 0.1
"""Share of the steps in which a one-cycle schedule rises."""


def learning_rate(schedule: str, peak: float, step: int, steps: int) -> float:
    """The rate of step `step` out of `steps`."""
    done = step / max(steps, 1)
    if schedule == "constant":
        return peak
    if schedule == "one-cycle":
        if done < WARM_UP:
            return peak * (0.04 + 0.96 * _cosine(1 - done / WARM_UP))
        done = (done - WARM_UP) / (1 - WARM_UP)
    return peak * (1e-4 + (1 - 1e-4) * _cosine(done))


def _cosine(done: float) -> float:
    """Falls smoothly from 1 at 0 to 0 at 1."""
    return 0.5 * (1 + math.cos(math.pi * min(max(done, 0.0), 1.0)))
