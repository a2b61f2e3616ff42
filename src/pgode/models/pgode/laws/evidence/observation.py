"""Observed frames of single systems in the units of the laws: lengths, and frames as time."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.models.pgode.laws.evidence import evidence_kernel
from pgode.models.pgode.laws.motion.force_kernel import Layout
from pgode.nn.frames import last_observed

BEND = 0.1
"""Largest bend of a path between two frames, see `evidence_kernel.sharpness`."""


@dataclass(frozen=True)
class Units:
    """Scaled features to lengths and lengths per frame, and back.

    All axes share one unit of length, so that a rotation of the data is a rotation here. The origin
    is that of the data.
    """

    positions: list[int]
    velocities: list[int]
    length: float
    frame: float
    centre: Float[np.ndarray, "2 axes"]
    scale: Float[np.ndarray, "2 axes"]

    @classmethod
    def of(cls, normaliser: Normaliser) -> "Units":
        """The unit is the largest scale of a position, so that distances are about one."""
        q, v = normaliser.positions, normaliser.velocities
        length = max(normaliser.scale[k] for k in q)
        pace = normaliser.frame_duration / length
        centre, scale = np.array(normaliser.centre), np.array(normaliser.scale)
        return cls(
            positions=q,
            velocities=v,
            length=length,
            frame=normaliser.frame_duration,
            centre=np.stack([centre[q] / length, centre[v] * pace]),
            scale=np.stack([scale[q] / length, scale[v] * pace]),
        )

    def vectors(
        self, states: Float[np.ndarray, "*rows features"]
    ) -> tuple[Float[np.ndarray, "*rows axes"], Float[np.ndarray, "*rows axes"]]:
        """Positions and velocities, in double precision."""
        exact = np.asarray(states, np.float64)
        position = exact[..., self.positions] * self.scale[0] + self.centre[0]
        return position, exact[..., self.velocities] * self.scale[1] + self.centre[1]

    def scaled(
        self, position: Float[np.ndarray, "*rows axes"], velocity: Float[np.ndarray, "*rows axes"]
    ) -> tuple[Float[np.ndarray, "*rows axes"], Float[np.ndarray, "*rows axes"]]:
        """Positions and velocities as scaled features."""
        return (
            np.asarray((position - self.centre[0]) / self.scale[0]),
            np.asarray((velocity - self.centre[1]) / self.scale[1]),
        )

    @property
    def acceleration(self) -> float:
        """One unit of acceleration in the units of the data."""
        return self.length / self.frame**2


@dataclass(frozen=True)
class Observation:
    """One system: its frames, and the edges between its objects.

    `usable[t]` says whether frames t and t + 1 are complete, so that the forces between them show.
    """

    positions: Float[np.ndarray, "frames objects axes"]
    velocities: Float[np.ndarray, "frames objects axes"]
    durations: Float[np.ndarray, " frames-1"]
    usable: Bool[np.ndarray, " frames-1"]
    receivers: Int[np.ndarray, " edges"]
    senders: Int[np.ndarray, " edges"]
    weights: Float[np.ndarray, " edges"]
    periods: Float[np.ndarray, " axes"]
    outer: Float[np.ndarray, " axes+1"] | None = None
    """An outer field that is taken out of the changes: push along each axis, then pull."""

    def beside(self, outer: Float[np.ndarray, " axes+1"]) -> "Observation":
        """The same with an outer field; what does not depend on it is not computed again."""
        new = replace(self, outer=outer if outer.any() else None)
        for name in ("paths", "clear"):
            if name in self.__dict__:
                new.__dict__[name] = self.__dict__[name]
        return new

    @property
    def objects(self) -> int:
        """Number of objects."""
        return int(self.positions.shape[1])

    @property
    def axes(self) -> int:
        """Number of axes of space."""
        return int(self.positions.shape[2])

    @cached_property
    def paths(self) -> evidence_kernel.Paths:
        """The same for compiled functions."""
        return evidence_kernel.Paths(
            positions=np.ascontiguousarray(self.positions),
            velocities=np.ascontiguousarray(self.velocities),
            durations=self.durations,
            usable=self.usable,
            receivers=self.receivers,
            senders=self.senders,
            weights=self.weights,
            periods=self.periods,
        )

    @property
    def distances(self) -> Float[np.ndarray, " distances"]:
        """Distances of all joined pairs at every fourth frame."""
        some = self.positions[::4]
        apart = some[:, self.receivers] - some[:, self.senders]
        for axis in np.flatnonzero(self.periods):
            period = self.periods[axis]
            apart[..., axis] -= period * np.round(apart[..., axis] / period)
        distances = np.sqrt((apart**2).sum(-1)).ravel()
        return np.asarray(distances[distances > 0])

    @cached_property
    def clear(self) -> Bool[np.ndarray, "intervals objects"]:
        """Where a path between two frames is known well enough to say something about forces.

        Close encounters bend it more than the two frames show. If nearly all intervals are such,
        the better fifth of them counts.
        """
        bend = np.empty((len(self.durations), self.objects))
        evidence_kernel.sharpness(self.paths, bend)
        known = bend[self.usable]
        limit = max(BEND, float(np.quantile(known, 0.2))) if known.size else BEND
        return np.asarray((bend <= limit) & self.usable[:, None])

    @cached_property
    def changes(self) -> Float[np.ndarray, "intervals objects 2 axes"]:
        """Change of velocity, and of position beyond free flight, from each frame to the next."""
        faster = np.diff(self.velocities, axis=0)
        drift = self.velocities[:-1] * self.durations[:, None, None]
        changes = np.stack([faster, np.diff(self.positions, axis=0) - drift], axis=2)
        if self.outer is not None:
            changes = changes - self.field @ self.outer
        return np.where(self.usable[:, None, None, None], changes, 0.0)

    @property
    def field(self) -> Float[np.ndarray, "intervals objects 2 axes axes+1"]:
        """Changes that a unit of push along each axis would cause, then those of a unit of pull.

        Along a cubic path, as those that pair forces would cause.
        """
        duration = self.durations[:, None, None]
        start, stop = self.positions[:-1], self.positions[1:]
        v0, v1 = self.velocities[:-1], self.velocities[1:]
        out = np.zeros((*start.shape[:2], 2, self.axes, self.axes + 1))
        for axis in range(self.axes):
            out[:, :, 0, axis, axis] = self.durations[:, None]
            out[:, :, 1, axis, axis] = self.durations[:, None] ** 2 / 2
        mean = (start + stop) / 2 + (v0 - v1) * duration / 12
        early = (7 * start + 3 * stop) / 20 + duration * (v0 / 20 - v1 / 30)
        out[:, :, 0, :, -1] = -mean * duration
        out[:, :, 1, :, -1] = -early * duration**2
        return out


def observations(
    batch: Batch,
    units: Units,
    periods: Float[np.ndarray, " axes"],
    *,
    targets: bool = False,
) -> Iterator[Observation]:
    """The systems of a batch, from the condition, or from its targets too.

    In a periodic box, positions that jump from one end to the other are made continuous.
    """
    states, observed, times = batch.states, batch.observed, batch.times
    if targets:
        states = torch.cat([states, batch.targets], dim=1)
        observed = torch.cat([observed, batch.targets_observed], dim=1)
        times = torch.cat([times, batch.target_times], dim=1)
    position, velocity = units.vectors(states.numpy(force=True))
    named = [*units.positions, *units.velocities]
    complete = observed[..., named].all(-1).numpy(force=True)
    moments = times.numpy(force=True).astype(np.float64)
    receivers = batch.graph.receivers.numpy(force=True).astype(np.int64)
    senders = batch.graph.senders.numpy(force=True).astype(np.int64)
    weights = batch.graph.weights.numpy(force=True).astype(np.float64)
    owner = batch.system.numpy(force=True)
    offsets = np.searchsorted(owner, np.arange(batch.systems + 1))
    edge_offsets = np.searchsorted(receivers, offsets)
    for s in range(batch.systems):
        own, edges = slice(*offsets[s : s + 2]), slice(*edge_offsets[s : s + 2])
        seen = np.asarray(complete[own].all(0))
        durations = np.diff(moments[s])
        places = position[own].swapaxes(0, 1).copy()
        for axis in np.flatnonzero(periods):
            places[..., axis] = np.unwrap(places[..., axis], axis=0, period=periods[axis])
        yield Observation(
            positions=places,
            velocities=np.ascontiguousarray(velocity[own].swapaxes(0, 1)),
            durations=durations,
            usable=seen[1:] & seen[:-1] & (durations > 0),
            receivers=receivers[edges] - offsets[s],
            senders=senders[edges] - offsets[s],
            weights=weights[edges],
            periods=periods,
        )


def present(
    batch: Batch, units: Units
) -> tuple[Float[np.ndarray, "objects axes"], Float[np.ndarray, "objects axes"]]:
    """Positions and velocities at time 0: the last observed ones, moved on where they are older."""
    value, when = last_observed(batch)
    position, velocity = units.vectors(value.numpy(force=True))
    elapsed = -when[:, units.positions].numpy(force=True).astype(np.float64)
    return position + velocity * elapsed, velocity


def layout(seen: list[Observation]) -> tuple[Layout, Float[np.ndarray, "pairs 2"]]:
    """The pairs of all systems that an edge joins, and the weights of both directions."""
    ends, weights, counts = [], [], []
    for each in seen:
        first = np.minimum(each.receivers, each.senders)
        second = np.maximum(each.receivers, each.senders)
        keys, place = np.unique(first * each.objects + second, return_inverse=True)
        both = np.zeros((len(keys), 2))
        np.add.at(both, (place, (each.receivers > each.senders).astype(int)), each.weights)
        ends.append(np.stack([keys // each.objects, keys % each.objects]))
        weights.append(both)
        counts.append(len(keys))
    sizes = [each.objects for each in seen]
    pairs = Layout(
        offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        pair_offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        ends=np.ascontiguousarray(np.concatenate(ends, axis=1), dtype=np.int64),
    )
    return pairs, np.concatenate(weights)
