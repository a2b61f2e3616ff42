"""The error of the known law: the floor of any model of simulated data."""

import json
from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from pgode.batches.windows import Windows
from pgode.data.simulate.simulation import columns, generated_by
from pgode.data.simulate.system import ParameterColumns, ParticleSystem, Schedule
from pgode.data.trajectories import Trajectories
from pgode.evaluation.predictions import Predictions

FITTED = "strength"
"""The parameter that is fitted to the observed frames; all others are those of the simulation."""

GRID = 33
"""Values tried over the range of the parameter, and somewhat beyond, before the refinement."""
BEYOND = 0.5
REFINEMENTS = 30
"""Golden-section steps: they narrow the strength to about 1e-7 of its range."""
NEGLIGIBLE = 1e-12
"""Squared errors below this do not count, so that one exact frame does not decide the fit."""


def predict_by_law(windows: Windows, like: Predictions) -> Predictions | None:
    """Forecasts of the same windows as `like` by the law that simulated the data.

    They start from the observed frames in single precision, which is what a model sees. None where
    the law is not known, or a system has other frames than the simulator would make.
    """
    data, normaliser = windows.data, windows.normaliser
    if not like.known.all():
        return None
    condition = data.frames_of(np.arange(data.systems), slice(0, windows.condition))
    seen = normaliser.raw(normaliser.states(condition).astype(np.float32))
    states = forecast_by_law(data, seen, like.frames)
    if states is None:
        return None
    mean = normaliser.states(states).reshape(like.mean.shape)
    return Predictions(
        mean=mean,
        draws=np.empty((0, *mean.shape)),
        truth=like.truth,
        known=like.known,
        times=like.times,
        system=like.system,
        contexts={},
        evaluations=0,
        seconds=0.0,
    )


def forecast_by_law(
    data: Trajectories, observed: Float[np.ndarray, "system object time feature"], frames: int
) -> Float[np.ndarray, "system object frame feature"] | None:
    """Continue every system from its last observed frame for `frames` frames.

    `observed` are the observed frames with the accuracy that a model sees them in. The strength of
    the forces is fitted to them; graph, walls and time step are those of the simulation. None for
    data that `simulate` did not make, or that lost a part that the law needs.
    """
    kind = generated_by(data.dataset.attrs["generator"])
    complete = data.present.all() and np.isfinite(observed).all()
    complete = complete and (kind is None or not kind.has_kinds or data.kinds is not None)
    if kind is None or not complete or len(data.edges.graph_system) != data.systems:
        return None
    names = data.dataset["parameter"].values.tolist()
    if not set(kind.ranges.names) <= set(names) or not np.isfinite(data.parameters).all():
        return None
    order = [names.index(name) for name in kind.ranges.names]
    parameters = columns(kind, data.parameters[:, order])
    settings = json.loads(data.dataset.attrs["generator_settings"])
    schedule = Schedule(
        frames + 1, settings["sample_every"], settings["dt"], settings["integrator"]
    )
    if FITTED in parameters and observed.shape[2] > 1:
        parameters = {**parameters, FITTED: _fitted(kind, data, observed, parameters, schedule)}
    everything = np.arange(data.systems)
    start = kind.restarted(data, everything, *_split(data, observed[:, :, -1]))
    return _joined(data, kind.simulate(start, parameters, schedule)[:, :, 1:])


def _fitted(
    kind: ParticleSystem,
    data: Trajectories,
    observed: Float[np.ndarray, "system object time feature"],
    parameters: ParameterColumns,
    schedule: Schedule,
) -> Float[np.ndarray, " system"]:
    """The strength with which the law best leads from each observed frame to the next.

    Chaos has no time to act within a frame. The logarithm of each frame's error keeps a few close
    encounters from deciding the fit.
    """
    systems, steps = data.systems, observed.shape[2] - 1
    owner = np.repeat(np.arange(systems), steps)
    before = observed[:, :, :-1].swapaxes(1, 2).reshape(systems * steps, data.objects, -1)
    after = observed[:, :, 1:].swapaxes(1, 2).reshape(before.shape)
    start = kind.restarted(data, owner, *_split(data, before))
    single = Schedule(2, schedule.sample_every, schedule.dt, schedule.integrator)
    repeated = {name: values[owner] for name, values in parameters.items()}

    def misfit(strength: Float[np.ndarray, " system"]) -> Float[np.ndarray, " system"]:
        states = kind.simulate(start, {**repeated, FITTED: strength[owner]}, single)[:, :, 1]
        errors = ((_joined(data, states) - after) ** 2).mean((1, 2))
        return np.asarray(np.log(errors + NEGLIGIBLE).reshape(systems, steps).sum(1))

    low, high = kind.ranges.outer[FITTED]
    tried = np.linspace(low * (1 - BEYOND), high * (1 + BEYOND), GRID)
    scores = np.stack([misfit(np.full(systems, value)) for value in tried])
    best = scores.argmin(0).clip(1, GRID - 2)
    return golden_section(misfit, tried[best - 1], tried[best + 1], REFINEMENTS)


def golden_section(
    function: Callable[[Float[np.ndarray, " row"]], Float[np.ndarray, " row"]],
    low: Float[np.ndarray, " row"],
    high: Float[np.ndarray, " row"],
    steps: int,
) -> Float[np.ndarray, " row"]:
    """The minimum of a function of one variable between two bounds, for many rows at once.

    One of the two points inside is a point of the next, narrower bounds too.
    """
    ratio = (np.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(steps):
        is_left = at_left < at_right
        low, high = np.where(is_left, low, left), np.where(is_left, right, high)
        kept, at_kept = np.where(is_left, left, right), np.where(is_left, at_left, at_right)
        new = np.where(is_left, high - ratio * (high - low), low + ratio * (high - low))
        at_new = function(new)
        left, at_left = np.where(is_left, new, kept), np.where(is_left, at_new, at_kept)
        right, at_right = np.where(is_left, kept, new), np.where(is_left, at_kept, at_new)
    return np.asarray((low + high) / 2)


def _split(
    data: Trajectories, states: Float[np.ndarray, "row object feature"]
) -> tuple[Float[np.ndarray, "row object axis"], Float[np.ndarray, "row object axis"]]:
    return states[..., data.position_features], states[..., data.velocity_features]


def _joined(data: Trajectories, states: np.ndarray) -> np.ndarray:
    """The simulator's positions and velocities in the order of the data's features."""
    order = np.concatenate([data.position_features, data.velocity_features])
    return np.asarray(states[..., np.argsort(order)])
