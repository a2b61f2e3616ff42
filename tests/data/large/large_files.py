"""Small files that are opened as if they were larger than memory."""

from pathlib import Path

import numpy as np
import pytest
from tests.small_systems import arrays, edges, uneven

from pgode.data import files
from pgode.data.trajectories import Trajectories
from pgode.runtime.memory import SHARE_VARIABLE


def stay_in_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on every file is read window by window."""
    monkeypatch.setenv(SHARE_VARIABLE, "0")


def both(
    data: Trajectories, path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Trajectories, Trajectories]:
    """Data that were written and read: in memory, and from their file."""
    files.write(data, path)
    held = files.read(path)
    with monkeypatch.context() as patch:
        stay_in_file(patch)
        stored = files.read(path)
    assert not held.is_stored and stored.is_stored
    return held, stored


def rich() -> Trajectories:
    """`uneven` with constants, known inputs, names and a transform."""
    rng = np.random.default_rng(8)
    given = arrays()
    shape = given["states"].shape
    states = given["states"].copy()
    states[..., 2] = np.exp(states[..., 2] / 3)
    inputs = rng.normal(size=(*shape[:3], 2))
    inputs[0, 0, 0, 0] = np.nan
    return uneven(
        states=states,
        edges=edges(),
        constants=np.where(
            rng.random((*shape[:2], 1)) < 0.8, rng.normal(size=(*shape[:2], 1)), np.nan
        ),
        constant_names=("size",),
        inputs=inputs,
        input_names=("day", "price"),
        transforms=["", "", "log", "", ""],
        system_names=[f"run {k}" for k in range(5)],
    )
