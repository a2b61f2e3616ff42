"""A small run whose prototypes are force laws, found in data once for all tests that need one."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from pgode.data import files
from pgode.data.simulate import simulate
from pgode.data.trajectories import Trajectories
from pgode.runs.run import Run
from pgode.runs.training import train
from pgode.training.config import run_config

SETTINGS = {
    "model.dynamics.prototypes": 1,
    "model.dynamics.ensemble": 2,
    "window.condition": 6,
    "window.horizon": 6,
    "training.threads": 1,
}


@cache
def springs() -> Trajectories:
    """Systems of five objects in all four splits."""
    return simulate("springs", objects=5, frames=24, seed=1, train=16, val=2, test=2, ood=2)


@cache
def run_with_laws() -> Run:
    """A trained run beside its data, springs.nc. Do not write into its folder."""
    folder = Path(tempfile.mkdtemp(prefix="pgode-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    data = folder / "springs.nc"
    files.write(springs(), data)
    return train(springs(), folder / "run", run_config(changes=SETTINGS), source=str(data))
