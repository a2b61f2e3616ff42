"""Laws refined by solving the motion between frames: Gauss-Newton on errors one frame ahead."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int

from pgode.models.pgode.laws.inference import FREEDOM
from pgode.models.pgode.laws.motion import Forces, Layout, Space, Steps
from pgode.models.pgode.laws.radial import evaluate
from pgode.models.pgode.laws.shooting import Frames, shoot
from pgode.models.pgode.laws.table import Cells

STIFFNESS = (1e4, 1e2, 1.0, 1e-2, 1e-4, 1e-6)
"""Penalties on bends and slopes of a law's correction that are tried, the stiffest first."""
BETTER = 0.01
"""Decrease of the held-out error that a less stiff correction must bring."""
ROUNDS = 4
NUDGE = 1e-6
"""Relative change of an unknown that derivatives are taken over."""
LEAST = 1e-16
"""Squared errors are not taken to be smaller than this."""
RIDGE = 1e-9
"""Share of the diagonal that is added to it: some directions are not decided by any data."""


@dataclass(frozen=True)
class Unknowns:
    """The order of the unknowns: coefficients by law, then exponents, then drags."""

    laws: int
    splines: int
    drags: int
    low: float
    spacing: float
    cells: Cells

    def packed(
        self, coefficients: np.ndarray, exponents: np.ndarray, drag: np.ndarray
    ) -> Float[np.ndarray, " unknowns"]:
        """All in one vector."""
        return np.concatenate([coefficients.ravel(), exponents, drag])

    def parts(
        self, values: Float[np.ndarray, " unknowns"]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coefficients, exponents and drags."""
        size = self.laws * self.splines
        coefficients = values[:size].reshape(self.laws, self.splines)
        return coefficients, values[size : size + self.laws], values[size + self.laws :]

    def sizes(self, values: Float[np.ndarray, " unknowns"]) -> Float[np.ndarray, " unknowns"]:
        """What counts as a change of order one: of coefficients that of the law's largest."""
        coefficients, exponents, drag = self.parts(values)
        largest = np.maximum(np.abs(coefficients).max(1), 1e-300)
        return self.packed(
            np.repeat(largest[:, None], self.splines, axis=1),
            np.ones_like(exponents),
            np.full_like(drag, 0.1),
        )

    def stiffness(self) -> Float[np.ndarray, "unknowns unknowns"]:
        """Bends and slopes of the laws' corrections, as a quadratic form of their coefficients."""
        total = self.laws * (self.splines + 1) + self.drags
        out = np.zeros((total, total))
        bends, slopes = (np.diff(np.eye(self.splines), order, axis=0) for order in (2, 1))
        for law in range(self.laws):
            own = slice(law * self.splines, (law + 1) * self.splines)
            out[own, own] = bends.T @ bends + slopes.T @ slopes
        return out


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

    @property
    def owner(self) -> Int[np.ndarray, " objects"]:
        """The system of each object."""
        return np.repeat(np.arange(self.layout.systems), np.diff(self.layout.offsets))

    @torch.no_grad()
    def errors(
        self, values: Float[np.ndarray, " unknowns"], stronger: float = 0.0
    ) -> Float[np.ndarray, "copies objects parts"]:
        """Errors one frame ahead, with all strengths raised by a share."""
        unknowns, frames = self.unknowns, self.frames
        coefficients, exponents, drag = unknowns.parts(values)
        laws = evaluate(
            *(torch.from_numpy(exponents), torch.from_numpy(coefficients)),
            *(unknowns.low, unknowns.spacing, np.sqrt(unknowns.cells.edges)),
        )
        forces = self.forces._replace(
            table=unknowns.cells.table(*laws),
            drag=torch.from_numpy(self.weights @ drag),
            strength=self.forces.strength * (1 + stronger),
        )
        path, _ = shoot(frames, forces, self.layout, self.space, self.steps)
        states = torch.cat([path.positions[:, 0], path.velocities[:, 0]], dim=-1).numpy()
        target = np.concatenate([frames.next_positions, frames.next_velocities], axis=-1)
        return np.asarray(states - target)

    def left(
        self, values: Float[np.ndarray, " unknowns"]
    ) -> tuple[np.ndarray, "Strengths", Float[np.ndarray, "copies objects 1"]]:
        """Errors that no other strengths would explain, and the roots of their robust weights."""
        now, stronger = self.errors(values), self.errors(values, NUDGE)
        slope = (stronger - now) / NUDGE
        root = self._root(now)
        for _ in range(2):  # The weights follow from what is left.
            strengths = Strengths(_finite(slope) * root, self.owner, self.layout.systems)
            left = now - strengths.explained(_finite(now) * root)[..., None] * slope
            root = self._root(left)
        return left, strengths, root

    def _root(self, errors: np.ndarray) -> Float[np.ndarray, "copies objects 1"]:
        """Roots of the weights of errors with heavy tails around their median size."""
        counts, parts = self.frames.counts, errors.shape[-1]
        squares = (errors**2).sum(-1)
        known = squares[(counts > 0) & np.isfinite(squares)]
        noise = max(float(np.median(known)) if len(known) else 1.0, LEAST) / parts
        weight = counts * (FREEDOM + parts) / (FREEDOM * noise + squares)
        return np.sqrt(np.where(np.isfinite(weight), weight, 0.0))[..., None]

    def misfit(self, values: Float[np.ndarray, " unknowns"]) -> float:
        """Mean logarithm of the squared errors: a few encounters cannot decide it."""
        counts = self.frames.counts
        squares = (self.left(values)[0] ** 2).sum(-1)
        logs = np.where(np.isfinite(squares), np.log(squares + LEAST), 1.0)
        return float((logs * counts).sum() / max(counts.sum(), 1.0))


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
        return (along / (power + 1e-300))[self.owner][None]

    def unexplained(
        self, weighted: Float[np.ndarray, "copies objects parts"]
    ) -> Float[np.ndarray, "copies objects parts"]:
        """What is left of weighted errors."""
        return weighted - self.explained(weighted)[..., None] * self.slope


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
    unknowns = trial.unknowns
    shape, coefficients = unknowns.stiffness(), unknowns.laws * unknowns.splines
    best = Refined(start, np.zeros((len(start), len(start))), held_out.misfit(start))
    stiffnesses = STIFFNESS
    for number in range(ROUNDS):
        sizes = unknowns.sizes(best.values)

        def told(share: float, number: int = number) -> None:
            tell((number + share) / ROUNDS)

        matrix, target = _normal_equations(trial, best.values, sizes, told)
        size = np.trace(matrix[:coefficients, :coefficients]) / coefficients
        chosen: tuple[Refined, float] | None = None
        for stiffness in stiffnesses:
            penalised = matrix + stiffness * size * shape
            penalised += RIDGE * np.diag(np.diag(matrix) + 1e-6 * size)
            pull = stiffness * size * shape @ (best.values / sizes)
            tried = best.values + sizes * np.linalg.solve(penalised, target - pull)
            misfit = held_out.misfit(tried)
            least = best.misfit if chosen is None else chosen[0].misfit - BETTER
            if misfit < least:
                covariance = np.linalg.inv(penalised) * np.outer(sizes, sizes)
                chosen = Refined(tried, covariance, misfit), stiffness
        if chosen is None:
            break
        gained, best = best.misfit - chosen[0].misfit, chosen[0]
        if gained < BETTER:
            break
    return best


def _normal_equations(
    trial: Trial,
    values: Float[np.ndarray, " unknowns"],
    sizes: Float[np.ndarray, " unknowns"],
    tell: Callable[[float], None],
) -> tuple[np.ndarray, np.ndarray]:
    """Matrix and right-hand side of a Gauss-Newton step, in units of `sizes`.

    The strength of each system is unknown too: what it can explain is taken out of both sides.
    """
    left, strengths, root = trial.left(values)
    now = trial.errors(values)
    slopes = np.empty((len(values), left.size))
    for k in range(len(values)):
        nudged = values.copy()
        nudged[k] += NUDGE * sizes[k]
        slope = _finite((trial.errors(nudged) - now) / NUDGE) * root
        slopes[k] = strengths.unexplained(slope).ravel()
        tell(k / len(values))
    return slopes @ slopes.T, -slopes @ (left * root).ravel()
