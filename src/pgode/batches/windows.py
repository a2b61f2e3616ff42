"""Windows of trajectories: a condition that a model observes, a horizon that it forecasts."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pgode.batches.graph import Graph
from pgode.batches.known_inputs import future_inputs
from pgode.batches.normaliser import Normaliser
from pgode.batches.origins import Origins, first_frames, parsed
from pgode.batches.parallel.share import WHOLE, Share
from pgode.batches.systems.scaled import StoredSystems, whole_systems
from pgode.batches.temporal_graph import TemporalGraph, build_temporal_graph
from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError

__all__ = ["Batch", "Windows"]


@dataclass(frozen=True)
class Batch:
    """Windows of several systems; all objects share one axis, without padding.

    Times are in frames since the last frame of the condition, so the condition ends at 0. Values
    that were not observed are 0, and False in the corresponding mask.
    """

    states: Float[Tensor, "objects condition features"]
    observed: Bool[Tensor, "objects condition features"]
    times: Float[Tensor, "systems condition"]
    targets: Float[Tensor, "objects horizon features"]
    targets_observed: Bool[Tensor, "objects horizon features"]
    target_times: Float[Tensor, "systems horizon"]
    system: Int[Tensor, " objects"]
    group: Int[Tensor, " objects"]
    parameters: Float[Tensor, "systems parameters"]
    parameters_known: Bool[Tensor, " systems"]
    graph: Graph
    history: TemporalGraph
    system_ids: Int[Tensor, " systems"]
    """Index of each system in the data that the batch was cut from."""
    reference: Float[Tensor, "objects axes"]
    """Scaled reference position of each object; no axes where none is known."""
    constants: Float[Tensor, "objects constants"]
    """Scaled constants of each object, 0 where unknown."""
    inputs: Float[Tensor, "objects steps inputs"]
    """Scaled inputs that are known ahead, at the frames of the condition and at later ones."""
    input_times: Float[Tensor, "systems steps"]
    share: Share = WHOLE
    """Which part this is of a batch that several processes share."""

    @property
    def values(self) -> Int[Tensor, ""]:
        """Observed target values, at least 1; of the whole batch where this is a share of one."""
        return self.share.values(self.targets_observed).clamp(min=1)

    @property
    def systems(self) -> int:
        """Number of systems."""
        return self.times.shape[0]

    @property
    def objects(self) -> int:
        """Number of objects of all systems together."""
        return self.states.shape[0]

    def inputs_at(
        self, times: Float[Tensor, "systems outputs"]
    ) -> Float[Tensor, "objects outputs inputs"]:
        """The inputs in force at some times: those of the first frame that is not before each.

        What is known of a day acts on the way to that day's observation.
        """
        last = self.input_times.shape[1] - 1
        place = torch.searchsorted(self.input_times.contiguous(), (times - 1e-4).contiguous())
        place = place.clamp(max=last)[self.system]
        return self.inputs.gather(1, place.unsqueeze(2).expand(-1, -1, self.inputs.shape[2]))

    def to(
        self, device: torch.device | str | None = None, dtype: torch.dtype | None = None
    ) -> "Batch":
        """The same batch on another device or in another precision."""

        def moved(value: Any) -> Any:
            if isinstance(value, Share):
                return value
            if isinstance(value, Tensor) and not value.is_floating_point():
                return value.to(device)
            return value.to(device, dtype)

        return replace(self, **{f.name: moved(getattr(self, f.name)) for f in fields(self)})


class Windows:
    """Cuts batches out of trajectories.

    Everything that does not depend on the window (scaling, compressed rows of every graph, the
    graph in force at each frame) is computed once, so that a batch costs a few copies. Data that
    stay in their file are read and scaled batch by batch.
    """

    def __init__(
        self, data: Trajectories, normaliser: Normaliser, condition: int, horizon: int
    ) -> None:
        self.data, self.normaliser = data, normaliser
        self.condition, self.horizon = condition, horizon
        self.frames = data.n_frames
        for system in np.flatnonzero(self.frames < condition)[:1]:
            raise InputError(
                f"system {system} has {self.frames[system]} frames, fewer than the condition of "
                f"{condition}. Expected at least {condition} observed frames in every system. "
                f"Give more frames, drop the system, or train with a shorter condition."
            )
        last = data.last_observed
        self.seen = np.where(last > 0, last, self.frames)
        """Frames of each system up to the last at which anything was observed."""
        self._held = None if data.is_stored else whole_systems(data, normaliser)
        self._stored = StoredSystems(data, normaliser) if data.is_stored else None
        self._parameters = normaliser.standardised(data.parameters)
        self._objects = data.n_objects
        self._group = data.dataset["group"].values
        reference = normaliser.reference_of(data)
        none = np.zeros((int(self._objects.max(initial=0)), 0))
        self._reference = none if reference is None else reference
        self._constants = normaliser.scaled_constants(data.constants).astype(np.float32)

    def __len__(self) -> int:
        return self.data.systems

    def origins(self, *, rolling: bool) -> Origins:
        """Each system's first window, or one after each horizon along it."""
        return parsed("rolling" if rolling else "first", self.frames, self.condition, self.horizon)

    def batches(self, size: int, origins: Origins | None = None) -> Iterator[Batch]:
        """Windows at these origins, `size` at a time; one of each system's first frames if none."""
        chosen = first_frames(self.frames) if origins is None else origins
        for part in chosen.chunks(size, self._objects):
            yield self.batch(part.systems, part.starts)

    def last(self, size: int, ahead: Float[np.ndarray, " outputs"]) -> Iterator[Batch]:
        """All systems, each conditioned on its last observed frames: a forecast of the future.

        `ahead` are the times to be forecast, in frames after the last observed one. Frames without
        any observation at the end of a system lie in its future; they hold known inputs.
        """
        for system in np.flatnonzero(self.seen < self.condition)[:1]:
            raise InputError(
                f"{self.data.system_label(system)} has {self.seen[system]} frames up to its last "
                f"observation, fewer than the condition of {self.condition}. Expected at least "
                f"{self.condition}. Give earlier frames, too, or drop the system."
            )
        origins = Origins(np.arange(len(self)), self.seen - self.condition)
        for part in origins.chunks(size, self._objects):
            batch = self.batch(part.systems, part.starts)
            if not self.normaliser.inputs:
                yield batch
                continue
            known = future_inputs(self.data, self.normaliser, part.systems, self.seen, ahead)
            later = _tensor(known[batch.system.numpy(), _places(batch.system.numpy())])
            now = batch.inputs[:, : self.condition]
            clock = _tensor(np.broadcast_to(ahead, (len(part), len(ahead))))
            yield replace(
                batch,
                inputs=torch.cat([now, later], 1),
                input_times=torch.cat([batch.times, clock], 1),
            )

    def batch(
        self,
        systems: Int[np.ndarray, " n"],
        starts: Int[np.ndarray, " n"],
        horizon: int | None = None,
    ) -> Batch:
        """The windows that start at frame `starts[k]` of system `systems[k]`.

        `horizon` replaces the usual number of frames to forecast.
        """
        horizon = self.horizon if horizon is None else horizon
        counts = self._objects[systems]
        owner = np.repeat(np.arange(len(systems)), counts)
        first = np.repeat(np.cumsum(counts) - counts, counts)
        place = np.arange(len(owner)) - first
        # Rows of `held` and where windows start there: whole systems, or windows read for this.
        rows, begin, held = systems, starts, self._held
        if held is None:
            assert self._stored is not None
            rows, begin = np.arange(len(systems)), np.zeros_like(starts)
            held = self._stored.windows(systems, starts, self.condition, horizon)
        row = rows[owner]
        now = begin + self.condition - 1
        past = begin[:, None] + np.arange(self.condition)
        ahead = now[:, None] + 1 + np.arange(horizon)
        frames = (self.frames[systems] - starts + begin)[:, None]
        exists = ahead < frames
        ahead = np.minimum(ahead, frames - 1)

        def cut(array: np.ndarray, at: np.ndarray) -> np.ndarray:
            return np.asarray(array[row[:, None], place[:, None], at[owner]])

        observed = cut(held.observed, past)
        # Nobody can forecast an object that enters after the condition, so it teaches nothing and
        # is not scored.
        seen = np.asarray(observed.any((1, 2)))
        graphs = held.graphs
        graph_rows = graphs.first[held.graph_at[rows[:, None], past]][owner] + place[:, None]
        zero = held.times[rows, now][:, None]
        parameters = self._parameters[systems]
        known = np.isfinite(parameters).all(1) & (parameters.shape[1] > 0)
        steps = np.concatenate([past, ahead], axis=1)
        return Batch(
            states=torch.from_numpy(cut(held.states, past)),
            observed=torch.from_numpy(observed),
            times=_tensor(held.times[rows[:, None], past] - zero),
            targets=torch.from_numpy(cut(held.states, ahead)),
            targets_observed=torch.from_numpy(
                cut(held.observed, ahead) & (exists[owner] & seen[:, None])[:, :, None]
            ),
            target_times=_tensor(held.times[rows[:, None], ahead] - zero),
            system=torch.from_numpy(owner),
            group=torch.from_numpy(_grouped(owner, self._group[systems[owner], place])),
            parameters=_tensor(np.nan_to_num(parameters)),
            parameters_known=torch.from_numpy(known),
            graph=graphs.graph(graph_rows[:, -1], first),
            history=build_temporal_graph(
                np.asarray(observed.any(-1)),
                *(graph_rows, first, graphs.offsets, graphs.senders, graphs.weights),
            ),
            system_ids=torch.from_numpy(systems),
            reference=_tensor(self._reference[place]),
            constants=torch.from_numpy(self._constants[systems[owner], place]),
            inputs=torch.from_numpy(cut(held.inputs, steps)),
            input_times=_tensor(held.times[rows[:, None], steps] - zero),
        )

    def whole_horizon(self, together: int) -> int:
        """Frames after the condition of the longest system, to look at systems as a whole.

        Of data that stay in a file only as many as `together` windows may have in memory.
        """
        longest = int(self.frames.max()) - self.condition
        if self._stored is None:
            return longest
        return min(longest, max(self._stored.most(together) - self.condition, 1))


def _places(owner: Int[np.ndarray, " objects"]) -> Int[np.ndarray, " objects"]:
    """The number of each object within its system."""
    counts = np.bincount(owner)
    return np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)


def _tensor(values: np.ndarray) -> Tensor:
    return torch.from_numpy(values.astype(np.float32))


def _grouped(owner: Int[np.ndarray, " objects"], group: Int[np.ndarray, " objects"]) -> np.ndarray:
    """Number the groups of all systems of the batch; objects without a group have -1."""
    numbers = np.full(len(owner), -1, np.int64)
    grouped = group >= 0
    if grouped.any():
        pairs = np.stack([owner[grouped], group[grouped]])
        numbers[grouped] = np.unique(pairs, axis=1, return_inverse=True)[1].ravel()
    return numbers
