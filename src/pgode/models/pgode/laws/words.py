"""What was found in the training data, in sentences."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pgode.models.pgode.laws.model import ForceLaws

AXES = "xyz"


def sentences(model: "ForceLaws") -> Iterator[str]:
    """Prototypes, walls, steps, limit."""
    used, most = model.used, model.prototypes
    shares = ", ".join(f"{share:.0%}" for share in model.shares[:used].tolist())
    plural = "s" if used > 1 else ""
    yield f"prototypes: {used} kind{plural} of objects found of at most {most} (shares {shares})"
    if not model.has_laws:
        yield "laws: none, because free motion forecasts better than any law that was found"
    if model.outer.any():
        yield _outer(model)
    yield _walls(model)
    yield _steps(model)
    limit = float(model.limit)
    if np.isfinite(limit):
        yield (
            f"limit: components of accelerations are clipped at "
            f"{limit * model.units.acceleration:.4g}"
        )


def _outer(model: "ForceLaws") -> str:
    push, pull = model.outer[:-1].numpy(), float(model.outer[-1]) / model.units.frame**2
    field = ", ".join(f"{x * model.units.acceleration:.4g}" for x in push)
    return f"field: all objects are accelerated by ({field}) - {pull:.4g} times their position"


def _walls(model: "ForceLaws") -> str:
    if model.settings.box is not None:
        return f"walls: a periodic box of {' x '.join(f'{x:g}' for x in model.settings.box)}"
    places = (model.walls * model.units.length).numpy()
    found = [
        f"{AXES[axis] if len(places) <= len(AXES) else axis} = {places[axis, side]:.4g}"
        for axis, side in np.argwhere(np.isfinite(places))
    ]
    if not found:
        return "walls: none"
    spread = float(model.wall_spread[0]) * model.units.length
    together = ", all walls of a system together" if model.wall_spread[1] else ""
    return (
        f"walls: objects are mirrored at {', '.join(found)}; places differ between systems by "
        f"{spread:.2g}{together}"
    )


def _steps(model: "ForceLaws") -> str:
    steps = model.steps
    if steps.most > steps.fewest:
        return (
            f"steps: at least {steps.fewest:g} Verlet steps per frame, up to {steps.most} in close "
            f"encounters"
        )
    scheme = "kick-drift" if steps.lead else "Verlet"
    return f"steps: {steps.most} {scheme} steps per frame, as the data themselves seem to be made"
