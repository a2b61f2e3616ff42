"""PGODE whose prototypes are force laws: infer what objects are, integrate in fine steps."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch, Windows
from pgode.models.forecaster import Forecast, Forecaster, Losses
from pgode.models.pgode.config import PGODEConfig
from pgode.models.pgode.laws import kernel, walls
from pgode.models.pgode.laws.config import LawsConfig
from pgode.models.pgode.laws.fitting import Fit, Progress, fit
from pgode.models.pgode.laws.inference import Inferred, Knowledge, Scope, infer
from pgode.models.pgode.laws.motion import Forces, Layout, Path, Space, Steps, move
from pgode.models.pgode.laws.observation import Observation, Units, layout, observations, present
from pgode.models.pgode.laws.radial import RadialLaws, law_numbers, range_of, spacing_of, SPLINES
from pgode.models.pgode.laws.regression import Splines
from pgode.models.pgode.laws.shooting import Frames, shoot, strengths
from pgode.models.pgode.laws.table import Cells

CELLS = Cells.covering(2.0**-14, 2.0**5)
"""Distances that laws are tabulated for, in units of the largest scale of a position."""
TOLERANCE = 0.05
"""Largest step, times the largest frequency."""
FIT_SYSTEMS = 300
"""Training systems whose frames the laws are found in."""
ROBUST = 1e-6
"""Squared error, in units of the laws, below which one frame's error counts in full."""
COPIES = 12
"""Frames of each training window that one step looks ahead from."""


@dataclass(frozen=True)
class Situation:
    """Everything inferred from a batch's condition that its forecast starts from."""

    seen: list[Observation]
    inferred: list[Inferred]
    layout: Layout
    forces: Forces
    deviation: Float[np.ndarray, " systems"]
    wall_deviation: Float[np.ndarray, " systems"]

    @property
    def weights(self) -> Float[np.ndarray, "objects prototypes"]:
        """Weights of the prototypes in use for every object."""
        return np.concatenate([each.weights for each in self.inferred])


