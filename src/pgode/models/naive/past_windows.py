"""Windows of single objects, cut from whole arrays: a regression needs no graphs."""

from collections.abc import Callable, Iterator

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pgode.batches.origins import Origins, every
from pgode.batches.windows import Windows
from pgode.models.forecaster import Progress
from pgode.models.naive.normal_equations import NormalEquations, solved

HELD_OUT = 5
"""Every fifth system, or the last fifth of a few long series, chooses the penalty."""
ROWS = 40_000
"""About the most windows of single objects that a fit uses."""
WORK = 3e10
"""About the most multiplications of a fit; where there are many targets it uses fewer windows."""
CHUNK = 4096

FIT, HELD, BETWEEN = 0, 1, 2


class PastWindows:
    """The pasts of objects in the training split, and what followed."""

    def __init__(self, training: Windows, past: int, horizon: int) -> None:
        data, normaliser = training.data, training.normaliser
        self.past, self.horizon, self.frames = past, horizon, training.frames
        self.present = data.present
        self.data, self.normaliser = data, normaliser
        self.constants = normaliser.scaled_constants(data.constants)
        self.gaps = self.has_gaps(training)
        if not data.is_stored:
            self.observed = data.observed
            self.states = np.nan_to_num(normaliser.states(data.states))
            self.inputs = normaliser.scaled_inputs(data.inputs)

    @staticmethod
    def has_gaps(training: Windows) -> bool:
        """Whether any value of a frame that exists is missing."""
        data = training.data
        if (scan := data.scan()) is not None:
            return int(scan.count.sum()) < int(data.n_objects @ data.n_frames) * len(data.features)
        exists = np.isfinite(data.times)[:, None, :] & data.present[:, :, None]
        return not bool(data.observed[exists].all())

    @property
    def groups(self) -> tuple[int, ...]:
        """A number for each feature, the same for features that are observed together."""
        scan, count = self.data.scan(), len(self.data.features)
        patterns = [
            np.packbits(self.observed[..., k]).tobytes()
            if scan is None
            else scan.pattern[:, k].tobytes()
            for k in range(count)
        ]
        first = list(dict.fromkeys(patterns))
        return tuple(first.index(each) for each in patterns)

    def fit(
        self,
        regressors: Callable[..., Tensor],
        size: int,
        ridge: float | None,
        progress: Progress,
    ) -> tuple[Tensor, list[float]]:
        """Weights (frame, regressor, feature), and the penalty of each feature."""
        whole = bool((self.frames >= self.past + self.horizon).all())
        shared = whole and not self.gaps and not self.data.input_names
        groups = self.groups
        parts = tuple(
            NormalEquations.empty(self.horizon, size, groups, shared=shared) for _ in range(3)
        )
        matrices = 1 if shared else self.horizon * (max(groups) + 1)
        rows = int(min(ROWS, max(WORK / (size**2 * matrices), 10 * size)))
        origins = self._origins(rows)
        roles = self._roles(origins)
        per_window = max(int(self.present.sum(1).max()), 1)
        done = 0
        for chosen in self._chunks(roles, max(CHUNK // per_window, 1)):
            role = int(roles[chosen[0]])
            window = Origins(origins.systems[chosen], origins.starts[chosen])
            self._add(parts[role], window, regressors)
            done += len(chosen)
            progress("fitting the regression on the past", done / len(roles))
        fitted, held, between = parts
        return solved((fitted, held, between), ridge)

    def _origins(self, rows: int) -> Origins:
        """Windows at so many frames apart that there are about `rows` rows."""
        length = self.past + self.horizon
        per_frame = int((np.maximum(self.frames - length + 1, 1) * self.present.sum(1)).sum())
        return every(self.frames, length, max(-(-per_frame // rows), 1))

    def _roles(self, origins: Origins) -> Int[np.ndarray, " window"]:
        """Which windows are fitted, which are held out, and which overlap with both."""
        if len(self.frames) >= HELD_OUT:
            return np.where(origins.systems % HELD_OUT == HELD_OUT - 1, HELD, FIT)
        length = self.past + self.horizon
        first = (self.frames - (self.frames - length) // HELD_OUT - length)[origins.systems]
        near = origins.starts > first - length
        return np.where(origins.starts >= first, HELD, np.where(near, BETWEEN, FIT))

    @staticmethod
    def _chunks(roles: Int[np.ndarray, " window"], size: int) -> Iterator[np.ndarray]:
        """Numbers of windows of one role, some at a time."""
        for role in (FIT, HELD, BETWEEN):
            chosen = np.flatnonzero(roles == role)
            yield from (chosen[k : k + size] for k in range(0, len(chosen), size))

    def _add(
        self, sums: NormalEquations, window: Origins, regressors: Callable[..., Tensor]
    ) -> None:
        number, item = np.nonzero(self.present[window.systems])
        system, start = window.systems[number], window.starts[number]
        before = start[:, None] + np.arange(self.past)
        ahead = start[:, None] + self.past + np.arange(self.horizon)
        exists = ahead < self.frames[system][:, None]
        ahead = np.minimum(ahead, self.frames[system][:, None] - 1)
        constants = torch.from_numpy(self.constants[system, item])
        if self.data.is_stored:
            # One row for each window, which begins at frame 0 of it.
            all_states, all_observed, all_inputs = self._read(window)
            system, before, ahead = number, before - start[:, None], ahead - start[:, None]
        else:
            all_states, all_observed, all_inputs = self.states, self.observed, self.inputs
        rows = system[:, None], item[:, None]
        states = torch.from_numpy(all_states[(*rows, before)])
        observed = torch.from_numpy(all_observed[(*rows, before)])
        last = last_values(states, observed)
        inputs = torch.from_numpy(all_inputs[(*rows, ahead)]).transpose(0, 1)
        known = torch.from_numpy(all_observed[(*rows, ahead)] & exists[:, :, None])
        known &= observed.any(1).unsqueeze(1)
        targets = torch.from_numpy(all_states[(*rows, ahead)]) - last.unsqueeze(1)
        sums.add(regressors(states, observed, last, constants, inputs), targets, known)

    def _read(
        self, window: Origins
    ) -> tuple[
        Float[np.ndarray, "window object time feature"],
        Bool[np.ndarray, "window object time feature"],
        Float[np.ndarray, "window object time input"],
    ]:
        """The frames of some windows of data that stay in their file."""
        states, inputs = self.data.stored("states"), self.data.stored("inputs")
        assert states is not None
        place = (window.systems, window.starts, self.past + self.horizon)
        raw = states.windows(*place)
        known = np.empty((*raw.shape[:3], 0)) if inputs is None else inputs.windows(*place)
        scaled = np.nan_to_num(self.normaliser.states(raw))
        return scaled, np.isfinite(raw), self.normaliser.scaled_inputs(known)


def recent(
    states: Float[Tensor, "objects time features"],
    observed: Bool[Tensor, "objects time features"],
    past: int,
) -> tuple[Float[Tensor, "objects past features"], Bool[Tensor, "objects past features"]]:
    """The last `past` frames; frames before the first count as not observed."""
    missing = max(past - states.shape[1], 0)
    shape = (states.shape[0], missing, states.shape[2])
    kept = max(past, 1)
    padded = torch.cat([states.new_zeros(shape), states], 1)[:, -kept:]
    return padded, torch.cat([observed.new_zeros(shape), observed], 1)[:, -kept:]


def last_values(
    states: Float[Tensor, "objects time features"],
    observed: Bool[Tensor, "objects time features"],
) -> Float[Tensor, "objects features"]:
    """Each feature's last observed value; 0 if there is none."""
    order = torch.arange(1, states.shape[1] + 1, device=states.device)
    place = (observed * order[None, :, None]).amax(1)
    value = states.gather(1, (place - 1).clamp(min=0).unsqueeze(1)).squeeze(1)
    return torch.where(place > 0, value, 0)


def filled(
    states: Float[Tensor, "objects time features"],
    observed: Bool[Tensor, "objects time features"],
) -> Float[Tensor, "objects time features"]:
    """Missing values interpolated between observations, and constant before and after them."""
    if bool(observed.all()):
        return states
    frames = states.shape[1]
    number = torch.arange(frames, device=states.device).view(1, -1, 1)
    before = torch.where(observed, number, -1).cummax(1).values
    after = torch.where(observed, number, frames).flip(1).cummin(1).values.flip(1)
    first = torch.where(before >= 0, before, after).clamp(max=frames - 1)
    second = torch.where(after < frames, after, before).clamp(min=0)
    gap = (second - first).to(states.dtype)
    share = torch.where(gap > 0, (number - first) / torch.where(gap > 0, gap, 1), 0)
    values = torch.lerp(states.gather(1, first), states.gather(1, second), share.to(states.dtype))
    return torch.where(observed.any(1, keepdim=True), values, 0)
