"""Laws refined by solving the motion between frames: Gauss-Newton on errors one frame ahead."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float, Int

from pgode.models.pgode.laws.evidence.inference import FREEDOM
from pgode.models.pgode.laws.finding.shooting import Frames, shoot
from pgode.models.pgode.laws.finding.unknowns import Unknowns
from pgode.models.pgode.laws.motion.force_kernel import Layout, Space, Steps
from pgode.models.pgode.laws.motion.path import Forces
from pgode.models.pgode.laws.radial import evaluate
from pgode.models.pgode.laws.situation import outer_forces

STIFFNESS = (1e4, 1e2, 1.0, 1e-2, 1e-4)
"""Penalties on bends and slopes of a law's correction that are tried."""
MOVES = (1.0, 0.3)
"""Shares of a step that are tried."""
LITTLE = 1e-12
"""Evidence for a coefficient that no data decide, as a share of the average."""
ROUNDS, POWER_ROUNDS, FEWEST = 3, 6, 3
"""Steps at most, steps at most to laws that are pure powers, and at least to these."""
BETTER = 0.02
"""Decrease of the held-out misfit that one more step must bring."""
BETTER_THAN_POWERS = 0.2
"""Decrease that corrections must bring where pure powers explain the data too."""
HOPELESS = 6.0
"""Increase of the misfit after which pure powers are given up."""
DOUBTS = (0.0, 1e-3, 1e-1)
"""Relative errors that laws may still have: what chaos makes of them counts as noise. After a long
interval with encounters a law that is slightly wrong ends anywhere; derivatives say nothing."""
NUDGE = 1e-6
"""Relative change of an unknown that derivatives are taken over."""
LEAST = 1e-16
"""Squared errors are not taken to be smaller than this."""
LOST = 1e6
"""Errors beyond this are those of laws that throw objects out of the scene: their size is moot."""
RIDGE = 1e-9
"""Share of the diagonal that is added to it: some directions are not decided by any data."""


@dataclass(frozen=True)
class Trial:
    """Intervals of several systems whose objects and strengths are known."""

    frames: Frames
    forces: Forces
    weights: Float[np.ndarray, "objects prototypes"]
    layout: Layout
    space: Space
    steps: Steps
    unknowns: Unknowns
    inner: Float[np.ndarray, " laws"]
    """Powers of the laws nearer than their range; infinite for their own."""

    @property
    def owner(self) -> Int[np.ndarray, " objects"]:
        """The system of each object."""
        return np.repeat(np.arange(self.layout.systems), np.diff(self.layout.offsets))

    @torch.no_grad()
    def errors(
        self, values: Float[np.ndarray, " unknowns"], stronger: float = 0.0
    ) -> Float[np.ndarray, "copies objects parts"]:
        """Errors one frame ahead, with all strengths raised by a share; NaN for what flew away."""
        unknowns, frames = self.unknowns, self.frames
        coefficients, exponents, drag = unknowns.parts(values)
        laws = evaluate(
            torch.from_numpy(exponents),
            torch.from_numpy(coefficients),
            unknowns.low,
            unknowns.spacing,
            np.sqrt(unknowns.cells.edges),
            torch.from_numpy(self.inner),
        )
        forces = self.forces._replace(
            table=unknowns.cells.table(*laws),
            drag=torch.from_numpy(self.weights @ drag[: unknowns.drags]),
            **outer_forces(drag[unknowns.drags :], self.forces),
            strength=self.forces.strength * (1 + stronger),
        )
        path, _ = shoot(frames, forces, self.layout, self.space, self.steps)
        states = torch.cat([path.positions[:, 0], path.velocities[:, 0]], dim=-1).numpy()
        target = np.concatenate([frames.next_positions, frames.next_velocities], axis=-1)
        errors = states - target
        return np.where(np.abs(errors) < LOST, errors, np.nan)

    def left(
        self, values: Float[np.ndarray, " unknowns"], doubt: float = 0.0
    ) -> tuple[np.ndarray, "Strengths", Float[np.ndarray, "copies objects 1"]]:
        """Errors that no other strengths would explain, and the roots of their robust weights.

        With a `doubt` an error weighs less where a relative error of the forces of this size would
        make a larger one.
        """
        now, stronger = self.errors(values), self.errors(values, NUDGE)
        return self.left_of(now, (stronger - now) / NUDGE, doubt)

    def left_of(
        self, now: np.ndarray, slope: np.ndarray, doubt: float
    ) -> tuple[np.ndarray, "Strengths", Float[np.ndarray, "copies objects 1"]]:
        """The same from errors, and from their derivative by the strength."""
        chaos = doubt**2 * (slope**2).sum(-1) if doubt else 0.0
        root = self._root(now, chaos)
        for _ in range(2):  # The weights follow from what is left.
            strengths = Strengths(_finite(slope) * root, self.owner, self.layout.systems)
            left = now - strengths.explained(_finite(now) * root)[..., None] * slope
            root = self._root(left, chaos)
        return left, strengths, root

    def _root(
        self, errors: np.ndarray, chaos: np.ndarray | float
    ) -> Float[np.ndarray, "copies objects 1"]:
        """Roots of the weights of errors with heavy tails around their median size."""
        counts, parts = self.frames.counts, errors.shape[-1]
        squares = (errors**2).sum(-1)
        known = squares[(counts > 0) & np.isfinite(squares)]
        noise = max(float(np.median(known)) if len(known) else 1.0, LEAST) / parts
        weight = counts * (FREEDOM + parts) / (FREEDOM * noise + squares + chaos)
        return np.sqrt(np.where(np.isfinite(weight), weight, 0.0))[..., None]

    def misfit(self, values: Float[np.ndarray, " unknowns"]) -> float:
        """Mean logarithm of the squared errors: a few encounters cannot decide it."""
        return float(self.logs(values).sum() / max(self.frames.counts.sum(), 1.0))

    def logs(self, values: Float[np.ndarray, " unknowns"]) -> Float[np.ndarray, "copies objects"]:
        """Logarithms of the squared errors; 0 where nothing is known."""
        squares = (self.left(values)[0] ** 2).sum(-1)
        logs = np.where(np.isfinite(squares), np.log(squares + LEAST), 1.0)
        return np.asarray(logs * self.frames.counts)


