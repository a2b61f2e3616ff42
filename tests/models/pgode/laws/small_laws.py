"""Models of force laws on small data, found or given, for tests."""

from collections.abc import Callable

import numpy as np
import torch

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch, Windows
from pgode.data.trajectories import Trajectories
from pgode.models.pgode.config import PGODEConfig
from pgode.models.pgode.laws.model import ForceLaws
from pgode.models.pgode.laws.radial import SPLINES, basis

FEATURES = ("x", "y", "z", "vx", "vy", "vz")


def built(data: Trajectories, walls: str = "auto", **dynamics: object) -> ForceLaws:
    """A model for this data that knows no laws yet; a single run by default."""
    settings = {"kind": "laws", "prototypes": 1, "ensemble": 1, **dynamics}
    config = PGODEConfig.model_validate({"dynamics": settings, "walls": walls})
    return ForceLaws(config, Normaliser.fit(data))


def found(data: Trajectories, walls: str = "auto", **dynamics: object) -> ForceLaws:
    """A model that found the laws of this data."""
    model = built(data, walls, **dynamics)
    model.prepare(Windows(data, model.normaliser, 6, 6), 0, lambda what, share: None)
    return model


def whole(model: ForceLaws, data: Trajectories, condition: int = 12, horizon: int = 8) -> Batch:
    """All systems in one batch, in double precision."""
    windows = Windows(data, model.normaliser, condition, horizon)
    systems = np.arange(len(windows))
    return windows.batch(systems, np.zeros_like(systems)).to(dtype=torch.float64)


def give(
    model: ForceLaws,
    factor: Callable[[int, int, np.ndarray], np.ndarray],
    *,
    kinds: int = 1,
    drag: tuple[float, ...] = (0.0,),
    span: tuple[float, float] = (0.01, 20.0),
) -> None:
    """Laws by force over distance, `factor(receiver, sender, distance)`, and drags of the data."""
    units = model.units
    low, high = np.log(np.array(span) / units.length)
    model.radial.span.copy_(torch.tensor([low, high]))
    x = np.linspace(low, high, 2000)
    values, _ = basis(x, low, model.radial.spacing, SPLINES)
    model.radial.exponents.fill_(1.0)
    for k in range(kinds):
        for m in range(kinds):
            law = factor(k, m, np.exp(x) * units.length) * units.frame**2
            # Relative errors count: a law may span many orders of magnitude.
            size = 1 / np.maximum(np.abs(law), 1e-3 * np.abs(law).max())
            fitted = np.linalg.lstsq(values * size[:, None], law * size, rcond=None)[0]
            model.radial.coefficients[model.numbers[k, m]] = torch.from_numpy(fitted)
    model.shares.zero_()
    model.shares[:kinds] = 1 / kinds
    model.drag[:kinds] = torch.tensor(drag).double() * units.frame
    model.noise.fill_(1e-8)
    model.spread.fill_(0.3)
    model.scheme.copy_(torch.tensor([0.0, 20.0, 512.0]))


def particles(
    factor: Callable[[np.ndarray], np.ndarray],
    *,
    systems: int = 30,
    objects: int = 4,
    frames: int = 21,
    axes: int = 2,
    period: float = 0.0,
    steps: int = 10,
    seed: int = 0,
    lag: bool = False,
    size: float = 3.0,
    push: tuple[float, ...] = (0.0,),
    pull: float = 0.0,
) -> np.ndarray:
    """States (system, object, frame, feature) under a pair force, `factor` times q_i - q_j.

    A frame takes 0.1. With a `period` displacements are those of the nearest images, and positions
    are not wrapped. With `lag` a step is a kick and a drift, else it is a Verlet step. An outer
    field adds `push - pull q`.
    """
    random = np.random.default_rng(seed)
    reach = period or size
    grid = np.stack(np.meshgrid(*[np.arange(2)] * axes, indexing="ij"), -1).reshape(-1, axes)
    q = (grid[:objects] + random.uniform(0.2, 0.8, (systems, objects, axes))) * reach / 2
    v = random.normal(scale=0.5, size=q.shape)
    h = 0.1 / steps

    def acceleration(q: np.ndarray) -> np.ndarray:
        apart = q[:, :, None] - q[:, None]
        if period:
            apart -= period * np.round(apart / period)
        distance = np.sqrt((apart**2).sum(-1)) + np.eye(objects)
        return (factor(distance)[..., None] * apart).sum(2) + np.array(push) - pull * q

    states = [np.concatenate([q, v], -1)]
    for _ in range(frames - 1):
        for _ in range(steps):
            if lag:
                v = v + h * acceleration(q)
                q = q + h * v
            else:
                v = v + h / 2 * acceleration(q)
                q = q + h * v
                v = v + h / 2 * acceleration(q)
        states.append(np.concatenate([q, v], -1))
    return np.stack(states, axis=2)


def random_walks() -> np.ndarray:
    """States of objects that do not act on each other, but whose velocities are random walks."""
    random = np.random.default_rng(0)
    v = 0.1 + 0.01 * random.normal(size=(8, 3, 30, 2)).cumsum(2)
    q = random.normal(size=(8, 3, 1, 2)) + v.cumsum(2)
    return np.concatenate([q, v], -1)


def trajectories(states: np.ndarray, times: object = None, **more: object) -> Trajectories:
    """Objects that are all joined."""
    systems, objects, frames, features = states.shape
    axes = features // 2
    if "edges" not in more:
        more["edges"] = np.tile(1.0 - np.eye(objects), (systems, 1, 1))
    return Trajectories.build(
        states,
        np.arange(frames) * 0.1 if times is None else times,
        features=FEATURES[:axes] + FEATURES[3 : 3 + axes],
        roles=("position",) * axes + ("velocity",) * axes,
        variables=("q",) * axes + ("v",) * axes,
        **more,
    )
