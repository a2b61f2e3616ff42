"""How a perturbation of the initial state grows along a forecast, beside the bound of Theorem 3.1.

**What is perturbed.** The initial states of all objects at once, each in a random direction of
given norm. For a model that integrates a state this is the initial value of its differential
equation: for PGODE [q, v, z] with kinematics, z without. Contexts and gate stay fixed, as in the
theorem. For other models, and on request for every model, the values of each object's last observed
frame are perturbed instead.

**The inequality.** Let Z be the state of all N objects of a system, e(t) its perturbed minus its
unperturbed value, w_ik the gate weights, and f^k the right-hand side with prototype k alone, of
Lipschitz constant L^k. For V = |e|^2 / 2 the proof shows

    |dV/dt|  <=  sum_i |e_i| sum_k w_ik L^k |e|  <=  R |e|^2,
    R  =  sqrt( sum_i ( sum_k w_ik L^k )^2 ),        hence  |e(t)| <= |e(0)| exp(R t).

This R is evaluated for each system ("theorem"), with L^k estimated by the largest quotient
|f^k(Z + D) - f^k(Z)| / |D| over pairs of states near the unperturbed trajectory. L^k is the
constant of the full f^k, for which the first step holds; L_a^k L_r^k as printed would leave out the
sum over an object's neighbours. For comparison the constant L of the mixture is given as well, for
which |e(t)| <= |e(0)| exp(L t) holds without any theorem.

**What it predicts.** With one prototype R = sqrt(N) L. With several, R lies between sqrt(N) times
the smallest and the largest L^k. So if every L^k is below the L of the single prototype, in mean
(and variance) over systems, several prototypes have the lower bound; otherwise the theorem makes no
statement. The paper assumes this premise without proof, so it is measured and reported too. Nor
does a lower bound on the rate imply slower growth, which is why the growth itself is measured.

All constants and rates are per frame.
"""

from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from pgode.batches.devices import has_doubles
from pgode.batches.windows import Batch, Windows
from pgode.data.trajectories import Trajectories
from pgode.evaluation.predictions import BATCH
from pgode.evaluation.robustness.lipschitz import local_lipschitz, theorem_rate
from pgode.evaluation.robustness.perturbation import (
    OnProgress,
    Perturbations,
    difference_norms,
    progress_between,
    rollout_from_observation,
    rollout_from_state,
)
from pgode.evaluation.robustness.perturbation_growth import (
    Norms,
    bound,
    growth,
    statistics,
    system_steps,
)
from pgode.evaluation.robustness.result import Lipschitz, PrototypeConstant, RunRobustness
from pgode.models.flow import Flow
from pgode.models.forecaster import Forecaster
from pgode.runtime.memory import refuse_beyond_memory
from pgode.training.gate_use import GateUse

HELD = 2
"""How often the norms of all differences are held at once, at least: in parts, and joined."""
STATES = 5
"""Evenly spaced states along each system's trajectory at which Lipschitz constants are searched."""


@dataclass(frozen=True)
class _Constants:
    """Lipschitz constants and theorem rates of each system, per frame, with the gate weights."""

    weights: Float[np.ndarray, "object prototype"]
    mixture: Float[np.ndarray, " system"]
    prototypes: Float[np.ndarray, "prototype system"]
    theorem: Float[np.ndarray, " system"]


@dataclass(frozen=True)
class _BatchMeasurement:
    """The measurements of one batch; `state` and `constants` only for models with a flow."""

    system: Int[np.ndarray, " object"]
    forecast: Norms
    state: Norms | None = None
    constants: _Constants | None = None


