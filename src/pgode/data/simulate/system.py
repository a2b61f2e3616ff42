"""The interface of simulated systems, which is all that `simulate` and `energy` use.

A system is one file that implements `ParticleSystem`, and one line in `simulation.SYSTEMS`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from pgode.data.edges import Edges
from pgode.data.schema import SPLITS
from pgode.data.simulate.parameters import Ranges
from pgode.data.trajectories import Trajectories

Parameters = Mapping[str, float]
"""Parameters of one system by name."""
ParameterColumns = Mapping[str, Float[np.ndarray, " system"]]
"""Parameters of many systems by name."""


@dataclass(frozen=True)
class Initial:
    """Systems at time zero: edge weights (receiver, sender), positions and velocities.

    `kinds` is for systems whose objects are of kinds that the weights do not show.
    """

    weights: Float[np.ndarray, "*system object object"]
    positions: Float[np.ndarray, "*system object axes"]
    velocities: Float[np.ndarray, "*system object axes"]
    kinds: Int[np.ndarray, "*system object"] | None = None


@dataclass(frozen=True)
class Sizes:
    """Numbers of objects and frames, and of systems in each split."""

    objects: int = 10
    frames: int = 96
    train: int = 1000
    val: int = 200
    test: int = 200
    ood: int = 200


@dataclass(frozen=True)
class Motion:
    """Systems over time, each with one graph: what an energy is a function of."""

    positions: Float[np.ndarray, "system object time axes"]
    velocities: Float[np.ndarray, "system object time axes"]
    present: Bool[np.ndarray, "system object"]
    edges: Edges


@dataclass(frozen=True)
class Schedule:
    """Frame 0 is the initial state; a frame follows each `sample_every` steps of `dt`."""

    frames: int
    sample_every: int
    dt: float
    integrator: str

    @property
    def times(self) -> Float[np.ndarray, " frame"]:
        """Time of each frame."""
        return np.arange(self.frames) * self.sample_every * self.dt


class ParticleSystem(ABC):
    """A kind of system: its parameters, initial state, graph, motion and energy."""

    name: str
    stream: int
    """Part of the key of every random stream of this kind; never changed, never used twice."""
    ranges: Ranges
    """The parameters, by name, and the ranges they are drawn from."""
    axes: tuple[str, ...] = ("x", "y")
    """Names of the axes of space."""
    has_kinds: bool = False
    """Whether objects are of kinds that only `Trajectories.kinds` tells."""
    integrators: tuple[str, ...]
    """Names of the time-stepping schemes to choose from; the first is the default."""
    sizes: Sizes = Sizes()
    """The usual sizes of a data set, used where none are given."""

    @abstractmethod
    def initial(self, stream: np.random.Generator, objects: int, parameters: Parameters) -> Initial:
        """Draw one system at time zero."""

    @abstractmethod
    def simulate(
        self, initial: Initial, parameters: ParameterColumns, schedule: Schedule
    ) -> Float[np.ndarray, "system object frame feature"]:
        """Positions, then velocities, of every object of every system at every frame."""

    def restarted(
        self,
        data: Trajectories,
        systems: Int[np.ndarray, " row"],
        positions: Float[np.ndarray, "row object axes"],
        velocities: Float[np.ndarray, "row object axes"],
    ) -> Initial:
        """Initial states with these positions and velocities; row k is that of `systems[k]`.

        Graphs, of which every system has one, and kinds are those of `data`.
        """
        edges = data.edges
        weights = np.zeros((data.systems, data.objects, data.objects))
        weights[edges.edge_graph, edges.edge_receiver, edges.edge_sender] = edges.edge_attributes[
            :, 0
        ]
        kinds = None if data.kinds is None else data.kinds[systems]
        return Initial(weights[systems], positions, velocities, kinds)

    @abstractmethod
    def energy(
        self, motion: Motion, parameters: ParameterColumns
    ) -> Float[np.ndarray, "system time"] | None:
        """The conserved energy, None where none is conserved; every system has one graph."""


def draw(
    kind: ParticleSystem, objects: int, counts: Mapping[str, int], seed: int
) -> tuple[Float[np.ndarray, "system parameter"], Initial]:
    """Draw the parameters and initial states of `counts[split]` systems of each split.

    Every system has its own random stream, made from (seed, kind, split, index). A system therefore
    does not depend on how many others are drawn, in its split or in another: a quick run with ten
    training systems sees the first ten of the full set, and tests on the full test set.
    """
    labels = [(split, index) for split in SPLITS for index in range(counts.get(split, 0))]
    parameters, initial = np.empty((len(labels), len(kind.ranges.names))), []
    for row, (split, index) in enumerate(labels):
        key = (seed, kind.stream, SPLITS.index(split), index)
        stream = np.random.default_rng(np.random.SeedSequence(key))
        parameters[row] = kind.ranges.draw(stream, ood=split == "ood")
        named = dict(zip(kind.ranges.names, parameters[row].tolist(), strict=True))
        initial.append(kind.initial(stream, objects, named))
    kinds = [each.kinds for each in initial if each.kinds is not None]
    return parameters, Initial(
        np.stack([each.weights for each in initial]),
        np.stack([each.positions for each in initial]),
        np.stack([each.velocities for each in initial]),
        np.stack(kinds) if kinds else None,
    )