@dataclass(frozen=True)
class Strengths:
    """Weighted derivative of the errors by each system's strength."""

    slope: Float[np.ndarray, "copies objects parts"]
    owner: Int[np.ndarray, " objects"]
    systems: int

    def explained(
        self, weighted: Float[np.ndarray, "copies objects parts"]
    ) -> Float[np.ndarray, "1 objects"]:
        """The change of strength, of each object's system, that best explains weighted errors."""
        power = np.bincount(self.owner, (self.slope**2).sum((0, 2)), minlength=self.systems)
        along = np.bincount(self.owner, (self.slope * weighted).sum((0, 2)), minlength=self.systems)
        return np.asarray((along / (power + 1e-300))[self.owner][None])

    def unexplained(
        self, weighted: Float[np.ndarray, "copies objects parts"]
    ) -> Float[np.ndarray, "copies objects parts"]:
        """What is left of weighted errors."""
        return np.asarray(weighted - self.explained(weighted)[..., None] * self.slope)


def _finite(values: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(values), values, 0.0)


@dataclass(frozen=True)
class Refined:
    """Unknowns, their covariance, and the misfit that is left on intervals held out."""

    values: Float[np.ndarray, " unknowns"]
    covariance: Float[np.ndarray, "unknowns unknowns"]
    misfit: float


def refine(
    trial: Trial,
    held_out: Trial,
    start: Float[np.ndarray, " unknowns"],
    tell: Callable[[float], None],
) -> Refined:
    """Lower the error one frame ahead; corrections are as stiff as held-out frames allow."""
    nothing = np.zeros((len(start), len(start)))
    best = Refined(start, nothing, held_out.misfit(start))
    pure = _as_powers(trial, held_out, best, tell)
    if pure is not None:
        best = pure
    for number in range(ROUNDS):

        def told(share: float, number: int = number) -> None:
            tell((POWER_ROUNDS + number + share) / (POWER_ROUNDS + ROUNDS))

        steps = _steps(trial, best.values, told)
        step = min(steps, key=lambda each: each.taken(held_out, 1.0, False, 1.0).misfit)
        tried = [step.taken(held_out, s, False, m) for s, m in itertools.product(STIFFNESS, MOVES)]
        chosen = min(tried, key=lambda each: each.misfit)
        worth = BETTER if number else BETTER_THAN_POWERS if pure is not None else 0.0
        if not chosen.misfit < best.misfit - worth:
            break
        best = chosen
    if not best.covariance.any():
        best = replace(best, covariance=step.covariance(STIFFNESS[-1]))
    return best


def _as_powers(
    trial: Trial, held_out: Trial, start: Refined, tell: Callable[[float], None]
) -> Refined | None:
    """Laws without corrections, if frames held out are explained as well by pure powers."""
    best = start
    for number in range(POWER_ROUNDS):

        def told(share: float, number: int = number) -> None:
            tell((number + share) / (POWER_ROUNDS + ROUNDS))

        steps = _steps(trial, best.values, told)
        tried = [step.taken(held_out, STIFFNESS[0], True, 1.0) for step in steps]
        before = best.misfit
        tried += [steps[-1].levelled(held_out), *([best] if number else [])]
        best = min(tried, key=lambda each: each.misfit)
        if number + 1 >= FEWEST and not best.misfit < before - BETTER:
            break
        if best.misfit > start.misfit + HOPELESS:
            return None
    return best if best.misfit < start.misfit + BETTER_THAN_POWERS else None


