"""MPNODE: neural ODE modules, one per object, that exchange messages as part of their state.

The state of an object is its observed state x and a short learned message m to its neighbours,
which starts at 0. One network gives the derivative of both:

    d[x_i; m_i]/dt = f([x_i, mean_j w_ij m_j, u_i])

Jayesh K. Gupta, Sai Vemprala and Ashish Kapoor, "Learning Modular Simulations for Homogeneous
Systems", NeurIPS 2022.

Simplified: the mean is weighted by the attributes of the edges (one mean for each), so that the
sign of a charge matters; the original has plain edges. u_i, a known control in the original, is
here a recurrent summary of the object's condition and its number of neighbours, constant in time:
the parameters of the system show in the history only, and a mean does not depend on the number of
neighbours; constants and known inputs, which are such controls, are beside x. The graph is that
at the end of the condition. Steps are fixed (rk4); the original has
an adaptive solver.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn

from pgode.batches.graph import Graph
from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.models.forecaster import Forecast, Forecaster, ModelConfig
from pgode.nn.exogenous import NOTHING, Driven, Exogenous
from pgode.nn.frames import last_observed
from pgode.nn.integrate import integrate
from pgode.nn.recurrent import RecurrentEncoder
from pgode.ode import Derivative, SolverConfig
from pgode.runtime.limits.bounds import WIDTH


class MPNODEConfig(ModelConfig):
    """Sizes of the modules."""

    width: int = Field(
        64, ge=1, le=WIDTH, description="hidden units of f's two layers and of the summary"
    )
    message: int = Field(8, ge=1, le=WIDTH, description="length of the message m")
    solver: SolverConfig = SolverConfig()


class Module(nn.Module):
    """f: two tanh layers and a linear one."""

    def __init__(
        self,
        features: int,
        message: int,
        attributes: int,
        width: int,
        exogenous: Exogenous = NOTHING,
    ) -> None:
        super().__init__()
        self.features, self.exogenous = features, exogenous
        self.inner = nn.Linear(features + attributes * message + exogenous.width, width)
        self.outer = nn.Linear(width + 1, width, bias=False)
        self.second = nn.Linear(width, width)
        self.third = nn.Linear(width, features + message)

    def bind(self, summary: Float[Tensor, "objects width"], graph: Graph) -> Driven:
        """The derivative of [x; m]; its constant part is computed once."""
        neighbours = torch.log1p(graph.degree).unsqueeze(1)
        constant = self.outer(torch.cat([summary, neighbours], dim=1))
        mean = mean_of_neighbours(graph)

        def given(known: Tensor) -> Derivative:
            def derivative(t: Tensor, y: Tensor) -> Tensor:
                x, m = y[:, : self.features], y[:, self.features :]
                hidden = torch.tanh(self.inner(torch.cat([x, mean(m), known], dim=1)) + constant)
                out: Tensor = self.third(torch.tanh(self.second(hidden)))
                return out

            return derivative

        return Driven(self.exogenous, given)


def mean_of_neighbours(
    graph: Graph,
) -> Callable[[Float[Tensor, "objects message"]], Float[Tensor, "objects means"]]:
    """m -> [mean_j e_ijk m_j for each edge attribute k]; 0 without neighbours."""
    share = 1 / graph.degree.clamp(min=1)[graph.receivers]
    weights = [(column * share).contiguous() for column in graph.attributes.unbind(1)]
    return lambda m: torch.cat([graph.weighted_sum(m, weight) for weight in weights], dim=1)


class MPNODE(Forecaster):
    """Modules coupled by the mean of their neighbours' messages."""

    config: MPNODEConfig
    config_type = MPNODEConfig
    known_inputs = "ahead"

    def __init__(self, config: MPNODEConfig, normaliser: Normaliser) -> None:
        super().__init__(config, normaliser)
        features, attributes = len(normaliser.features), len(normaliser.edge_attributes)
        exogenous = Exogenous.of(normaliser)
        self.encoder = RecurrentEncoder(
            features, config.width, backwards=False, exogenous=exogenous
        )
        self.module = Module(features, config.message, attributes, config.width, exogenous)

    def forecast(
        self, batch: Batch, times: Float[Tensor, "systems outputs"], samples: int = 0
    ) -> Forecast:
        """Integrate [x; m] from [last observation; 0]; nothing is random."""
        start, _ = last_observed(batch)
        summary = self.encoder(batch)
        initial = nn.functional.pad(start, (0, self.config.message))
        derivative = self.module.bind(summary, batch.graph)
        solution = integrate(derivative, initial, batch, times, self.config.solver)
        mean = solution.states[..., : start.shape[1]].transpose(0, 1)
        draws = mean.expand(samples, *mean.shape)
        return Forecast(mean, draws, {"summary": summary}, solution.evaluations)
