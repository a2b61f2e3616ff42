"""From a name and a seed to labelled trajectories."""

import json
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from math import isfinite
from types import MappingProxyType

import numpy as np
from jaxtyping import Float

from pgode.data.simulate.charged import CHARGED
from pgode.data.simulate.particles import INTEGRATORS, integrate
from pgode.data.simulate.sampling import ParticleSystem, draw_start
from pgode.data.simulate.springs import SPRINGS
from pgode.data.splits import SPLITS
from pgode.data.trajectories import Edges, Trajectories
from pgode.runtime.errors import InputError

SYSTEMS: Mapping[str, ParticleSystem] = MappingProxyType(
    {kind.name: kind for kind in (SPRINGS, CHARGED)}
)

GENERATOR = "pgode.systems."
"""Before a kind's name: what `Trajectories` say made them."""
VERSION = "1"
"""Version of the numbers, not of the library: raised whenever the same seed gives other values."""


def simulate(
    name: str,
    *,
    objects: int = 10,
    frames: int = 96,
    seed: int = 0,
    train: int = 1000,
    val: int = 200,
    test: int = 200,
    ood: int = 200,
    integrator: str = "published",
    sample_every: int = 100,
    dt: float = 0.001,
) -> Trajectories:
    """Simulate the paper's Springs or Charged (section on datasets; ranges from its table).

    Frame 0 is the initial state; a frame follows each `sample_every` steps of `dt`. There is no
    noise. The published scheme is kept by default, see `particles.INTEGRATORS`.
    """
    kind = SYSTEMS[known("system", name, SYSTEMS)]
    known("integrator", integrator, INTEGRATORS)
    objects = whole("objects", objects, 1)
    frames = whole("frames", frames, 2)
    sample_every = whole("sample_every", sample_every, 1)
    given = zip(SPLITS, (train, val, test, ood), strict=True)
    counts = {split: whole(split, count, 0) for split, count in given}
    # Beyond 32 bits a seed takes two words of the stream's key and could run into the next entry.
    seed = whole("seed", seed, 0, 2**32 - 1)
    if not any(counts.values()):
        raise InputError(
            "there is nothing to simulate: train, val, test and ood are all 0. Expected at least "
            "one system. Ask for some, for instance train=1000."
        )
    if not (isfinite(dt) and dt > 0):
        raise InputError(
            f"dt is {dt}. Expected a positive time step. Use 0.001, the published one."
        )

    start = draw_start(kind, objects, tuple(counts.values()), seed)
    walls, _, strength, _ = start.parameters.T
    states = integrate(
        kind.law,
        start.positions,
        start.velocities,
        strength[:, None, None] * start.weights,
        walls,
        frames=frames,
        sample_every=sample_every,
        dt=dt,
        integrator=integrator,
    )
    times = np.arange(frames) * sample_every * dt
    refuse_escapes(states, walls, times, dt)
    settings = {
        "objects": objects,
        "frames": frames,
        **counts,
        "integrator": integrator,
        "sample_every": sample_every,
        "dt": float(dt),
        "inner": dict(kind.ranges.inner),
        "outer": dict(kind.ranges.outer),
    }
    return Trajectories.build(
        states,
        times,
        edges=fixed_edges(start.weights),
        features=("qx", "qy", "vx", "vy"),
        roles=("position", "position", "velocity", "velocity"),
        variables=("q", "q", "v", "v"),
        parameters=start.parameters,
        parameter_names=kind.ranges.names,
        split=np.repeat(list(counts), list(counts.values())),
        title=f"{name.capitalize()}, {objects} objects",
        generator=GENERATOR + name,
        generator_version=VERSION,
        generator_settings=json.dumps(settings),
        seed=seed,
        source=f"the simulated {name}",
    )


def fixed_edges(weights: Float[np.ndarray, "system object object"]) -> Edges:
    """One graph per system, in force from time zero, with an edge where the weight is not zero."""
    systems = len(weights)
    system, receiver, sender = (index.astype(np.int32) for index in np.nonzero(weights))
    return Edges(
        graph_system=np.arange(systems, dtype=np.int32),
        graph_start=np.zeros(systems),
        edge_graph=system,
        edge_receiver=receiver,
        edge_sender=sender,
        edge_attributes=weights[system, receiver, sender][:, None],
        attribute_names=("weight",),
    )


def known(what: str, name: str, names: Iterable[str]) -> str:
    """Return `name` if it is one of `names`; else say which there are and which may be meant."""
    names = tuple(names)
    if name in names:
        return name
    listed = ", ".join(f'"{each}"' for each in names)
    close = get_close_matches(str(name).lower(), names, n=1, cutoff=0.4)
    fix = f'Did you mean "{close[0]}"?' if close else "Choose one of these."
    raise InputError(f'there is no {what} "{name}". Expected one of {listed}. {fix}')


def whole(option: str, value: object, least: int, most: int | None = None) -> int:
    """Return `value` if it is a whole number from `least` to `most`; else say what was expected."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        number = int(value)
        if number >= least and (most is None or number <= most):
            return number
    limits = f"at least {least}" if most is None else f"{least} to {most}"
    raise InputError(
        f"{option} is {value!r}. Expected a whole number, {limits}. Give for instance "
        f"{option}={least}."
    )


def refuse_escapes(
    states: Float[np.ndarray, "system object time feature"],
    walls: Float[np.ndarray, " system"],
    times: Float[np.ndarray, " time"],
    dt: float,
) -> None:
    """Refuse results in which a step was so long that one reflection did not bring it back."""
    kept = np.abs(states[..., :2]) <= walls[:, None, None, None]  # False for NaN as well.
    if kept.all():
        return
    system, item, frame, axis = np.argwhere(~kept)[0]
    raise InputError(
        f"system {system}, object {item} left its box at time {times[frame]:g}: "
        f'"{("qx", "qy")[axis]}" is {states[system, item, frame, axis]:g}, expected within '
        f"+-{walls[system]:g}. The step dt={dt} is too long. Use 0.001, the published one."
    )
