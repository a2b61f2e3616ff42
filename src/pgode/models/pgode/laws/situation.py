"""What is inferred from a batch before its forecast."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from pgode.models.pgode.laws.evidence.inference import Inferred
from pgode.models.pgode.laws.evidence.observation import Observation
from pgode.models.pgode.laws.motion.force_kernel import Layout
from pgode.models.pgode.laws.motion.path import Forces

NEGLIGIBLE = 1e-12
"""Share of a law that counts as none."""


@dataclass(frozen=True)
class Situation:
    """Everything inferred from a batch's condition that its forecast starts from."""

    seen: list[Observation]
    inferred: list[Inferred]
    layout: Layout
    forces: Forces
    deviation: Float[np.ndarray, " systems"]
    wall_deviation: Float[np.ndarray, " systems"]

    @property
    def weights(self) -> Float[np.ndarray, "objects prototypes"]:
        """Weights of the prototypes in use for every object."""
        return np.concatenate([each.weights for each in self.inferred])


def forces_of(
    table: Float[Tensor, "cells laws 4"],
    numbers: Int[np.ndarray, "used used"],
    drag: Float[Tensor, " prototypes"],
    pairs: Layout,
    edge_weights: Float[np.ndarray, "pairs 2"],
    weights: Float[np.ndarray, "objects used"],
    strength: Float[np.ndarray, " systems"],
    places: Float[np.ndarray, "systems axes 2"],
) -> Forces:
    """Forces of systems whose objects have these weights of the prototypes in use."""
    coupling = couplings(weights, numbers, pairs) * edge_weights[:, :, None]
    coupling[np.abs(coupling) < NEGLIGIBLE] = 0.0  # Laws that do not act take no time.
    zeros = torch.zeros(len(weights), places.shape[1], dtype=torch.float64)
    return Forces(
        table=table,
        coupling=torch.from_numpy(coupling),
        strength=torch.from_numpy(strength)[None],
        walls=torch.from_numpy(places)[None],
        drag=torch.from_numpy(weights) @ drag[: weights.shape[1]],
        pull=zeros[:, 0],
        push=zeros,
    )


def outer_forces(outer: Float[np.ndarray, " numbers"], forces: Forces) -> dict[str, Tensor]:
    """Push and pull of an outer field on every object, or those there are if it is empty."""
    if not len(outer):
        return {"push": forces.push, "pull": forces.pull}
    field = torch.from_numpy(np.asarray(outer, np.float64))
    return {
        "push": field[:-1].expand_as(forces.push).contiguous(),
        "pull": field[-1].expand_as(forces.pull).contiguous(),
    }


def couplings(
    weights: Float[np.ndarray, "objects prototypes"],
    numbers: Int[np.ndarray, "prototypes prototypes"],
    pairs: Layout,
) -> Float[np.ndarray, "pairs 2 laws"]:
    """How much of each law acts between two objects: on the first, then on the second."""
    return couplings_as(weights, weights, numbers, pairs)


def couplings_as(
    feeling: Float[np.ndarray, "objects prototypes"],
    acting: Float[np.ndarray, "objects prototypes"],
    numbers: Int[np.ndarray, "prototypes prototypes"],
    pairs: Layout,
) -> Float[np.ndarray, "pairs 2 laws"]:
    """The same for objects that feel forces as other prototypes than they act as."""
    first, second = pairs.objects
    out = np.zeros((len(first), 2, int(numbers.max()) + 1))
    for k, row in enumerate(numbers):
        for m, law in enumerate(row):
            out[:, 0, law] += feeling[first, k] * acting[second, m]
            out[:, 1, law] += feeling[second, k] * acting[first, m]
    return out