class ForceLaws(Forecaster):
    """Prototypes are kinds of objects, and a radial law acts between each two of them.

    Before the first epoch `prepare` finds laws and prototypes in the training data; epochs then
    refine the laws through the fine steps. Weights and strengths are inferred, not learned.
    """

    config: PGODEConfig
    config_type = PGODEConfig

    def __init__(self, config: PGODEConfig, normaliser: Normaliser) -> None:
        super().__init__(config, normaliser)
        assert isinstance(config.dynamics, LawsConfig)
        self.settings = config.dynamics
        self.units = Units.of(normaliser)
        kinds, axes = self.settings.prototypes, len(normaliser.positions)
        self.numbers = law_numbers(kinds, self.settings.third_law)
        self.radial = RadialLaws(int(self.numbers.max()) + 1, CELLS)
        self.drag = nn.Parameter(torch.zeros(kinds, dtype=torch.float64))
        self._number("shares", [1.0] + [0.0] * (kinds - 1))
        self._number("noise", 1.0)
        self._number("spread", 0.1)
        self._number("limit", np.inf)
        self._number("lead", 0.0)
        self._number("substeps", 10.0)
        self._number("jitter", [0.0, 1.0])
        self._number("walls", [[-np.inf, np.inf]] * axes)
        self._number("wall_spread", [0.0, 0.0])

    def _number(self, name: str, value: object) -> None:
        self.register_buffer(name, torch.tensor(value, dtype=torch.float64))

    @property
    def prototypes(self) -> int:
        """K, the most prototypes there may be."""
        return self.settings.prototypes

    @property
    def used(self) -> int:
        """Prototypes that objects of the training data are made of."""
        return max(1, int((self.shares > 0).sum()))

    @property
    def scope(self) -> Scope:
        """What the gate may see, by the paper's names: object contexts, system contexts."""
        gate = self.config.gate
        return Scope(objects=gate.sees_object, strength=gate.sees_system)

    def knowledge(self) -> Knowledge:
        """What inference needs, of the prototypes in use."""
        used = self.used
        laws = np.ascontiguousarray(self.numbers[:used, :used])
        with torch.no_grad():
            table = self.radial.table()[:, : int(laws.max()) + 1].contiguous().numpy()
        shares = self.shares[:used].numpy()
        return Knowledge(
            table=table,
            origin=CELLS.first,
            laws=laws,
            drag=self.drag.detach()[:used].numpy(),
            shares=shares / shares.sum(),
            noise=float(self.noise),
            spread=float(self.spread),
            periods=self.periods,
        )

    @property
    def periods(self) -> Float[np.ndarray, " axes"]:
        """Period of each axis in the units of the laws; 0 where there is none."""
        return np.zeros(len(self.units.positions))

    @property
    def space(self) -> Space:
        """Walls and periods."""
        finite = torch.isfinite(self.walls).any(1).numpy()
        kinds = np.where(finite, kernel.REFLECT, kernel.NONE).astype(np.int64)
        return Space(kinds, self.periods, CELLS.first, float(self.limit))

    @property
    def steps(self) -> Steps:
        """How finely frames are divided."""
        fewest = self.settings.substeps or float(self.substeps)
        most = max(self.settings.most_substeps, int(fewest))
        return Steps(float(self.lead), float(fewest), most, TOLERANCE)

    def situation(self, batch: Batch, *, targets: bool = False) -> Situation:
        """Infer prototypes, strengths and walls from the condition (and targets, in training)."""
        known, scope = self.knowledge(), self.scope
        seen = list(observations(batch, self.units, targets=targets))
        inferred = [infer(each, known, scope) for each in seen]
        pairs, edge_weights = layout(seen)
        strength = np.array([each.strength for each in inferred])
        deviation = np.array([each.deviation for each in inferred])
        box = walls.Walls(
            self.walls.numpy(), float(self.wall_spread[0]), bool(self.wall_spread[1])
        )
        placed = [walls.place(each, box) for each in seen]
        weights = np.concatenate([each.weights for each in inferred])
        forces = self._forces(pairs, edge_weights, weights, strength, [p for p, _ in placed])
        if scope.strength:
            frames = Frames.of(seen)
            if targets:
                frames = frames.few(COPIES, np.random.default_rng(0))
            fixed = Forces(*(each.detach() for each in forces))
            strength, deviation = strengths(
                frames, fixed, pairs, self.space, self.steps, known.spread, strength
            )
            forces = forces._replace(strength=torch.from_numpy(strength)[None])
        return Situation(seen, inferred, pairs, forces, deviation, np.array([d for _, d in placed]))

    def _forces(
        self,
        pairs: Layout,
        edge_weights: Float[np.ndarray, "pairs 2"],
        weights: Float[np.ndarray, "objects used"],
        strength: Float[np.ndarray, " systems"],
        places: list[Float[np.ndarray, "axes 2"]],
    ) -> Forces:
        """Forces of systems whose objects have these weights."""
        used = weights.shape[1]
        numbers = self.numbers[:used, :used]
        laws = int(numbers.max()) + 1
        first, second = weights[pairs.objects[0]], weights[pairs.objects[1]]
        towards, back = np.zeros((2, len(first), laws))
        for k in range(used):
            for m in range(used):
                share = first[:, k] * second[:, m]
                towards[:, numbers[k, m]] += share
                back[:, numbers[m, k]] += share
        coupling = np.stack([towards, back], axis=1) * edge_weights[:, :, None]
        objects, axes = len(weights), len(self.units.positions)
        zeros = torch.zeros(objects, axes, dtype=torch.float64)
        return Forces(
            table=self.radial.table()[:, :laws].contiguous(),
            coupling=torch.from_numpy(coupling),
            strength=torch.from_numpy(strength)[None],
            walls=torch.from_numpy(np.stack(places))[None],
            drag=torch.from_numpy(weights) @ self.drag[:used],
            pull=zeros[:, 0],
            push=zeros,
        )

    def loss(self, batch: Batch) -> Losses:
        """Robust error one frame ahead from several frames of each window."""
        now = self.situation(batch, targets=True)
        frames = Frames.of(now.seen).few(COPIES, np.random.default_rng(int(torch.randint(2**31, ()))))
        path, squares = shoot(frames, now.forces, now.layout, self.space, self.steps)
        counts = torch.from_numpy(frames.counts)
        total = counts.sum().clamp(min=1)
        robust = (torch.log1p(squares / ROBUST) * counts).sum() / total
        mse = (squares * counts).sum() / total
        return Losses(robust, {"robust": robust, "mse": mse})

    def forecast(
        self, batch: Batch, times: Float[Tensor, "systems outputs"], samples: int = 0
    ) -> Forecast:
        """Mean of an ensemble; samples are its members."""
        now = self.situation(batch)
        members = max(self.settings.ensemble, samples)
        path = self.run(batch, now, times, members)
        states = self._features(path, batch)
        size = self.settings.ensemble
        mean = states[:size].mean(0) if size > 1 else states[0]
        gate = torch.zeros(batch.objects, self.prototypes)
        gate[:, : self.used] = torch.from_numpy(now.weights)
        contexts = {"gate": gate, "system_strength": now.forces.strength[0][:, None].float()}
        return Forecast(
            mean.to(batch.states.dtype),
            states[:samples].to(batch.states.dtype),
            contexts,
            int(path.steps.max()),
        )

    @torch.no_grad()
    def run(
        self, batch: Batch, now: Situation, times: Float[Tensor, "systems outputs"], members: int
    ) -> Path:
        """An ensemble of motions from the last observed frame; the first is not perturbed."""
        q, v = present(batch, self.units)
        q, v = np.tile(q, (members, 1, 1)), np.tile(v, (members, 1, 1))
        random = np.random.default_rng(0)
        start, factor = self.jitter.tolist()
        systems = now.layout.systems
        strength = np.tile(now.forces.strength.numpy(), (members, 1))
        places = np.tile(now.forces.walls.numpy(), (members, 1, 1, 1))
        if members > 1:
            q[1:] += start * random.standard_normal(q[1:].shape)
            v[1:] += start * random.standard_normal(v[1:].shape)
            strength[1:] += (
                factor * now.deviation * random.standard_normal((members - 1, systems))
            )
            shift = now.wall_deviation * random.standard_normal((members - 1, systems))
            places[1:] += shift[:, :, None, None] * walls.OUTWARDS
        inside = np.repeat(places, np.diff(now.layout.offsets), axis=1)
        q = np.clip(q, inside[..., 0], inside[..., 1])
        durations = np.diff(times.numpy().astype(np.float64), axis=1, prepend=0.0)
        forces = now.forces._replace(
            strength=torch.from_numpy(strength), walls=torch.from_numpy(places)
        )
        return move(
            *(torch.from_numpy(q), torch.from_numpy(v), forces, now.layout, self.space),
            *(durations[None], self.steps),
        )

    def _features(
        self, path: Path, batch: Batch
    ) -> Float[Tensor, "copies objects outputs features"]:
        """Scaled features; what is neither position nor velocity keeps its last value."""
        position, velocity = self.units.scaled(path.positions.numpy(), path.velocities.numpy())
        copies, outputs, objects, _ = position.shape
        states = batch.states[:, -1].double().expand(copies, outputs, -1, -1).clone()
        states[..., self.units.positions] = torch.from_numpy(position)
        states[..., self.units.velocities] = torch.from_numpy(velocity)
        return states.transpose(1, 2)

    def prepare(self, training: Windows, seed: int, progress: Progress) -> None:
        """Find laws, prototypes and walls in the training data."""
        seen = list(_sampled(training, self.units, seed))
        box = walls.recognise(seen)
        distances = np.concatenate([_distances(each) for each in seen[:100]])
        low, high = range_of(distances)
        splines = Splines(np.zeros(1), low, spacing_of(low, high), SPLINES)
        how = Fit(self.numbers, self.scope, self.periods, CELLS)
        found = fit(seen, how, splines, seed, progress)
        used, laws = len(found.shares), len(found.fitted.coefficients)
        with torch.no_grad():
            self.radial.span.copy_(torch.tensor([low, high]))
            self.radial.exponents[:laws] = torch.from_numpy(found.splines.exponents)
            self.radial.coefficients[:laws] = torch.from_numpy(found.fitted.coefficients)
            self.drag.zero_()
            self.drag[:used] = torch.from_numpy(found.fitted.drag)
            self.shares.zero_()
            self.shares[:used] = torch.from_numpy(found.shares)
            self.found=found
            self.noise.fill_(found.noise)
            self.spread.fill_(found.spread)
            self.walls.copy_(torch.from_numpy(box.places))
            self.wall_spread.copy_(torch.tensor([box.spread, float(box.together)]))


def _sampled(training: Windows, units: Units, seed: int) -> Iterator[Observation]:
    """All frames of up to FIT_SYSTEMS training systems."""
    order = np.random.default_rng(seed).permutation(len(training))[:FIT_SYSTEMS]
    horizon = int(training.frames.max()) - training.condition
    for first in range(0, len(order), 50):
        chosen = order[first : first + 50]
        batch = training.batch(chosen, np.zeros_like(chosen), horizon)
        yield from observations(batch, units, targets=True)


def _distances(seen: Observation) -> Float[np.ndarray, " pairs"]:
    """Distances of all joined pairs at every fourth frame."""
    some = seen.positions[::4]
    apart = some[:, seen.receivers] - some[:, seen.senders]
    distances = np.sqrt((apart**2).sum(-1)).ravel()
    return distances[distances > 0]
