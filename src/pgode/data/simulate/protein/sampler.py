"""OpenMM at work: equilibrate once, then sample after sample, each with parameters of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from pgode.data.simulate.protein.forces import Solvated
from pgode.data.simulate.protein.settings import RANGES, ProteinSettings

MIDDLE = {name: sum(bounds) / 2 for name, bounds in RANGES.inner.items()}
"""Parameters before a sample has its own."""
SEEDS = 2**31 - 1
BAROSTAT_STEPS = 25
EQUILIBRATION_PARTS = 100
"""Pieces in which it runs, so that its progress can be seen and it can be stopped."""


@dataclass(frozen=True)
class State:
    """Where all atoms are (nm), the solvent's too, and the box they are in."""

    positions: Float[np.ndarray, "atom 3"]
    box: Float[np.ndarray, "3 3"]


@dataclass(frozen=True)
class Sample:
    """One trajectory of the molecule, its parameters, its replicas and where it ended."""

    frames: Float[np.ndarray, "time atom 3"]
    parameters: Float[np.ndarray, " parameter"]
    replicas: Float[np.ndarray, "replica horizon atom 3"]
    condition: int
    """Frames before the replicas part."""
    end: State


class Sampler:
    """One OpenMM context on one core, used for one sample after another.

    Every run starts from a given state with seeds of its own, also where it continues the one
    before, so that a run that was stopped and one that was not give the same numbers.
    """

    def __init__(
        self,
        solvated: Solvated,
        settings: ProteinSettings,
        tick: Callable[[float], None] | None = None,
    ) -> None:
        import openmm
        from openmm import unit

        self._solvated, self._settings = solvated, settings
        self._tick = tick or (lambda time: None)
        self._unit, self._openmm = unit, openmm
        system = openmm.XmlSerializer.deserialize(solvated.system)
        self._barostat = None
        if not settings.implicit:
            self._barostat = openmm.MonteCarloBarostat(
                MIDDLE["pressure"] * unit.bar, MIDDLE["temperature"] * unit.kelvin, BAROSTAT_STEPS
            )
            system.addForce(self._barostat)
        self._integrator = openmm.LangevinMiddleIntegrator(
            MIDDLE["temperature"] * unit.kelvin,
            MIDDLE["friction"] / unit.picosecond,
            settings.step * unit.femtosecond,
        )
        self._context = openmm.Context(
            system,
            self._integrator,
            openmm.Platform.getPlatformByName("CPU"),
            {"Threads": "1", "DeterministicForces": "true"},
        )

    def equilibrated(self) -> State:
        """The solvated molecule, minimised and run at the middle of the parameter ranges."""
        stream = self._settings.equilibration_stream()
        box = np.eye(3) if self._solvated.box is None else self._solvated.box
        self._place(State(self._solvated.positions, box))
        self._openmm.LocalEnergyMinimizer.minimize(self._context)
        self._begin(self._state(), MIDDLE, stream)
        left = self._settings.steps(self._settings.equilibrate)
        piece = max(1, left // EQUILIBRATION_PARTS)
        while left:
            self._run(min(piece, left))
            left -= min(piece, left)
        return self._state()

    def separated(self, start: State, stream: np.random.Generator) -> State:
        """A branch of its own: other velocities, and time to move away from the others."""
        self._begin(start, MIDDLE, stream)
        self._run(self._settings.steps(self._settings.separate))
        return self._state()

    def sample(self, start: State, split: str, index: int) -> Sample:
        """Set a sample's parameters, let the molecule settle, and record its frames."""
        settings = self._settings
        stream = settings.stream(split, index)
        values = settings.ranges.draw(stream, ood=split == "ood")
        parameters = {**MIDDLE, **dict(zip(settings.parameters, values, strict=True))}
        self._begin(start, parameters, stream)
        self._run(settings.steps(settings.settle))
        replicas = settings.replicas_of(split, index)
        parting: Any = None
        frames: list[np.ndarray] = []
        for frame in range(settings.frames):
            if frame:
                self._run(settings.steps_per_frame)
            frames.append(self._molecule(frames[-1] if frames else None))
            if replicas and frame == settings.condition - 1:
                parting = self._context.getState(positions=True, velocities=True)
        end = self._state()
        futures = [
            self._future(parting, parameters, stream, frames[settings.condition - 1])
            for _ in range(replicas)
        ]
        shape = (replicas, settings.horizon, self._solvated.atoms, 3)
        kept = [parameters[name] for name in settings.parameters]
        return Sample(
            np.stack(frames),
            np.array(kept),
            np.array(futures, np.float32).reshape(shape),
            settings.condition,
            end,
        )

    def _future(
        self,
        parting: Any,
        parameters: dict[str, float],
        stream: np.random.Generator,
        last: Float[np.ndarray, "atom 3"],
    ) -> list[np.ndarray]:
        """What else could have followed: the same positions and velocities, other random forces."""
        self._seed(parameters, stream)
        self._context.setState(parting)
        frames = [last]
        for _ in range(self._settings.horizon):
            self._run(self._settings.steps_per_frame)
            frames.append(self._molecule(frames[-1]))
        return frames[1:]

    def _begin(
        self, state: State, parameters: dict[str, float], stream: np.random.Generator
    ) -> None:
        """Place the atoms, with parameters and velocities for them."""
        self._seed(parameters, stream)
        self._place(state)
        self._context.setVelocitiesToTemperature(
            parameters["temperature"] * self._unit.kelvin, int(stream.integers(1, SEEDS))
        )

    def _seed(self, parameters: dict[str, float], stream: np.random.Generator) -> None:
        """Set parameters, and seeds, which OpenMM looks at only when a context begins."""
        unit = self._unit
        self._integrator.setTemperature(parameters["temperature"] * unit.kelvin)
        self._integrator.setFriction(parameters["friction"] / unit.picosecond)
        self._integrator.setRandomNumberSeed(int(stream.integers(1, SEEDS)))
        if self._barostat is not None:
            self._barostat.setDefaultPressure(parameters["pressure"] * unit.bar)
            self._barostat.setDefaultTemperature(parameters["temperature"] * unit.kelvin)
            self._barostat.setRandomNumberSeed(int(stream.integers(1, SEEDS)))
        self._context.reinitialize()

    def _place(self, state: State) -> None:
        if self._barostat is not None:
            self._context.setPeriodicBoxVectors(*state.box)
        self._context.setPositions(state.positions)
        self._context.applyConstraints(1e-6)

    def _run(self, steps: int) -> None:
        self._integrator.step(steps)
        self._tick(steps * self._settings.step / 1000)

    def _state(self) -> State:
        state = self._context.getState(positions=True)
        return State(
            np.array(state.getPositions(asNumpy=True)._value),
            np.array(state.getPeriodicBoxVectors(asNumpy=True)._value),
        )

    def _molecule(self, before: Float[np.ndarray, "atom 3"] | None) -> np.ndarray:
        """The molecule's atoms; whole, and not moved by a box length since the frame before.

        Some versions of the barostat put a molecule back into the box when they change it.
        """
        state = self._context.getState(positions=True)
        place = np.array(state.getPositions(asNumpy=True)._value[: self._solvated.atoms])
        if before is not None and self._barostat is not None:
            place = unjumped(place, before, state.getPeriodicBoxVectors(asNumpy=True)._value)
        return place.astype(np.float32)


def unjumped(
    place: Float[np.ndarray, "atom 3"],
    before: Float[np.ndarray, "atom 3"],
    box: Float[np.ndarray, "3 3"],
) -> Float[np.ndarray, "atom 3"]:
    """The whole molecule shifted by whole box vectors to where it is nearest to the frame before.

    The vectors are OpenMM's: the third has all three components, the second two, the first one.
    """
    jump = place.mean(0) - before.mean(0)
    for axis in (2, 1, 0):
        shift = np.round(jump[axis] / box[axis, axis]) * box[axis]
        jump, place = jump - shift, place - shift
    return place
