"""One tiny trained run and its data, made once for all tests that need a real one."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from pgode.data import files
from pgode.data.simulate import simulate
from pgode.data.trajectories import Trajectories
from pgode.runs.run import Run
from pgode.runs.training import TrainingStopped, train
from pgode.training import RunConfig
from pgode.training.config import run_config
from pgode.training.display import Display

CONDITION, HORIZON, FRAMES, OBJECTS = 6, 6, 18, 3

SETTINGS = {
    "model.width": 8,
    "model.dynamics.prototypes": 2,
    "window.condition": CONDITION,
    "window.horizon": HORIZON,
    "training.epochs": 3,
    "training.batch": 2,
    "training.curriculum": [[0.4, 3]],
    "training.threads": 1,
}
"""Random window starts (from the preset), a curriculum, an adversary: all that resuming must keep.
Four steps per epoch."""

OPTIONS = (
    *("--preset", "messages"),
    *(word for key, value in SETTINGS.items() for word in ("--set", f"{key}={value}")),
)
"""The same for the command line."""


def settings(**changes: object) -> RunConfig:
    """The tiny settings, with changes: `training_epochs=2`, `model__dynamics__prototypes=3`."""
    named = {
        key.replace("__", ".") if "__" in key else key.replace("_", ".", 1): value
        for key, value in changes.items()
    }
    return run_config(preset="messages", changes={**SETTINGS, **named})


@cache
def springs() -> Trajectories:
    """Nineteen systems of three objects and eighteen frames, in all four splits."""
    return simulate(
        "springs", objects=OBJECTS, frames=FRAMES, seed=1, train=8, val=4, test=4, ood=3
    )


@cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="pgode-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def data_file() -> Path:
    """The data as a file."""
    path = _folder() / "springs.nc"
    files.write(springs(), path)
    return path


@cache
def trained() -> Run:
    """A run of three epochs that nothing interrupted. Do not write into its folder."""
    return train(springs(), _folder() / "run", settings(), source=str(data_file()))


def trained_in(folder: Path, config: RunConfig, display: Display | None = None) -> Run | None:
    """Train the tiny model in a folder; None if it was interrupted."""
    try:
        return train(springs(), folder, config, source=str(data_file()), display=display)
    except TrainingStopped:
        return None
