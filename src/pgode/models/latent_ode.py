"""Latent models whose state follows an ordinary differential equation."""

from collections.abc import Callable
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from pgode.batches.windows import Batch
from pgode.models.latent import Encoded, LatentConfig, LatentForecaster
from pgode.nn.integrate import integrate
from pgode.ode import Derivative, Solution, SolverConfig


class LatentODEConfig(LatentConfig):
    """Settings of every latent ODE."""

    solver: SolverConfig = SolverConfig()


@dataclass(frozen=True)
class InitialValueProblem:
    """A derivative, the state at time 0, and the map from states and their times to features."""

    derivative: Derivative
    initial: Float[Tensor, "objects state"]
    decode: Callable[
        [Float[Tensor, "outputs objects state"], Float[Tensor, "systems outputs"]],
        Float[Tensor, "outputs objects features"],
    ]


class LatentODE(LatentForecaster):
    """A latent forecaster that states an initial value problem; solving it is the same for all."""

    config: LatentODEConfig

    def problem(
        self, batch: Batch, encoded: Encoded, initial: Float[Tensor, "objects latent"]
    ) -> InitialValueProblem:
        """The problem to solve from one initial latent state."""
        raise TypeError(f"{type(self).__name__} does not define problem")

    def rollout(
        self,
        batch: Batch,
        encoded: Encoded,
        initial: Float[Tensor, "objects latent"],
        times: Float[Tensor, "systems outputs"],
    ) -> tuple[Float[Tensor, "objects outputs features"], int]:
        """Solve from the end of the condition to `times`, and decode."""
        problem = self.problem(batch, encoded, initial)
        solution = self.solve(problem, batch, times)
        return problem.decode(solution.states, times).transpose(0, 1), solution.evaluations

    def solve(
        self, problem: InitialValueProblem, batch: Batch, times: Float[Tensor, "systems outputs"]
    ) -> Solution:
        """Every object's state at its system's `times`."""
        return integrate(problem.derivative, problem.initial, batch, times, self.config.solver)
