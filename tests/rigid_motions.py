"""Rotations, reflections and shifts of whole systems, for tests of models that turn with them."""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch, Windows
from pgode.data.trajectories import Trajectories


def turn(dims: int, *, mirror: bool, seed: int = 0) -> Tensor:
    """A random rotation, with a reflection or without."""
    drawn = np.random.default_rng(seed).normal(size=(dims, dims))
    matrix = torch.linalg.qr(torch.from_numpy(drawn)).Q
    if (torch.linalg.det(matrix) < 0) != mirror:
        matrix[0] *= -1
    return matrix


def moved(states: Tensor, normaliser: Normaliser, matrix: Tensor, shift: Tensor) -> Tensor:
    """Scaled states after turning the data about their own zero and shifting their positions."""
    scale, centre = torch.tensor([normaliser.scale, normaliser.centre], dtype=torch.float64)
    raw = states * scale + centre
    for features, added in ((normaliser.positions, shift), (normaliser.velocities, 0.0)):
        if features:
            raw[..., features] = raw[..., features] @ matrix.T + added
    return (raw - centre) / scale


def whole_vectors(batch: Batch, normaliser: Normaliser) -> Batch:
    """The batch without vectors of which only some components were observed."""
    observed = batch.observed.clone()
    for features in (normaliser.positions, normaliser.velocities):
        observed[..., features] = observed[..., features].all(-1, keepdim=True)
    states = torch.where(observed, batch.states, 0.0)
    return replace(batch, states=states, observed=observed)


def moved_batch(batch: Batch, normaliser: Normaliser, matrix: Tensor, shift: Tensor) -> Batch:
    """The batch as it would be had its systems been turned and shifted; masked values stay 0."""
    states = moved(batch.states, normaliser, matrix, shift)
    return replace(batch, states=torch.where(batch.observed, states, 0.0))


def in_space(*, velocities: bool = True) -> tuple[Normaliser, Batch]:
    """Three systems in three dimensions, in no helpful order of features, with gaps."""
    rng = np.random.default_rng(1)
    features = ("z", "charge", "vz", "vy", "y", "x", "vx")
    roles = ("position", "value", "velocity", "velocity", "position", "position", "velocity")
    chosen = [k for k, role in enumerate(roles) if velocities or role != "velocity"]
    times = np.arange(9) * 0.2
    states = rng.normal(size=(3, 4, 1, 7)) + rng.normal(size=(3, 4, 9, 7)).cumsum(2) * 0.3 + 1.5
    edges = (rng.random((3, 4, 4)) < 0.7) & ~np.eye(4, dtype=bool)
    data = Trajectories.build(
        states[..., chosen],
        times,
        edges=edges.astype(float),
        observed=np.repeat(rng.random((3, 4, 9, 1)) > 0.2, len(chosen), axis=3),
        features=tuple(features[k] for k in chosen),
        roles=tuple(roles[k] for k in chosen),
        variables=tuple({"position": "q", "velocity": "v"}.get(roles[k], "c") for k in chosen),
    )
    normaliser = Normaliser.fit(data)
    return normaliser, next(Windows(data, normaliser, 5, 4).batches(3)).to(dtype=torch.float64)


def strong(model: torch.nn.Module) -> torch.nn.Module:
    """The model with weights so large that its forecast is far from a straight line."""
    torch.manual_seed(5)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    return model