@dataclass(frozen=True)
class _Step:
    """The normal equations of a Gauss-Newton step, in units of `sizes`."""

    values: Float[np.ndarray, " unknowns"]
    sizes: Float[np.ndarray, " unknowns"]
    matrix: Float[np.ndarray, "unknowns unknowns"]
    target: Float[np.ndarray, " unknowns"]
    evidence: Float[np.ndarray, " unknowns"]
    shape: Float[np.ndarray, "unknowns unknowns"]
    undoubted: "_Step | None" = None
    """The same without doubt: what chaos makes of a wrong law does not make this one uncertain."""

    @classmethod
    def of(
        cls,
        unknowns: Unknowns,
        values: Float[np.ndarray, " unknowns"],
        slopes: Float[np.ndarray, "unknowns errors"],
        left: Float[np.ndarray, " errors"],
    ) -> "_Step":
        """From weighted errors, and their derivatives by all unknowns."""
        matrix, target = slopes @ slopes.T, -slopes @ left
        size = np.trace(matrix) / len(matrix)
        evidence = np.diag(matrix) + LITTLE * size
        shape = unknowns.stiffness(evidence)
        return cls(values, unknowns.sizes(values), matrix, target, evidence, shape)

    def taken(self, held_out: Trial, stiffness: float, flat: bool, share: float) -> Refined:
        """A share of the step; corrections become flat, or keep their shape if they are stiff."""
        penalised = self._penalised(stiffness)
        pull = stiffness * self.shape @ (self.values / self.sizes) if flat else 0.0
        step = np.linalg.solve(penalised, self.target - pull)
        values = self.values + share * self.sizes * step
        # Corrections that were not forced to be flat are as open as the data leave them.
        covariance = self.covariance(stiffness if flat else STIFFNESS[-1])
        return Refined(values, covariance, held_out.misfit(values))

    def levelled(self, held_out: Trial) -> Refined:
        """No step, but each law as the power that it is where the data say most about it.

        Corrections may be so far off that a step does not lead from them to a power.
        """
        unknowns = held_out.unknowns
        coefficients, exponents, drag = unknowns.parts(self.values.copy())
        evidence, _, _ = unknowns.parts(self.evidence)
        for row, weight in zip(coefficients, evidence, strict=True):
            order = np.argsort(row)
            half = np.searchsorted(np.cumsum(weight[order]), weight.sum() / 2)
            row[:] = row[order[half]]
        values = unknowns.packed(coefficients, exponents, drag)
        return Refined(values, self.covariance(STIFFNESS[0]), held_out.misfit(values))

    def covariance(self, stiffness: float) -> Float[np.ndarray, "unknowns unknowns"]:
        """How unsure the unknowns are after the step."""
        sure = self.undoubted or self
        inverse = np.linalg.inv(sure._penalised(stiffness))
        return np.asarray(inverse * np.outer(self.sizes, self.sizes))

    def _penalised(self, stiffness: float) -> Float[np.ndarray, "unknowns unknowns"]:
        return np.asarray(self.matrix + stiffness * self.shape + RIDGE * np.diag(self.evidence))


def _steps(
    trial: Trial, values: Float[np.ndarray, " unknowns"], tell: Callable[[float], None]
) -> list[_Step]:
    """Gauss-Newton steps from here, one for each doubt about the laws, from the same derivatives.

    The strength of each system is unknown too: what it can explain is taken out of both sides.
    """
    now, sizes = trial.errors(values), trial.unknowns.sizes(values)
    stronger = (trial.errors(values, NUDGE) - now) / NUDGE
    slopes = np.empty((len(values), *now.shape))
    for k in range(len(values)):
        nudged = values.copy()
        nudged[k] += NUDGE * sizes[k]
        slopes[k] = _finite((trial.errors(nudged) - now) / NUDGE)
        tell(k / len(values))
    steps: list[_Step] = []
    for doubt in DOUBTS:
        left, strengths, root = trial.left_of(now, stronger, doubt)
        rows = np.stack([strengths.unexplained(slope * root).ravel() for slope in slopes])
        step = _Step.of(trial.unknowns, values, rows, (left * root).ravel())
        steps.append(replace(step, undoubted=steps[0] if steps else None))
    return steps
