"""How a perturbation of the initial state grows along a forecast, beside the bound of Theorem 3.1.

**What is perturbed.** Every object's initial state at once, each by a random direction of stated
norm. For PGODE it is the state that its differential equation starts from: [q, v, z] with
kinematics, z without. Contexts and gate stay, as in the theorem. A model without such a state, or
any model on request, gets the values of each object's last observed frame perturbed instead.

**The inequality.** With Z the state of all N objects of a system, e(t) the difference between the
perturbed and the unperturbed one, w_ik the weights of the gate, and f^k the right-hand side with
prototype k alone, of Lipschitz constant L^k, the proof shows for V = |e|^2 / 2

    |dV/dt|  <=  sum_i |e_i| sum_k w_ik L^k |e|  <=  R |e|^2,
    R  =  sqrt( sum_i ( sum_k w_ik L^k )^2 ),        hence  |e(t)| <= |e(0)| exp(R t).

That R is evaluated here for each system ("theorem"), with the largest quotient
|f^k(Z + D) - f^k(Z)| / |D| over pairs of states near the forecast's own trajectory for L^k.
L^k is the constant of the whole f^k, which the first step holds for; L_a^k L_r^k as printed would
leave out the sum over an object's neighbours. Beside it stands what needs no proof of its own:
|e(t)| <= |e(0)| exp(L t), with L the constant of the mixture.

**What it predicts.** With one prototype R = sqrt(N) L. With five, R lies between sqrt(N) times the
smallest and the largest L^k. So if each L^k is below the single prototype's L in mean (and
variance) over systems, five prototypes have the lower bound; if not, the theorem says nothing. That
premise is not proved but assumed, so it is measured and reported too. A lower bound on the rate of
growth does not mean slower growth either: that is what the growth itself is measured for.

All constants and rates are per frame.
"""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from pgode.batches.windows import Batch, Windows
from pgode.data.trajectories import Trajectories
from pgode.evaluation.predictions import BATCH
from pgode.evaluation.robustness.lipschitz import local_lipschitz, theorem_rate
from pgode.evaluation.robustness.perturbation import (
    Perturbations,
    Told,
    from_observation,
    from_state,
    part_of,
    spread,
)
from pgode.evaluation.robustness.perturbation_growth import (
    Norms,
    bounded,
    growth,
    statistics,
    system_steps,
)
from pgode.models.flow import Flow
from pgode.models.forecaster import Forecaster

STATES = 5
"""States along each system's trajectory, evenly spaced, at which Lipschitz constants are sought."""


@dataclass(frozen=True)
class _Constants:
    """Lipschitz constants and rates of each system, per frame, and the gate they were mixed by."""

    weights: Float[np.ndarray, "object prototype"]
    mixture: Float[np.ndarray, " system"]
    prototypes: Float[np.ndarray, "prototype system"]
    theorem: Float[np.ndarray, " system"]


@dataclass(frozen=True)
class _Found:
    """What one batch gives; a model without an integrated state has no `state` and no constants."""

    system: Int[np.ndarray, " object"]
    forecast: Norms
    state: Norms | None = None
    constants: _Constants | None = None


def robustness(
    model: Forecaster,
    data: Trajectories,
    condition: int,
    asked: Perturbations,
    told: Told = lambda share: None,
) -> dict[str, Any]:
    """Perturb the forecast of every system's first window, and sum up what came of it as JSON.

    Works in float64: in float32 the difference of two forecasts is soon rounding alone. Runs whose
    states have one size get the same random directions.
    """
    exact = deepcopy(model).double().eval().requires_grad_(False)
    windows = Windows(data, model.normaliser, condition, 1)
    generator = torch.Generator().manual_seed(asked.seed)
    found, batches = [], -(-len(windows) // BATCH)
    for number, single in enumerate(windows.batches(BATCH)):
        batch = single.to(dtype=torch.float64)
        with torch.no_grad():
            part = part_of(told, number / batches, (number + 1) / batches)
            found.append(_measured(exact, batch, asked, generator, part))
    return {"prototypes": model.prototypes, **_summary(found, asked)}


def _measured(
    model: Forecaster, batch: Batch, asked: Perturbations, generator: torch.Generator, told: Told
) -> _Found:
    times = torch.arange(1.0, asked.horizon + 1, dtype=torch.float64).expand(batch.systems, -1)
    system = batch.system.numpy()
    opened = None if asked.observed else model.flow(batch)
    if opened is None:
        ahead, free = from_observation(model, batch, times, asked.seed)
        return _Found(system, spread(ahead, free, asked, generator, told)[0])
    ahead, free = from_state(opened, times), torch.ones_like(opened.initial)
    forecast, state = spread(ahead, free, asked, generator, part_of(told, 0, 0.5))
    states = torch.cat([opened.initial.unsqueeze(0), opened.solve(opened.initial, times)])
    places = np.unique(np.linspace(0, asked.horizon, STATES).round().astype(int))
    constants = _constants(opened, states[places], batch.system, generator, part_of(told, 0.5, 1))
    return _Found(system, forecast, state, constants)


def _constants(
    opened: Flow, states: Tensor, system: Tensor, generator: torch.Generator, told: Told
) -> _Constants:
    """The largest constant found at any of the states, for the mixture and each prototype."""
    fields = (opened.mixture, *(opened.prototypes if len(opened.prototypes) > 1 else ()))
    found = []
    for k, field in enumerate(fields):
        here = [local_lipschitz(field, state, system, generator) for state in states]
        found.append(torch.stack(here).amax(0))
        told((k + 1) / len(fields))
    # A single prototype is the mixture itself.
    prototypes = torch.stack(found[1:] or found)
    rates = theorem_rate(opened.weights, prototypes, system)
    parts = (opened.weights, found[0], prototypes, rates)
    return _Constants(*(part.numpy() for part in parts))


def _summary(found: list[_Found], asked: Perturbations) -> dict[str, Any]:
    forecast = np.concatenate([each.forecast for each in found], axis=2)
    result: dict[str, Any] = {
        "perturbed": "observation",
        "forecast": growth(forecast, asked.magnitudes, asked.horizons),
        "state": None,
        "lipschitz": None,
        "bound": None,
    }
    states = [each.state for each in found if each.state is not None]
    parts = [each.constants for each in found if each.constants is not None]
    if not states or not parts:
        return result
    joined = _Constants(
        np.concatenate([part.weights for part in parts]),
        np.concatenate([part.mixture for part in parts]),
        np.concatenate([part.prototypes for part in parts], axis=1),
        np.concatenate([part.theorem for part in parts]),
    )
    state = np.concatenate(states, axis=2)
    first = np.cumsum([0, *(len(part.mixture) for part in parts[:-1])])
    system = np.concatenate([each.system + k for each, k in zip(found, first, strict=True)])
    return {
        **result,
        "perturbed": "state",
        "state": growth(state, asked.magnitudes, asked.horizons),
        "lipschitz": {
            "in_use": _in_use(joined.weights),
            "mixture": statistics(joined.mixture),
            "prototypes": [
                {"weight": float(weight), **statistics(values)}
                for weight, values in zip(joined.weights.mean(0), joined.prototypes, strict=True)
            ],
        },
        "bound": bounded(system_steps(state, system), joined.mixture, joined.theorem),
    }


def _in_use(weights: Float[np.ndarray, "object prototype"]) -> float:
    """How many prototypes an object has in use: exp of its weights' entropy, the mean over objects.

    1 where the gate gives every object one prototype alone, K where all have the same weight.
    """
    entropy = -(weights * np.log(np.where(weights > 0, weights, 1))).sum(1)
    return float(np.exp(entropy).mean())
