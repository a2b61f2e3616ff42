"""Forecasts from an object's own past: noise is averaged out, a trend is continued."""

from dataclasses import replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from pgode.batches.devices import exact
from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.data.superposition import optimal_rotation
from pgode.nn.initialisation import scaled
from pgode.nn.time_embedding import time_embedding

AGES = 16
"""Sinusoids of a frame's age that a weight is a linear function of."""

START = 0.01
"""Factor on the initial weights: an untrained readout is the last value alone."""


class HistoryReadout(nn.Module):
    """The mean, over an object's observed frames, of a weight times its change since then.

        1/C sum_c a_i(t, c) (x_i(c) - x_i(last)),   a_i(t, c) = W z_i(t) . TE(c)

    An object that jitters is best forecast near the mean of its past, one that drifts along its
    trend; a network that sees frames through attention learns neither easily. Positions are read
    out a second time, with separate weights, from frames that were first superposed on the last
    one: a molecule that drifts and tumbles as a whole still jitters about its shape. With
    `mean_structure`, where a reference arrangement is known, positions also move towards it:
    b_i(t) times the difference from the arrangement, superposed on the last frame as well.
    """

    unit: Float[Tensor, " positions"]

    def __init__(
        self,
        width: int,
        normaliser: Normaliser,
        features: list[int],
        *,
        mean_structure: bool,
    ) -> None:
        super().__init__()
        self.features = features
        self.positions = [q for q in normaliser.positions if q in features]
        lengths = [normaliser.scale[q] for q in self.positions]
        unit = torch.tensor(lengths) / max(lengths, default=1.0)
        self.register_buffer("unit", unit, persistent=False)
        self.kinds = 2 if self.positions else 1
        self.weigh = nn.Linear(width, self.kinds * AGES)
        has_reference = mean_structure and bool(self.positions) and normaliser.reference is not None
        self.relax = nn.Linear(width, 1) if has_reference else None
        scaled(self, START)

    def forward(
        self,
        states: Float[Tensor, "outputs objects width"],
        last: Float[Tensor, "objects features"],
        batch: Batch,
    ) -> Float[Tensor, "outputs objects chosen"]:
        """The change of the chosen features since `last`, for each state."""
        frames = batch.states.shape[1]
        age = time_embedding(batch.times.flatten(), AGES).view(batch.systems, frames, AGES)
        coefficients = self.weigh(states).unflatten(-1, (self.kinds, AGES))
        weight = torch.einsum("onka,nca->nkoc", coefficients, age[batch.system]) / frames
        changes = [torch.where(batch.observed, batch.states - last.unsqueeze(1), 0)]
        if self.positions:
            whole = batch.observed[..., self.positions].all(-1, keepdim=True)
            places = batch.states[..., self.positions]
            changes.append(self._internal_change(places, whole, last, batch))
        change = torch.einsum("nkoc,nkcf->onf", weight, torch.stack(changes, dim=1))
        if self.relax is not None and batch.reference.shape[1]:
            seen = batch.observed[..., self.positions].any(1).all(-1)[:, None, None]
            away = self._internal_change(batch.reference.unsqueeze(1), seen, last, batch)
            change = change + self.relax(states) * away.squeeze(1)
        return change[..., self.features]

    def _internal_change(
        self,
        place: Float[Tensor, "objects frames positions"],
        known: Bool[Tensor, "objects frames 1"],
        last: Float[Tensor, "objects features"],
        batch: Batch,
    ) -> Float[Tensor, "objects frames features"]:
        """Differences from `last` after the rigid motion of the whole system is removed."""
        place, onto = exact(place * self.unit), exact(last[:, self.positions] * self.unit)
        known = known.to(place.device)
        there = replace(batch, system=batch.system.to(place.device))
        turned = superposed(place, onto, known, there)
        change = torch.where(known, turned - onto.unsqueeze(1), 0).to(last) / self.unit
        whole = last.new_zeros(*change.shape[:2], last.shape[1])
        whole[..., self.positions] = change
        return whole


def superposed(
    place: Float[Tensor, "objects frames dims"],
    onto: Float[Tensor, "objects dims"],
    known: Bool[Tensor, "objects frames 1"],
    batch: Batch,
) -> Float[Tensor, "objects frames dims"]:
    """Each system's frames rotated and shifted onto `onto` by least squares.

    As `pgode.data.superposition.superposed`, for many systems with objects that may be missing.
    """

    def total(x: Tensor) -> Tensor:
        return x.new_zeros(batch.systems, *x.shape[1:]).index_add(0, batch.system, x)

    share = known.to(place.dtype)
    count = total(share).clamp(min=1)
    middle = total(place * share) / count
    target = total(onto.unsqueeze(1) * share) / count
    moved = place - middle[batch.system]
    aim = (onto.unsqueeze(1) - target[batch.system]) * share
    covariance = total(moved.unsqueeze(-1) * aim.unsqueeze(-2))
    turn = optimal_rotation(covariance, torch)[batch.system]
    turned: Tensor = (moved.unsqueeze(-2) @ turn).squeeze(-2)
    return turned + target[batch.system]
