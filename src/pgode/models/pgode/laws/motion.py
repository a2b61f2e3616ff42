"""Motion under pair laws as a torch function: the compiled core and its gradient."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from pgode.models.pgode.laws import kernel


@dataclass(frozen=True)
class Layout:
    """Which objects and pairs a system has; all arrays are ragged lists over systems.

    `ends` are the two objects of each pair, counted within their system.
    """

    offsets: Int[np.ndarray, " systems+1"]
    pair_offsets: Int[np.ndarray, " systems+1"]
    ends: Int[np.ndarray, "2 pairs"]

    @property
    def systems(self) -> int:
        """Number of systems."""
        return len(self.offsets) - 1

    @property
    def objects(self) -> Int[np.ndarray, "2 pairs"]:
        """The two objects of each pair, counted over all systems."""
        first = np.repeat(self.offsets[:-1], np.diff(self.pair_offsets))
        return np.asarray(self.ends + first)


@dataclass(frozen=True)
class Steps:
    """How finely an interval between two outputs is divided, see `kernel.forward`."""

    lead: float
    fewest: float
    most: int
    tolerance: float


@dataclass(frozen=True)
class Space:
    """What is at the ends of each axis, the period of each (0 for none), and the table's origin.

    `limit` is the largest component of an acceleration: simulators often clip forces.
    """

    kinds: Int[np.ndarray, " axes"]
    periods: Float[np.ndarray, " axes"]
    origin: int
    limit: float = np.inf


class Forces(NamedTuple):
    """Everything that accelerates, as tensors: pair laws, walls, drag and outer forces.

    The acceleration of object i is `push - pull q - drag v` plus, for each pair and law, strength
    times coupling times the table's value times the displacement.
    """

    table: Float[Tensor, "cells laws 4"]
    coupling: Float[Tensor, "pairs 2 laws"]
    strength: Float[Tensor, "copies systems"]
    walls: Float[Tensor, "copies systems axes 2"]
    drag: Float[Tensor, " objects"]
    pull: Float[Tensor, " objects"]
    push: Float[Tensor, "objects axes"]


class Path(NamedTuple):
    """States at the outputs, steps taken to each, and the smallest distance met."""

    positions: Float[Tensor, "copies outputs objects axes"]
    velocities: Float[Tensor, "copies outputs objects axes"]
    steps: Int[np.ndarray, "copies systems outputs"]
    closest: Float[np.ndarray, "copies systems"]


def move(
    positions: Float[Tensor, "copies objects axes"],
    velocities: Float[Tensor, "copies objects axes"],
    forces: Forces,
    layout: Layout,
    space: Space,
    durations: Float[np.ndarray, "#copies systems outputs"],
    steps: Steps,
) -> Path:
    """States of every copy after the first of its system's `durations`, the second, and so on."""
    every = np.broadcast_to(durations, (len(positions), *durations.shape[1:]))
    record: dict[str, Any] = {}
    q, v = _Motion.apply(
        positions, velocities, *forces, (layout, space, every.astype(np.float64), steps), record
    )
    return Path(q, v, record["used"], np.sqrt(record["closest"]))


class _Motion(torch.autograd.Function):
    """Double precision inside, whatever the precision of the inputs."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> tuple[Tensor, Tensor]:
        *tensors, setting, record = inputs
        layout, space, durations, steps = setting
        q0, v0 = (_axes_first(t) for t in tensors[:2])
        forces = [_array(t) for t in tensors[2:]]
        copies, axes, objects = q0.shape
        outputs = durations.shape[2]
        q, v = np.empty((2, copies, outputs, axes, objects))
        used = np.ones((copies, layout.systems, outputs), np.int64)
        closest = np.full((copies, layout.systems), np.inf)
        table, coupling, strength, walls, drag, pull, push = forces

        def run(chosen: np.ndarray) -> None:
            kernel.forward(
                *(q0, v0, durations, layout.offsets, layout.pair_offsets, layout.ends),
                *(space.periods, walls, space.kinds, table, space.origin, coupling, strength),
                *(
                    drag,
                    pull,
                    push,
                    space.limit,
                    steps.lead,
                    steps.fewest,
                    steps.most,
                    steps.tolerance,
                ),
                *(q, v, used, closest, _buffers(layout, axes), chosen),
            )

        _in_parts(run, layout)
        record["used"], record["closest"] = used, closest
        ctx.setting, ctx.arrays, ctx.inputs = setting, (forces, q, v, used), tensors
        like = tensors[0]
        return _objects_first(q, like), _objects_first(v, like)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        layout, space, durations, steps = ctx.setting
        forces, q, v, used = ctx.arrays
        table, coupling, strength, walls, drag, pull, push = forces
        grad_q, grad_v = (_axes_first(g) for g in grads)
        axes = q.shape[2]
        shape = (q.shape[0], axes, q.shape[3])
        start_q, start_v = np.zeros(shape), np.zeros(shape)
        bars = {name: np.zeros_like(a) for name, a in zip(Forces._fields, forces, strict=True)}
        tables = []

        def run(chosen: np.ndarray) -> None:
            own = np.zeros_like(table)
            tables.append((int(chosen[0]), own))
            kernel.backward(
                *(durations, layout.offsets, layout.pair_offsets, layout.ends, space.periods),
                *(walls, space.kinds, table, space.origin, coupling, strength, drag, pull, push),
                *(
                    space.limit,
                    steps.lead,
                    q,
                    v,
                    used,
                    grad_q,
                    grad_v,
                    start_q,
                    start_v,
                    bars["walls"],
                    own,
                ),
                *(bars["coupling"], bars["strength"], bars["drag"], bars["pull"], bars["push"]),
                *(_buffers(layout, axes), np.empty((3, axes, _largest(layout))), chosen),
            )

        _in_parts(run, layout)
        for _, own in sorted(tables, key=lambda each: each[0]):  # One order: the same bits.
            bars["table"] += own
        arrays = [start_q.swapaxes(1, 2), start_v.swapaxes(1, 2), *bars.values()]
        grads_of = [
            torch.from_numpy(np.ascontiguousarray(a)).to(t)
            for a, t in zip(arrays, ctx.inputs, strict=True)
        ]
        return (*grads_of, None, None)


def _in_parts(run: Any, layout: Layout) -> None:
    """Share the systems between torch's threads; the parts do not depend on their number."""
    systems = np.arange(layout.systems)
    threads = min(torch.get_num_threads(), layout.systems)
    if threads < 2:
        run(systems)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, np.array_split(systems, threads)))


def _largest(layout: Layout) -> int:
    return int(np.diff(layout.offsets).max(initial=1))


def _buffers(layout: Layout, axes: int) -> tuple[np.ndarray, ...]:
    """Room for one system: displacements, squares and their bits, factors, states, watch."""
    pairs = int(np.diff(layout.pair_offsets).max(initial=1))
    objects = _largest(layout)
    square = np.empty(pairs)
    return (
        np.empty((axes, pairs)),
        square,
        square.view(np.int64),
        np.empty((2, pairs)),
        np.empty((axes, objects)),
        np.empty((axes, objects)),
        np.empty((axes, objects)),
        np.empty(2),
    )


def _array(tensor: Tensor) -> np.ndarray:
    return np.ascontiguousarray(tensor.detach().numpy(force=True), np.float64)


def _axes_first(tensor: Float[Tensor, "*rows objects axes"]) -> np.ndarray:
    return _array(tensor.transpose(-1, -2))


def _objects_first(array: np.ndarray, like: Tensor) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array.swapaxes(-1, -2))).to(like)
