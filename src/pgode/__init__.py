"""pgode: learning and forecasting systems of many interacting objects.

    import pgode
    data = pgode.simulate("springs", train=200)
    run = pgode.train(data, "runs/springs", epochs=10)
    print(run.evaluate(data).mse.row("test", 12))

Names are imported when first used, so that `import pgode` is fast.
"""

import os
import sys

TYPE_CHECKING = False
"""As in `typing`, which takes longer to import than all of this file."""

__version__ = "0.2.0"

if "torch" not in sys.modules:
    # OpenMP reads it when torch is loaded. By default its threads spin while they wait for each
    # other, so that on a busy machine the one that has work waits for a core that another wastes.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        # pathlib takes longer to import than all of this file.
        with open("/sys/kernel/mm/transparent_hugepage/enabled", encoding="ascii") as file:  # noqa: PTH123
            asked_for = "[madvise]" in file.read()
    except (OSError, ValueError):
        asked_for = False
    if asked_for:
        # torch then asks for pages of 2 MB for its large tensors, as this kernel wants to be asked.
        # Touching a new one page by page of 4 kB takes longer than most operations on it.
        os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")

_WHERE = {
    "Edges": "pgode.data.trajectories",
    "Forecasts": "pgode.runs.forecasts",
    "InputError": "pgode.runtime.errors",
    "PgodeError": "pgode.runtime.errors",
    "Run": "pgode.runs.run",
    "Trajectories": "pgode.data.trajectories",
    "from_pyg": "pgode.data.files.pyg",
    "from_table": "pgode.data.files.table.importing",
    "compare": "pgode.runs.compare",
    "open_run": "pgode.runs.api",
    "read": "pgode.data.files",
    "resume": "pgode.runs.api",
    "simulate": "pgode.data.simulate",
    "to_pyg": "pgode.runs.exchange.pyg",
    "train": "pgode.runs.api",
    "tune": "pgode.tuning.api",
    "write": "pgode.data.files",
    "write_parts": "pgode.data.files.parts",
}

__all__ = [
    "Edges",
    "Forecasts",
    "InputError",
    "PgodeError",
    "Run",
    "Trajectories",
    "__version__",
    "compare",
    "from_pyg",
    "from_table",
    "open_run",
    "read",
    "resume",
    "simulate",
    "to_pyg",
    "train",
    "tune",
    "write",
    "write_parts",
]

if TYPE_CHECKING:
    from typing import Any

    from pgode.data.files import read, write
    from pgode.data.files.parts import write_parts
    from pgode.data.files.pyg import from_pyg
    from pgode.data.files.table.importing import from_table
    from pgode.data.simulate import simulate
    from pgode.data.trajectories import Edges, Trajectories
    from pgode.runs.api import open_run, resume, train
    from pgode.runs.compare import compare
    from pgode.runs.exchange.pyg import to_pyg
    from pgode.runs.forecasts import Forecasts
    from pgode.runs.run import Run
    from pgode.runtime.errors import InputError, PgodeError
    from pgode.tuning.api import tune


def __getattr__(name: str) -> "Any":
    from importlib import import_module

    if name not in _WHERE:
        raise AttributeError(f"module 'pgode' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
