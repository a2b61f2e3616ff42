"""A few objects under two laws with walls, drag and outer forces, for tests of motion."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from pgode.models.pgode.laws.motion.force_kernel import NONE, REFLECT, Layout, Space, Steps
from pgode.models.pgode.laws.motion.moving import move
from pgode.models.pgode.laws.motion.path import Forces, Path
from pgode.models.pgode.laws.motion.table import Cells

CELLS = Cells.covering(2.0**-3, 2.0**3)


def power_table(exponents: tuple[float, ...], cells: Cells = CELLS) -> Tensor:
    """Laws r^b as tables of force over distance: s^((b - 1) / 2) of the square s."""
    squares = torch.from_numpy(cells.edges)
    powers = [(b - 1) / 2 for b in exponents]
    values = torch.stack([squares**p for p in powers])
    slopes = torch.stack([p * squares ** (p - 1) for p in powers])
    return cells.table(values, slopes)


def joined(*sizes: int) -> Layout:
    """Systems of these sizes in which all pairs act on each other."""
    ends = [np.array(np.triu_indices(size, 1), np.int64).reshape(2, -1) for size in sizes]
    return Layout(
        np.cumsum([0, *sizes]),
        np.cumsum([0, *(each.shape[1] for each in ends)]),
        np.ascontiguousarray(np.concatenate(ends, axis=1)),
    )


@dataclass(frozen=True)
class Case:
    """All inputs of a motion; `tensors` are positions, velocities, and the fields of `Forces`."""

    tensors: tuple[Tensor, ...]
    layout: Layout
    space: Space
    durations: np.ndarray
    steps: Steps

    def path(self, tensors: tuple[Tensor, ...] | None = None, moving=move) -> Path:
        q, v, *forces = self.tensors if tensors is None else tensors
        given = (self.layout, self.space, self.durations, self.steps)
        return moving(q, v, Forces(*forces), *given)

    def with_steps(self, **changes: float) -> "Case":
        return replace(self, steps=self.steps._replace(**changes))

    def with_forces(self, **changes: Tensor) -> "Case":
        forces = Forces(*self.tensors[2:])._replace(**changes)
        return replace(self, tensors=(*self.tensors[:2], *forces))

    def gradients(self, moving=move) -> list[Tensor]:
        """Of a sum with random weights over all outputs."""
        tensors = tuple(each.clone().requires_grad_() for each in self.tensors)
        path = self.path(tensors, moving)
        weights = torch.randn(2, *path.positions.shape, generator=torch.manual_seed(3)).double()
        total = (weights[0] * path.positions).sum() + (weights[1] * path.velocities).sum()
        return list(torch.autograd.grad(total, tensors))


def case(kind: str, lead: float = 0.0) -> Case:
    """Two copies of systems of three and two objects: free, walls, periodic, or a limit."""
    random = torch.Generator().manual_seed(1)

    def drawn(*shape: int) -> Tensor:
        return torch.rand(*shape, generator=random, dtype=torch.float64)

    layout, copies, laws = joined(3, 2), 2, 2
    objects, pairs = 5, 4
    walls = torch.tensor([-1.0, 1.1], dtype=torch.float64).repeat(copies, 2, 2, 1)
    space = Space(np.array([NONE, NONE]), np.zeros(2), CELLS.first, np.inf)
    if kind == "walls":
        space = space._replace(kinds=np.array([REFLECT, NONE]))
    if kind == "periodic":
        space = space._replace(periods=np.array([0.0, 2.5]))
    if kind == "limit":
        space = space._replace(limit=0.25)
    tensors = (
        (2 * drawn(copies, objects, 2) - 1) * 0.95,
        2 * (2 * drawn(copies, objects, 2) - 1),
        power_table((-2.0, -1.0)),
        0.3 * (drawn(pairs, 2, laws) - 0.3),
        0.5 + drawn(copies, 2),
        walls + 0.1 * drawn(*walls.shape) * torch.tensor([-1.0, 1.0]),
        0.3 * drawn(objects),
        0.2 * drawn(objects),
        0.2 * drawn(objects, 2),
    )
    durations = np.array([[[0.5, 0.7], [0.3, 0.9]]])
    return Case(tensors, layout, space, durations, Steps(lead, 20.0, 20, 1.0))
