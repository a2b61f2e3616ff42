"""Motion under pair laws as a torch function: the compiled core and its gradient."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from pgode.models.pgode.laws.motion.backward_kernel import backward
from pgode.models.pgode.laws.motion.force_kernel import (
    Arrays,
    Layout,
    Record,
    Room,
    Space,
    States,
    Steps,
)
from pgode.models.pgode.laws.motion.forward_kernel import forward
from pgode.models.pgode.laws.motion.path import Forces, Path
from pgode.models.pgode.laws.motion.plain import move_plainly


def move(
    positions: Float[Tensor, "copies objects axes"],
    velocities: Float[Tensor, "copies objects axes"],
    forces: Forces,
    layout: Layout,
    space: Space,
    durations: Float[np.ndarray, "#copies systems outputs"],
    steps: Steps,
) -> Path:
    """States of every copy after the first of its system's `durations`, the second, and so on.

    Compiled on the CPU, elsewhere in plain torch: the same numbers up to rounding.
    """
    if positions.device.type != "cpu":
        return move_plainly(positions, velocities, forces, layout, space, durations, steps)
    copies, outputs = len(positions), durations.shape[2]
    every = np.array(
        np.broadcast_to(durations, (copies, layout.systems, outputs)), np.float64, order="C"
    )
    record = Record(
        used=np.ones((copies, layout.systems, outputs), np.int64),
        closest=np.full((copies, layout.systems), np.inf),
    )
    setting = (layout, space, every, steps)
    q, v = _compiled(positions, velocities, *forces, setting, record)
    return Path(q, v, record.used, np.sqrt(record.closest))


class _Motion(torch.autograd.Function):
    """Double precision inside, whatever the precision of the inputs."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> tuple[Tensor, Tensor]:
        *tensors, setting, record = inputs
        layout, space, durations, steps = setting
        start = States(*(_axes_first(tensor) for tensor in tensors[:2]))
        arrays = Arrays(*(_array(tensor) for tensor in tensors[2:]))
        copies, axes, objects = start.q.shape
        out = States(*np.empty((2, copies, durations.shape[2], axes, objects)))

        def run(chosen: Int[np.ndarray, " chosen"]) -> None:
            room = _room(layout, axes)
            forward(start, durations, layout, space, steps, arrays, out, record, room, chosen)

        _in_parts(run, layout)
        ctx.setting, ctx.results, ctx.inputs = setting, (arrays, out, record.used), tensors
        return _objects_first(out.q, tensors[0]), _objects_first(out.v, tensors[1])

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        layout, space, durations, steps = ctx.setting
        arrays, out, used = ctx.results
        given = States(*(_axes_first(grad) for grad in grads))
        copies, _, axes, objects = out.q.shape
        start_bar = States(*np.zeros((2, copies, axes, objects)))
        bars = Arrays(*(np.zeros_like(array) for array in arrays))
        tables = []

        def run(chosen: Int[np.ndarray, " chosen"]) -> None:
            own = bars._replace(table=np.zeros_like(bars.table))
            tables.append((int(chosen[0]), own.table))
            backward(
                *(given, durations, layout, space, steps.lead, arrays, out, used),
                *(start_bar, own, _room(layout, axes), chosen),
            )

        _in_parts(run, layout)
        for _, table in sorted(tables, key=lambda each: each[0]):  # One order: the same bits.
            bars.table[:] += table
        results = [*(bar.swapaxes(1, 2) for bar in start_bar), *bars]
        tensors = [
            torch.from_numpy(np.ascontiguousarray(result)).to(tensor)
            for result, tensor in zip(results, ctx.inputs, strict=True)
        ]
        return (*tensors, None, None)


_compiled: Callable[..., tuple[Tensor, Tensor]] = _Motion.apply


def _in_parts(run: Callable[[Int[np.ndarray, " chosen"]], None], layout: Layout) -> None:
    """Share the systems between torch's threads; no system's result depends on their number."""
    systems = np.arange(layout.systems)
    threads = min(torch.get_num_threads(), layout.systems)
    if threads < 2:
        run(systems)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, np.array_split(systems, threads)))


def _room(layout: Layout, axes: int) -> Room:
    """Room for the largest system."""
    pairs = int(np.diff(layout.pair_offsets).max(initial=1))
    objects = int(np.diff(layout.offsets).max(initial=1))
    square = np.empty(pairs)
    return Room(
        apart=np.empty((axes, pairs)),
        square=square,
        bits=square.view(np.int64),
        factor=np.empty((2, pairs)),
        q=np.empty((axes, objects)),
        v=np.empty((axes, objects)),
        acceleration=np.empty((axes, objects)),
        bars=np.empty((3, axes, objects)),
        watch=np.empty(2),
    )


def _array(tensor: Tensor) -> Float[np.ndarray, "..."]:
    return np.ascontiguousarray(tensor.detach().numpy(force=True), np.float64)


def _axes_first(
    tensor: Float[Tensor, "*rows objects axes"],
) -> Float[np.ndarray, "*rows axes objects"]:
    return _array(tensor.transpose(-1, -2))


def _objects_first(
    array: Float[np.ndarray, "*rows axes objects"], like: Tensor
) -> Float[Tensor, "*rows objects axes"]:
    return torch.from_numpy(np.ascontiguousarray(array.swapaxes(-1, -2))).to(like)
