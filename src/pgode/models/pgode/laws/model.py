"""PGODE whose prototypes are force laws: infer what objects are, integrate in fine steps."""

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch, Windows
from pgode.models.flow import Flow
from pgode.models.forecaster import Forecast, Forecaster, Progress
from pgode.models.pgode.config import PGODEConfig
from pgode.models.pgode.laws.config import LawsConfig
from pgode.models.pgode.laws.ensemble import members_of
from pgode.models.pgode.laws.evidence.inference import Knowledge, Scope, infer
from pgode.models.pgode.laws.evidence.observation import Units, layout, observations, present
from pgode.models.pgode.laws.evidence.walls import Walls, placed
from pgode.models.pgode.laws.finding.finding import find
from pgode.models.pgode.laws.finding.refinement import Refined
from pgode.models.pgode.laws.finding.shooting import Frames, strengths, with_strengths
from pgode.models.pgode.laws.finding.turns import OUTSIDE, Found
from pgode.models.pgode.laws.finding.unknowns import Unknowns
from pgode.models.pgode.laws.motion import force_kernel
from pgode.models.pgode.laws.motion.force_kernel import Space, Steps
from pgode.models.pgode.laws.motion.moving import move
from pgode.models.pgode.laws.motion.path import Forces, Path
from pgode.models.pgode.laws.motion.table import Cells
from pgode.models.pgode.laws.radial import RadialLaws, law_numbers
from pgode.models.pgode.laws.readout import Law, contexts_of, laws_of
from pgode.models.pgode.laws.requirements import check_named
from pgode.models.pgode.laws.situation import Situation, forces_of, outer_forces
from pgode.models.pgode.laws.trust import TWINS, Trust, trust, twins_of
from pgode.models.pgode.laws.words import sentences
from pgode.models.pgode.laws.wrapping import low_end, wrapped
from pgode.nn.frames import last_observed

CELLS = Cells.covering(2.0**-14, 2.0**5)
"""Distances that laws are tabulated for, in units of the largest scale of a position."""
TOLERANCE = 0.05
"""Largest step, times the largest frequency."""
ENOUGH = 24
"""Frames of a training system that its strength is taken from."""


