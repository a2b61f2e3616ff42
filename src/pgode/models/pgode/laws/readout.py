"""The laws of a model in the units of its data, to be read, and what its forecasts tell."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float

from pgode.models.pgode.laws.radial import basis, evaluate

if TYPE_CHECKING:
    from pgode.models.pgode.laws.model import ForceLaws
    from pgode.models.pgode.laws.motion.path import Path
    from pgode.models.pgode.laws.situation import Situation
    from pgode.models.pgode.laws.trust import Trust


@dataclass(frozen=True)
class Law:
    """The force by which one prototype feels another, per unit of edge weight and strength.

    Positive is repulsion. Distances and forces (accelerations) are in the units of the data.
    `nearest` and `farthest` are the range of distances that training showed.
    """

    receiver: int
    sender: int
    nearest: float
    farthest: float
    exponents: Float[torch.Tensor, "1"]
    coefficients: Float[torch.Tensor, "1 splines"]
    inner: Float[torch.Tensor, "1"]
    covariance: Float[np.ndarray, "splines+1 splines+1"]
    low: float
    spacing: float
    length: float
    acceleration: float

    def force(self, distance: Float[np.ndarray, " points"]) -> Float[np.ndarray, " points"]:
        """The force at some distances."""
        inner = np.asarray(distance, np.float64) / self.length
        given = (self.exponents, self.coefficients, self.low, self.spacing)
        factor, _ = evaluate(*given, inner, self.inner)
        return np.asarray(factor[0].numpy() * inner * self.acceleration)

    def deviation(self, distance: Float[np.ndarray, " points"]) -> Float[np.ndarray, " points"]:
        """Standard deviation of the force, as the training data leave it."""
        inner = np.asarray(distance, np.float64) / self.length
        x = np.log(inner)
        values, _ = basis(x, self.low, self.spacing, self.coefficients.shape[1])
        power = inner ** float(self.exponents[0])
        correction = values @ self.coefficients[0].numpy()
        slopes = power[:, None] * np.column_stack([values, x * correction])
        variance = np.einsum("pi,ij,pj->p", slopes, self.covariance, slopes)
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)) * self.acceleration)


def laws_of(model: "ForceLaws") -> Iterator[Law]:
    """One law for each two prototypes in use; both directions where they differ."""
    radial, used = model.radial, model.used
    nearest, farthest = np.exp(radial.span.numpy()) * model.units.length
    seen = set()
    for k in range(used):
        for m in range(used):
            number = int(model.numbers[k, m])
            if number in seen:
                continue
            seen.add(number)
            yield Law(
                receiver=k,
                sender=m,
                nearest=float(nearest),
                farthest=float(farthest),
                exponents=radial.exponents[number : number + 1],
                coefficients=radial.coefficients[number : number + 1],
                inner=radial.inner[number : number + 1],
                covariance=radial.covariance[number].numpy(),
                low=radial.low,
                spacing=radial.spacing,
                length=model.units.length,
                acceleration=model.units.acceleration,
            )


def contexts_of(
    model: "ForceLaws", now: "Situation", path: "Path", sure: "Trust"
) -> dict[str, torch.Tensor]:
    """Weights of the prototypes, strengths, how close and fine the motion was, and trust."""
    gate = torch.zeros(len(now.weights), model.prototypes, dtype=torch.float64)
    gate[:, : model.used] = torch.from_numpy(now.weights)
    closest = path.closest[: model.settings.ensemble].min(0) * model.units.length
    finest = path.steps[: model.settings.ensemble].max((0, 2)).astype(np.float64)
    per_system = {
        "system_strength": now.forces.strength[0].numpy(),
        "system_nearest": closest,
        "system_substeps": finest,
        "system_trusted": sure.until * model.normaliser.frame_duration,
    }
    rows = {name: torch.from_numpy(v)[:, None].float() for name, v in per_system.items()}
    pair = torch.from_numpy(sure.pair)[:, None].float()
    return {"gate": gate.float(), **rows, "untrusted_pair": pair}
