"""Mixed: objects of three hidden kinds in a square box, with a pair law for each two kinds.

The graph joins all pairs with weight one and says nothing about kinds: they show in the motion
only. The data file stores them as truth (`Trajectories.kinds`), no model sees them.
"""

import numpy as np
from jaxtyping import Float, Int

from pgode.data.simulate import pair_laws
from pgode.data.simulate.box import check_inside
from pgode.data.simulate.pair_laws import COULOMB, LENNARD_JONES, SPRING, YUKAWA
from pgode.data.simulate.parameters import Ranges
from pgode.data.simulate.system import (
    Initial,
    Motion,
    ParameterColumns,
    Parameters,
    ParticleSystem,
    Schedule,
)
from pgode.runtime.errors import InputError

KINDS = 3

SOFTENING = 0.3
"""Distances enter all laws as s = sqrt(r^2 + SOFTENING^2).

Drag lets attracted pairs spiral inwards. The softening gives them a bottom to end at, where they
turn about once in ten frames: the motion is resolved by the frames, not only by the steps.
"""

CANDIDATES = 10
"""Places drawn for each object at time zero, of which it takes the one farthest from the others.

Lennard-Jones would throw objects apart that start on top of each other.
"""


def symmetric(*rows: tuple[float, ...]) -> Float[np.ndarray, "kind kind"]:
    """The full table of two kinds from its lower half."""
    table = np.zeros((KINDS, KINDS))
    for first, row in enumerate(rows):
        for second, value in enumerate(row):
            table[first, second] = table[second, first] = value
    return table


LAWS = symmetric((SPRING,), (YUKAWA, COULOMB), (YUKAWA, COULOMB, LENNARD_JONES)).astype(np.int8)
"""The law of each two kinds."""
COUPLINGS = symmetric((0.2,), (-0.8, 0.5), (1.0, -0.5, 0.25))
"""Its coupling at strength one: negative ones attract; for Lennard-Jones the depth of its well."""
LENGTHS = symmetric((1.0,), (1.0, 0.0), (0.8, 0.0, 0.9))
"""Rest length, screening length, or the distance of the minimum; Coulomb has none."""
DRAG = (0.0, 0.0, 0.2)
"""Rate at which objects of each kind lose their velocity."""


class Mixed(ParticleSystem):
    """Unit masses; `strength` scales the forces of all pairs, `box` is half the box's width."""

    name = "mixed"
    stream = 4
    ranges = Ranges(
        inner={"box": (2.9, 3.1), "speed": (0.49, 0.51), "strength": (0.9, 1.1)},
        outer={"box": (2.8, 3.2), "speed": (0.48, 0.52), "strength": (0.8, 1.2)},
    )
    integrators = ("velocity-verlet",)
    has_kinds = True
    drag = DRAG

    def initial(self, stream: np.random.Generator, objects: int, parameters: Parameters) -> Initial:
        """Kinds, as equal in number as can be, places apart from each other, one speed for all."""
        kinds = stream.permutation((np.arange(objects) + stream.integers(KINDS)) % KINDS)
        position = np.empty((objects, 2))
        for item in range(objects):
            places = stream.uniform(-parameters["box"], parameters["box"], (CANDIDATES, 2))
            square = ((places[:, None] - position[:item]) ** 2).sum(-1)
            position[item] = places[square.min(-1, initial=np.inf).argmax()]
        angle = stream.uniform(0.0, 2 * np.pi, objects)
        velocity = parameters["speed"] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        return Initial(1.0 - np.eye(objects), position, velocity, kinds)

    def simulate(
        self, initial: Initial, parameters: ParameterColumns, schedule: Schedule
    ) -> Float[np.ndarray, "system object frame 4"]:
        """Newton's equations with reflecting walls, in the compiled core."""
        kinds = known(initial.kinds)
        first, second = kinds[:, :, None], kinds[:, None]
        states = pair_laws.integrate(
            initial.positions,
            initial.velocities,
            parameters["strength"][:, None, None] * initial.weights * COUPLINGS[first, second],
            parameters["box"],
            frames=schedule.frames,
            sample_every=schedule.sample_every,
            dt=schedule.dt,
            integrator=schedule.integrator,
            laws=LAWS[first, second],
            lengths=LENGTHS[first, second],
            softening=SOFTENING,
            drag=np.asarray(self.drag)[kinds],
        )
        check_inside(states, parameters["box"], schedule, self.axes)
        return states

    def energy(self, motion: Motion, parameters: ParameterColumns) -> None:
        """Not conserved: drag takes it. `mechanical_energy` is what is there at each time."""
        return

    def mechanical_energy(
        self,
        positions: Float[np.ndarray, "system object time axes"],
        velocities: Float[np.ndarray, "system object time axes"],
        kinds: Int[np.ndarray, "system object"],
        parameters: ParameterColumns,
    ) -> Float[np.ndarray, "system time"]:
        """Kinetic plus pair energy of systems whose kinds are known."""
        systems, objects = kinds.shape
        ends = np.nonzero(np.tile(~np.eye(objects, dtype=bool), (systems, 1, 1)))
        system, first, second = ends[0], kinds[ends[:2]], kinds[ends[0], ends[2]]
        potential = pair_laws.potential_energy(
            LAWS[first, second],
            parameters["strength"][system] * COUPLINGS[first, second],
            ends,
            positions,
            lengths=LENGTHS[first, second],
            softening=SOFTENING,
        )
        return np.asarray(pair_laws.kinetic_energy(velocities, np.ones(kinds.shape)) + potential)


def known(kinds: Int[np.ndarray, "system object"] | None) -> Int[np.ndarray, "system object"]:
    """The kinds, which the forces follow from."""
    if kinds is not None and kinds.min(initial=0) >= 0 and kinds.max(initial=0) < KINDS:
        return kinds
    problem = "missing" if kinds is None else f"from {kinds.min()} to {kinds.max()}"
    raise InputError(
        f"the kinds of the objects are {problem}. Expected a kind from 0 to {KINDS - 1} for each "
        f"object of Mixed, since its forces follow from them. Use data that pgode simulate mixed "
        f"wrote."
    )


MIXED = Mixed()