def measure_model(
    model: Forecaster,
    data: Trajectories,
    condition: int,
    perturbations: Perturbations,
    on_progress: OnProgress = lambda share: None,
) -> RunRobustness:
    """Perturb the forecasts of every system's first window and summarise how the difference grows.

    Works in float64: in float32 the difference of two forecasts soon consists of rounding errors.
    Models whose states have the same shape get the same random directions.
    """
    objects = float(data.n_objects.sum())
    norms = len(perturbations.magnitudes) * perturbations.draws * (perturbations.horizon + 1)
    refuse_beyond_memory(
        8 * HELD * objects * norms,
        f"measuring {data.systems} systems over {perturbations.horizon} frames with "
        f"{perturbations.draws} draws of {len(perturbations.magnitudes)} magnitudes",
        "Measure fewer systems (--split), frames (--horizon), --draws or --magnitudes.",
    )
    device = model.device if has_doubles(model.device) else torch.device("cpu")
    exact = deepcopy(model).to(device).double().eval().requires_grad_(False)
    ahead = perturbations.horizon if model.normaliser.inputs else 1
    windows = Windows(data, model.normaliser, condition, ahead)
    generator = torch.Generator().manual_seed(perturbations.seed)
    measured, batches = [], -(-len(windows) // BATCH)
    for number, float32_batch in enumerate(windows.batches(BATCH)):
        batch = float32_batch.to(device, torch.float64)
        batch_progress = progress_between(on_progress, number / batches, (number + 1) / batches)
        with torch.no_grad():
            measured.append(_measure_batch(exact, batch, perturbations, generator, batch_progress))
    return _summary(model.prototypes, measured, perturbations)


def _measure_batch(
    model: Forecaster,
    batch: Batch,
    perturbations: Perturbations,
    generator: torch.Generator,
    on_progress: OnProgress,
) -> _BatchMeasurement:
    horizon, system = perturbations.horizon, batch.system.cpu().numpy()
    times = torch.arange(1.0, horizon + 1, dtype=torch.float64, device=batch.states.device)
    times = times.expand(batch.systems, -1)
    flow = None if perturbations.observed else model.flow(batch)
    if flow is None:
        rollout, mask = rollout_from_observation(model, batch, times, perturbations.seed)
        forecast, _ = difference_norms(rollout, mask, perturbations, generator, on_progress)
        return _BatchMeasurement(system, forecast)
    rollout, mask = rollout_from_state(flow, times), torch.ones_like(flow.initial)
    first_half, second_half = (progress_between(on_progress, k, k + 0.5) for k in (0, 0.5))
    forecast, state = difference_norms(rollout, mask, perturbations, generator, first_half)
    states = torch.cat([flow.initial.unsqueeze(0), flow.solve(flow.initial, times)])
    chosen = np.unique(np.linspace(0, horizon, STATES).round().astype(int))
    constants = _constants(flow, states[chosen], batch.system, generator, second_half)
    return _BatchMeasurement(system, forecast, state, constants)


def _constants(
    flow: Flow, states: Tensor, system: Tensor, generator: torch.Generator, on_progress: OnProgress
) -> _Constants:
    """The largest constant over the given states, of the mixture and of each prototype."""
    # A single prototype is the mixture itself.
    fields = (flow.mixture, *(flow.prototypes if len(flow.prototypes) > 1 else ()))
    constants = []
    for k, field in enumerate(fields):
        at_states = [local_lipschitz(field, state, system, generator) for state in states]
        constants.append(torch.stack(at_states).amax(0))
        on_progress((k + 1) / len(fields))
    prototypes = torch.stack(constants[1:] or constants)
    theorem = theorem_rate(flow.weights, prototypes, system)
    numbers = (flow.weights, constants[0], prototypes, theorem)
    return _Constants(*(each.cpu().numpy() for each in numbers))


def _summary(
    prototypes: int | None, measured: list[_BatchMeasurement], perturbations: Perturbations
) -> RunRobustness:
    magnitudes, horizons = perturbations.magnitudes, perturbations.horizons
    forecast = np.concatenate([each.forecast for each in measured], axis=2)
    forecast_growth = growth(forecast, magnitudes, horizons)
    states = [each.state for each in measured if each.state is not None]
    parts = [each.constants for each in measured if each.constants is not None]
    if not states or not parts:
        return RunRobustness(
            prototypes=prototypes, perturbed="observation", forecast=forecast_growth
        )
    state = np.concatenate(states, axis=2)
    # Systems are numbered within their batch; offsets make the numbers unique.
    first = np.cumsum([0, *(len(part.mixture) for part in parts[:-1])])
    system = np.concatenate([each.system + k for each, k in zip(measured, first, strict=True)])
    theorem = np.concatenate([part.theorem for part in parts])
    return RunRobustness(
        prototypes=prototypes,
        perturbed="state",
        forecast=forecast_growth,
        state=growth(state, magnitudes, horizons),
        lipschitz=_lipschitz(parts),
        bound=bound(system_steps(state, system), theorem),
    )


def _lipschitz(parts: list[_Constants]) -> Lipschitz:
    """The constants of all batches, summarised over systems."""
    weights = np.concatenate([part.weights for part in parts])
    prototypes = np.concatenate([part.prototypes for part in parts], axis=1)
    use = GateUse.of(weights)
    return Lipschitz(
        effective_prototypes=1.0 if use is None else use.per_object,
        mixture=statistics(np.concatenate([part.mixture for part in parts])),
        prototypes=tuple(
            PrototypeConstant(float(weight), statistics(constants))
            for weight, constants in zip(weights.mean(0), prototypes, strict=True)
        ),
    )