class ForceLaws(Forecaster):
    """Prototypes are kinds of objects, and a radial law acts between each two of them.

    `prepare` finds laws and prototypes in the training data. Weights of the prototypes and
    strengths are inferred from each condition: there is nothing to train by gradients.

    What was found, and what is inferred, are numbers of compiled code and stay on the CPU. The
    motion is computed on the device of the batch.
    """

    needs_doubles = True

    config: PGODEConfig
    config_type = PGODEConfig

    drag: Float[Tensor, " prototypes"]
    outer: Float[Tensor, " axes+1"]
    """The outer field: push along each axis, and the pull towards the origin of the data."""
    shares: Float[Tensor, " prototypes"]
    """Of all objects of the training data; 0 for prototypes that are not in use."""
    noise: Float[Tensor, ""]
    usual: Float[Tensor, ""]
    spread: Float[Tensor, ""]
    limit: Float[Tensor, ""]
    scheme: Float[Tensor, "3"]
    """Lead, fewest and most steps, see `Steps`."""
    jitter: Float[Tensor, ""]
    """Deviation of the starts of an ensemble."""
    walls: Float[Tensor, "axes 2"]
    wall_spread: Float[Tensor, "2"]
    """Spread of the walls' places, and whether those of a system move together."""

    def __init__(self, config: PGODEConfig, normaliser: Normaliser) -> None:
        super().__init__(config, normaliser)
        assert isinstance(config.dynamics, LawsConfig)
        self.settings = config.dynamics
        check_named(normaliser, self.settings)
        self.units = Units.of(normaliser)
        self.box_low = low_end(normaliser, self.settings.box)
        kinds, axes = self.settings.prototypes, len(normaliser.positions)
        self.numbers = law_numbers(kinds, self.settings.third_law)
        self.radial = RadialLaws(int(self.numbers.max()) + 1, CELLS)
        self.cells = CELLS
        self._number("drag", [0.0] * kinds)
        self._number("shares", [1.0] + [0.0] * (kinds - 1))
        self._number("outer", [0.0] * (axes + 1))
        self._number("noise", 1.0)
        self._number("spread", 0.1)
        self._number("usual", np.inf)
        self._number("limit", np.inf)
        self._number("scheme", [0.0, 10.0, float(self.settings.most_substeps)])
        self._number("jitter", 0.0)
        self._number("walls", [[-np.inf, np.inf]] * axes)
        self._number("wall_spread", [0.0, 0.0])

    def _number(self, name: str, value: object) -> None:
        self.register_buffer(name, torch.tensor(value, dtype=torch.float64))

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "ForceLaws":
        """Go to another device without what was found, see the class."""
        self._buffers["_here"] = fn(self.get_buffer("_here"))
        return self

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
            origin=self.cells.first,
            laws=laws,
            drag=self.drag.detach()[:used].numpy(),
            shares=shares / shares.sum(),
            noise=float(self.noise),
            spread=float(self.spread),
            usual=float(self.usual),
        )

    @property
    def periods(self) -> Float[np.ndarray, " axes"]:
        """Period of each axis in the units of the laws; 0 where there is none."""
        if self.settings.box is None:
            return np.zeros(len(self.units.positions))
        return np.array(self.settings.box) / self.units.length

    @property
    def space(self) -> Space:
        """Walls and periods."""
        finite = torch.isfinite(self.walls).any(1).numpy()
        kinds = np.where(finite, force_kernel.REFLECT, force_kernel.NONE).astype(np.int64)
        return Space(kinds, self.periods, self.cells.first, float(self.limit))

    @property
    def steps(self) -> Steps:
        """How finely frames are divided."""
        lead, fewest, most = self.scheme.tolist()
        if self.settings.substeps is not None:
            fewest = most = self.settings.substeps
        return Steps(lead, float(fewest), int(most), TOLERANCE)

    def situation(self, batch: Batch, *, targets: bool = False) -> Situation:
        """Infer prototypes, strengths and walls from the condition (and targets, in training)."""
        known, scope = self.knowledge(), self.scope
        every = observations(batch, self.units, self.periods, targets=targets)
        seen = [each.beside(self.outer.numpy()) for each in every]
        inferred = [infer(each, known, scope) for each in seen]
        pairs, edge_weights = layout(seen)
        strength = np.array([each.strength for each in inferred])
        deviation = np.array([each.deviation for each in inferred])
        box = Walls(self.walls.numpy(), float(self.wall_spread[0]), bool(self.wall_spread[1]))
        places, wall_deviation = zip(*(placed(each, box) for each in seen), strict=True)
        weights = np.concatenate([each.weights for each in inferred])
        numbers = np.ascontiguousarray(self.numbers[: self.used, : self.used])
        table = torch.from_numpy(known.table)
        acting = (pairs, edge_weights, weights, strength, np.stack(places))
        forces = forces_of(table, numbers, self.drag, *acting)
        forces = forces._replace(**outer_forces(self.outer.numpy(), forces))
        if scope.strength:
            frames = Frames.of(seen)
            if targets:
                frames = frames.few(ENOUGH, np.random.default_rng(0))
            if not self.settings.disentangled:
                strength = np.repeat(strength, np.diff(pairs.offsets))
            fixed = Forces(*(each.detach() for each in forces))
            strength, deviation = strengths(
                frames, fixed, pairs, self.space, self.steps, known.spread, strength
            )
            forces = with_strengths(forces, pairs, strength)
            if not self.settings.disentangled:
                deviation = np.maximum.reduceat(deviation, pairs.offsets[:-1])
        # Where nothing was observed, strengths differ as those of the training systems do.
        deviation = np.minimum(deviation, max(known.spread - OUTSIDE, 0.0) / 3)
        return Situation(seen, inferred, pairs, forces, deviation, np.array(wall_deviation))

    def forecast(
        self, batch: Batch, times: Float[Tensor, "systems outputs"], samples: int = 0
    ) -> Forecast:
        """Mean of an ensemble; samples are its members."""
        now = self.situation(batch)
        members = max(self.settings.ensemble, samples)
        path = self.run(batch, now, times, members)
        states = self._features(path, batch)
        mean = self._wrapped(states[: self.settings.ensemble].mean(0))
        contexts = contexts_of(self, now, path, self.trusted(batch, now, times, path))
        return Forecast(
            mean.to(batch.states),
            self._wrapped(states[:samples]).to(batch.states),
            {name: each.to(batch.states.device) for name, each in contexts.items()},
            int(path.steps.max(initial=0)),
        )

    def mean_forecast(self, batch: Batch, times: Float[Tensor, "systems outputs"]) -> Tensor:
        """The mean, without how far it can be trusted."""
        return self.ensemble_mean(batch, self.situation(batch), times).to(batch.states.dtype)

    def ensemble_mean(
        self, batch: Batch, now: Situation, times: Float[Tensor, "systems outputs"]
    ) -> Float[Tensor, "objects outputs features"]:
        """The mean forecast from a situation that is known already."""
        path = self.run(batch, now, times, self.settings.ensemble)
        return self._wrapped(self._features(path, batch).mean(0))

    @torch.no_grad()
    def run(
        self, batch: Batch, now: Situation, times: Float[Tensor, "systems outputs"], members: int
    ) -> Path:
        """An ensemble of motions from the last observed frame; the first is not perturbed."""
        start = np.concatenate(present(batch, self.units), axis=-1)
        states, forces = members_of(start, now, float(self.jitter), members)
        return self._moved(states, forces, now, times)

    def _moved(
        self,
        states: Float[np.ndarray, "copies objects parts"],
        forces: Forces,
        now: Situation,
        times: Float[Tensor, "systems outputs"],
    ) -> Path:
        durations = np.diff(times.cpu().numpy().astype(np.float64), axis=1, prepend=0.0)
        q, v = torch.from_numpy(states).to(times.device).chunk(2, dim=-1)
        there = forces.to(times.device)
        return move(q, v, there, now.layout, self.space, durations[None], self.steps).cpu()

    @torch.no_grad()
    def trusted(
        self, batch: Batch, now: Situation, times: Float[Tensor, "systems outputs"], path: Path
    ) -> Trust:
        """How long the first of these motions can be trusted."""
        start = np.concatenate(present(batch, self.units), axis=-1)
        forces = now.forces._replace(
            strength=now.forces.strength.expand(TWINS, -1),
            walls=now.forces.walls.expand(TWINS, -1, -1, -1),
        )
        twins = self._moved(twins_of(start, now.layout), forces, now, times)
        own, others = (torch.cat([p.positions, p.velocities], -1).numpy() for p in (path, twins))
        return trust(start, own[0], others, times.cpu().numpy().astype(np.float64), now.layout)

    def _features(
        self, path: Path, batch: Batch
    ) -> Float[Tensor, "copies objects outputs features"]:
        states = self.units.scaled(path.positions.numpy(), path.velocities.numpy())
        return self.decoded(torch.from_numpy(np.concatenate(states, -1)), batch).transpose(1, 2)

    def decoded(
        self, states: Float[Tensor, "*rows objects parts"], batch: Batch
    ) -> Float[Tensor, "*rows objects features"]:
        """Features of scaled states [q, v]; what is neither of both keeps its last value."""
        value, _ = last_observed(batch)
        features = value.to(states.device).double().expand(*states.shape[:-1], -1).clone()
        features[..., [*self.units.positions, *self.units.velocities]] = states
        return features

    def _wrapped(self, states: Float[Tensor, "*rows features"]) -> Float[Tensor, "*rows features"]:
        return wrapped(states, self.units, self.box_low, self.periods)

    def flow(self, batch: Batch) -> Flow:
        """The motion as an initial value problem, see `pgode.models.pgode.laws.flow`."""
        from pgode.models.pgode.laws.flow import flow

        return flow(self, batch)

    def prepare(self, training: Windows, seed: int, progress: Progress) -> bool:
        """Find laws, prototypes and walls in the training data."""
        find(self, training, seed, progress)
        return True

    def keep_walls(self, found: Walls) -> None:
        """Remember the walls of the training data."""
        self.walls.copy_(torch.from_numpy(found.places))
        self.wall_spread.copy_(torch.tensor([found.spread, float(found.together)]))

    def keep_laws(self, found: Found, span: tuple[float, float]) -> None:
        """Remember laws and prototypes."""
        used, laws = len(found.shares), len(found.fitted.coefficients)
        self.radial.span.copy_(torch.tensor(span))
        self.radial.keep(found.splines.exponents, found.fitted.coefficients, laws)
        self.drag[:used] = torch.from_numpy(found.fitted.drag)
        self.outer.copy_(torch.from_numpy(found.fitted.outer))
        self.shares.zero_()
        self.shares[:used] = torch.from_numpy(found.shares)
        self.noise.fill_(found.noise)
        self.spread.fill_(found.spread)
        self.usual.fill_(found.usual)

    def forget_laws(self) -> None:
        """Free motion between the walls, where no law was found that forecasts better."""
        self.radial.coefficients.zero_()
        self.drag.zero_()
        self.outer.zero_()
        self.limit.fill_(np.inf)

    def keep_scheme(self, steps: Steps, limit: float) -> None:
        """Remember how finely frames are divided."""
        self.scheme.copy_(torch.tensor([steps.lead, steps.fewest, float(steps.most)]))
        self.limit.fill_(limit)

    def keep_refined(
        self, unknowns: Unknowns, refined: Refined, inner: Float[np.ndarray, " laws"]
    ) -> None:
        """Remember refined laws, and how sure they are."""
        coefficients, exponents, drag = unknowns.parts(refined.values)
        self.radial.keep(exponents, coefficients, len(exponents))
        self.radial.inner[: len(inner)] = torch.from_numpy(inner)
        self.drag[: unknowns.drags] = torch.from_numpy(drag[: unknowns.drags])
        if unknowns.outer:
            self.outer.copy_(torch.from_numpy(drag[unknowns.drags :]))
        for law in range(len(exponents)):
            own = unknowns.of_law(law)
            self.radial.covariance[law] = torch.from_numpy(refined.covariance[np.ix_(own, own)])

    @property
    def has_laws(self) -> bool:
        """Whether there are forces, or free motion forecasts better than any found."""
        return bool(self.radial.coefficients.any())

    def laws(self) -> list[Law]:
        """The law between each two prototypes in use; none if none was found."""
        return list(laws_of(self)) if self.has_laws else []

    def findings(self) -> tuple[str, ...]:
        """Prototypes, walls, steps and limits in sentences."""
        return tuple(sentences(self))
