"""What objects did before, as the base of a forecast: noise averages out, a trend goes on."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.data.superposition import optimal_rotation
from pgode.nn.time_embedding import time_embedding

AGES = 16
"""Waves that a weight is made of, as a function of how long ago a frame was."""

START = 0.01
"""Weights start this small: an untrained forecast recalls the last value alone."""


class Recall(nn.Module):
    """The mean, over an object's frames, of a weight times its change since then.

        1/C sum_c a_i(t, c) (x_i(c) - x_i(last)),   a_i(t, c) = W z_i(t) . TE(c)

    What jitters about a place is best forecast near its mean, what drifts along its trend, and a
    network that sees frames through attention finds neither easily. Positions are recalled a second
    time, with weights of their own, from earlier frames that were turned and shifted onto the last
    one: a molecule that drifts and tumbles as a whole has jittered about its shape all the same.
    Where a mean structure of the molecule is known, with `relax`, positions also go some of the way
    to it: b_i(t) times what it differs by, once it is turned onto the last frame too.
    """

    unit: Float[Tensor, " positions"]

    def __init__(
        self, width: int, normaliser: Normaliser, features: list[int], *, relax: bool = True
    ) -> None:
        super().__init__()
        self.features = features
        self.positions = [q for q in normaliser.positions if q in features]
        lengths = [normaliser.scale[q] for q in self.positions]
        unit = torch.tensor(lengths) / max(lengths, default=1.0)
        self.register_buffer("unit", unit, persistent=False)
        self.kinds = 2 if self.positions else 1
        self.weigh = nn.Linear(width, self.kinds * AGES)
        relaxes = relax and bool(self.positions) and normaliser.reference is not None
        self.relax = nn.Linear(width, 1) if relaxes else None
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.mul_(START)

    def forward(
        self,
        states: Float[Tensor, "outputs objects width"],
        last: Float[Tensor, "objects features"],
        batch: Batch,
    ) -> Float[Tensor, "outputs objects chosen"]:
        """The recalled change of the chosen features since `last`, for each state."""
        frames = batch.states.shape[1]
        age = time_embedding(batch.times.flatten(), AGES).view(batch.systems, frames, AGES)
        asked = self.weigh(states).unflatten(-1, (self.kinds, AGES))
        weight = torch.einsum("onka,nca->nkoc", asked, age[batch.system]) / frames
        changes = [torch.where(batch.observed, batch.states - last.unsqueeze(1), 0)]
        if self.positions:
            there = batch.observed[..., self.positions].all(-1, keepdim=True)
            changes.append(self._turned(batch.states[..., self.positions], there, last, batch))
        change = torch.einsum("nkoc,nkcf->onf", weight, torch.stack(changes, dim=1))
        if self.relax is not None and batch.reference.shape[1]:
            seen = batch.observed[..., self.positions].any(1).all(-1)
            away = self._turned(batch.reference.unsqueeze(1), seen[:, None, None], last, batch)
            change = change + self.relax(states) * away.squeeze(1)
        return change[..., self.features]

    def _turned(
        self,
        place: Float[Tensor, "objects frames positions"],
        there: Bool[Tensor, "objects frames 1"],
        last: Float[Tensor, "objects features"],
        batch: Batch,
    ) -> Float[Tensor, "objects frames features"]:
        """How places differ from those of `last`, but for the system's motion as a rigid body."""
        place = (place * self.unit).double()
        onto = (last[:, self.positions] * self.unit).double()
        turned = superposed(place, onto, there, batch)
        change = torch.where(there, turned - onto.unsqueeze(1), 0).to(last) / self.unit
        whole = last.new_zeros(*change.shape[:2], last.shape[1])
        whole[..., self.positions] = change
        return whole


def superposed(
    place: Float[Tensor, "objects frames dims"],
    onto: Float[Tensor, "objects dims"],
    there: Bool[Tensor, "objects frames 1"],
    batch: Batch,
) -> Float[Tensor, "objects frames dims"]:
    """Each system's frames turned and shifted to lie on `onto` as well as they can.

    As `pgode.data.superposition.superposed`, for many systems with objects that may be missing.
    """

    def total(x: Tensor) -> Tensor:
        return x.new_zeros(batch.systems, *x.shape[1:]).index_add(0, batch.system, x)

    share = there.to(place.dtype)
    count = total(share).clamp(min=1)
    middle = total(place * share) / count
    target = total(onto.unsqueeze(1) * share) / count
    moved = place - middle[batch.system]
    aim = (onto.unsqueeze(1) - target[batch.system]) * share
    covariance = total(moved.unsqueeze(-1) * aim.unsqueeze(-2))
    turn = optimal_rotation(covariance, torch)[batch.system]
    turned: Tensor = (moved.unsqueeze(-2) @ turn).squeeze(-2)
    return turned + target[batch.system]
