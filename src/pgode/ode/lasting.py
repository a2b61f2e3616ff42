"""Solves over many frames: what is finite is kept, and the budget grows with the time."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from jaxtyping import Float
from torch import Tensor

from pgode.ode.settings import SolverConfig

FRAMES = 100
"""Frames that the budget of a solve is meant for; a longer one has as much for each hundred."""

_LASTING: ContextVar[bool] = ContextVar("lasting", default=False)


@contextmanager
def lasting_solves() -> Iterator[None]:
    """Within it, states that stop being finite are NaN from there on, and no error.

    A forecast of ten thousand frames is then not lost with the one system that diverges. In
    training a state that is not finite stays an error.
    """
    token = _LASTING.set(True)
    try:
        yield
    finally:
        _LASTING.reset(token)


def is_lasting() -> bool:
    """Whether states that are not finite are kept as NaN."""
    return _LASTING.get()


def with_budget(config: SolverConfig, latest: float) -> SolverConfig:
    """The settings with a budget that suits a solve up to the time `latest`."""
    hundreds = latest / config.frame_time / FRAMES
    if not is_lasting() or hundreds <= 1:
        return config
    budget = int(config.max_evaluations * hundreds)
    return config.model_copy(update={"max_evaluations": budget})


def kept(states: Float[Tensor, "outputs rows width"]) -> Float[Tensor, "outputs rows width"]:
    """The states of each row up to its first output that is not finite; NaN afterwards."""
    finite = torch.isfinite(states).all(2).cummin(0).values
    return states.masked_fill(~finite.unsqueeze(2), torch.nan)
