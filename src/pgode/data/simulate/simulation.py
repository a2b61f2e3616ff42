"""From the name of a system and a seed to labelled trajectories."""

import json
from collections.abc import Iterable, Mapping
from types import MappingProxyType

import numpy as np
from jaxtyping import Float

from pgode.data.schema import SPLITS
from pgode.data.simulate.charged import CHARGED
from pgode.data.simulate.gravity import GRAVITY
from pgode.data.simulate.mixed import MIXED
from pgode.data.simulate.nbody import NBODY
from pgode.data.simulate.springs import SPRINGS
from pgode.data.simulate.system import ParameterColumns, ParticleSystem, Schedule, draw
from pgode.data.trajectories import Edges, Trajectories
from pgode.runtime.choices import check_int, one_of
from pgode.runtime.errors import InputError
from pgode.runtime.limits.bounds import LARGE, SMALL
from pgode.runtime.memory import refuse_beyond_memory

SYSTEMS: Mapping[str, ParticleSystem] = MappingProxyType(
    {kind.name: kind for kind in (SPRINGS, CHARGED, NBODY, GRAVITY, MIXED)}
)
"""Every system that `simulate` knows, by name."""

GENERATOR = "pgode simulate "
"""Followed by the name of a system: the `generator` of simulated trajectories."""
OLD_GENERATOR = "pgode.systems."
"""The same in older files."""
VERSION = "1"
"""Version of the numbers, not of the library: raised whenever the same seed gives other values."""

PER_VALUE, PER_PAIR = 2, 6
"""How often states and pair weights are held at the peak; measured 2.3 to 3, and 6 to 14 where all
objects act on all (`python -m benchmarks.memory_needs`)."""


def simulate(
    name: str,
    *,
    objects: int | None = None,
    frames: int | None = None,
    seed: int = 0,
    train: int | None = None,
    val: int | None = None,
    test: int | None = None,
    ood: int | None = None,
    integrator: str | None = None,
    sample_every: int = 100,
    dt: float = 0.001,
) -> Trajectories:
    """Simulate one of `SYSTEMS`, such as the paper's Springs and Charged (section on datasets).

    Sizes that are not given are the usual ones of the system, its `sizes`. Frame 0 is the initial
    state; a frame follows each `sample_every` steps of `dt`. There is no noise. The default
    integrator is the system's first, where there is a published one that, see
    `particles.INTEGRATORS`.
    """
    kind = SYSTEMS[one_of("system", name, SYSTEMS)]
    usual = kind.sizes
    schedule = Schedule(
        check_int("frames", usual.frames if frames is None else frames, 2),
        check_int("sample_every", sample_every, 1),
        dt,
        one_of("integrator", integrator or kind.integrators[0], kind.integrators),
    )
    objects = check_int("objects", usual.objects if objects is None else objects, 1)
    requested = zip(SPLITS, (train, val, test, ood), strict=True)
    counts = {
        split: check_int(split, getattr(usual, split) if count is None else count, 0)
        for split, count in requested
    }
    # A larger seed would take two entries of the stream's key and could collide with the next one.
    seed = check_int("seed", seed, 0, 2**32 - 1)
    if not any(counts.values()):
        raise InputError(
            "there is nothing to simulate: train, val, test and ood are all 0. Expected at least "
            "one system. Ask for some, for instance train=1000."
        )
    if isinstance(dt, bool) or not SMALL <= dt <= LARGE:
        raise InputError(
            f"dt is {dt}. Expected a positive time step, from {SMALL:g} to {LARGE:g}. Use 0.001, "
            f"the published one."
        )
    _check_memory(kind, sum(counts.values()), objects, schedule.frames)

    parameters, initial = draw(kind, objects, counts, seed)
    states = kind.simulate(initial, columns(kind, parameters), schedule)
    settings = {
        "objects": objects,
        "frames": schedule.frames,
        **counts,
        "integrator": schedule.integrator,
        "sample_every": schedule.sample_every,
        "dt": float(dt),
        "inner": dict(kind.ranges.inner),
        "outer": dict(kind.ranges.outer),
    }
    space = len(kind.axes)
    return Trajectories.build(
        states,
        schedule.times,
        edges=Edges.from_dense(initial.weights, schedule.times),
        features=[f"{symbol}{axis}" for symbol in "qv" for axis in kind.axes],
        roles=("position",) * space + ("velocity",) * space,
        variables=("q",) * space + ("v",) * space,
        parameters=parameters,
        parameter_names=kind.ranges.names,
        kind=initial.kinds,
        split=np.repeat(list(counts), list(counts.values())),
        title=f"{name.capitalize()}, {objects} objects",
        generator=GENERATOR + name,
        generator_version=VERSION,
        generator_settings=json.dumps(settings),
        seed=seed,
        source=f"the simulated {name}",
    )


def planned_bytes(
    name: str, objects: int | None, frames: int | None, counts: Iterable[int | None]
) -> float:
    """Bytes of the states that `simulate` would make, to see whether there is room for them.

    More than memory can hold is refused for that first. 0 where `simulate` would refuse otherwise.
    """
    if name not in SYSTEMS:
        return 0.0
    kind = SYSTEMS[name]
    usual = kind.sizes
    systems = sum(
        getattr(usual, split) if count is None else count
        for split, count in zip(SPLITS, counts, strict=True)
    )
    objects = usual.objects if objects is None else objects
    frames = usual.frames if frames is None else frames
    if min(systems, objects, frames) <= 0:
        return 0.0
    _check_memory(kind, systems, objects, frames)
    return 8.0 * 2 * len(kind.axes) * systems * objects * frames


def _check_memory(kind: ParticleSystem, systems: int, objects: int, frames: int) -> None:
    features = 2 * len(kind.axes)
    refuse_beyond_memory(
        8.0 * systems * objects * (PER_VALUE * frames * features + PER_PAIR * objects),
        f"simulating {systems} systems of {objects} objects with {frames} frames",
        "Simulate fewer systems (--train, --val, --test, --ood), objects or frames.",
    )


def columns(
    kind: ParticleSystem, parameters: Float[np.ndarray, "system parameter"]
) -> ParameterColumns:
    """The parameters of many systems by name."""
    return dict(zip(kind.ranges.names, parameters.T, strict=True))


def generated_by(generator: str) -> ParticleSystem | None:
    """The system that a `generator` attribute names; None if `simulate` did not make the data."""
    for prefix in (GENERATOR, OLD_GENERATOR):
        if generator.startswith(prefix):
            return SYSTEMS.get(generator.removeprefix(prefix))
    return None
