"""pgode: learning and forecasting systems of many interacting objects.

    import pgode
    data = pgode.simulate("springs", train=200)
    run = pgode.train(data, "runs/springs", epochs=10)
    print(run.evaluate(data)["mse"]["test"]["12"])

Names are imported when first used, so that `import pgode` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_WHERE = {
    "Edges": "pgode.trajectories",
    "Forecasts": "pgode.forecasts",
    "InputError": "pgode.errors",
    "PgodeError": "pgode.errors",
    "Run": "pgode.run",
    "Trajectories": "pgode.trajectories",
    "open_run": "pgode.api",
    "read": "pgode.io",
    "resume": "pgode.api",
    "simulate": "pgode.systems",
    "train": "pgode.api",
    "write": "pgode.io",
}

__all__ = [
    "Edges",
    "Forecasts",
    "InputError",
    "PgodeError",
    "Run",
    "Trajectories",
    "__version__",
    "open_run",
    "read",
    "resume",
    "simulate",
    "train",
    "write",
]

if TYPE_CHECKING:
    from pgode.api import open_run, resume, train
    from pgode.errors import InputError, PgodeError
    from pgode.forecasts import Forecasts
    from pgode.io import read, write
    from pgode.run import Run
    from pgode.systems import simulate
    from pgode.trajectories import Edges, Trajectories


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'pgode' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
