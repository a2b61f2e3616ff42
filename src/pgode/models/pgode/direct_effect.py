"""The part of an observation that the inputs of its own frame cause, such as the weekday's."""

from dataclasses import replace

from jaxtyping import Float
from torch import Tensor, nn

from pgode.batches.windows import Batch
from pgode.nn.exogenous import Exogenous
from pgode.nn.initialisation import scaled

START = 0.01
"""Factor on the initial weights: untrained, inputs have no direct effect."""


class DirectEffect(nn.Module):
    """E(d_i(t)), with d the constants and inputs: what comes and goes with the inputs themselves.

    Counts that are low each Sunday do not fall by an integrated change that Monday takes back. A
    forecast is made of observations without this part, which then returns with the inputs of the
    times of the forecast:

        x_i(t) = E(d_i(t)) + forecast of (x_i - E(d_i))

    A constant of E would cancel, so its last layer has none. Positions do not jump with an input:
    the features that E is for are values that are neither positions nor velocities.
    """

    def __init__(self, exogenous: Exogenous, width: int, features: list[int]) -> None:
        super().__init__()
        self.exogenous, self.features = exogenous, features
        self.first = nn.Linear(exogenous.width, width)
        self.second = scaled(nn.Linear(width, len(features), bias=False), START)

    def forward(
        self, batch: Batch, times: Float[Tensor, "systems outputs"]
    ) -> Float[Tensor, "outputs objects features"]:
        """E at the times of a forecast; 0 for features that it is not for."""
        return self._effect(batch, self.exogenous.at(batch, times)).transpose(0, 1)

    def removed(self, batch: Batch) -> Batch:
        """The batch with its observations as they would be without the effect."""
        effect = self._effect(batch, self.exogenous.past(batch))
        return replace(batch, states=batch.states - effect * batch.observed)

    def _effect(
        self, batch: Batch, given: Float[Tensor, "objects times exogenous"]
    ) -> Float[Tensor, "objects times features"]:
        effect = batch.states.new_zeros(*given.shape[:2], batch.states.shape[2])
        effect[..., self.features] = self.second(nn.functional.silu(self.first(given)))
        return effect
