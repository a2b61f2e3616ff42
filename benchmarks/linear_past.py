"""Error of a linear regression on each atom's own past: a baseline for networks.

python -m benchmarks.linear_past data/5awl.nc

For each forecast frame, one weight per observed frame, the same for all atoms and axes, fitted by
least squares on the training split. Other inputs of "turned" are the frames after superposition on
the last one; of "relaxed" also the difference from the mean structure.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from jaxtyping import Float

from pgode.batches.normaliser import Normaliser
from pgode.data import files
from pgode.data.superposition import superposed

CONDITION, HORIZON = 12, 24
SCORED = (12, 24)
KINDS = ("last value", "own past", "turned", "relaxed")
STRIDE = 3
"""Training windows start at every third frame; those between are redundant."""
RIDGE = 1e-3

Frames = Float[np.ndarray, "window time atom 3"]


def main() -> int:
    """Read the command line, fit, print errors and JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    scores = errors(parser.parse_args().data)
    for split, rows in scores.items():
        for kind, values in rows.items():
            print(f"{split:5s} {kind:11s} " + "  ".join(f"{1e3 * x:.3f}" for x in values.values()))
    print(json.dumps(scores))
    return 0


def errors(path: Path) -> dict[str, dict[str, dict[str, float]]]:
    """Squared error (scaled units) by split, kind of regression and horizon."""
    data = files.read(path)
    normaliser = Normaliser.fit(data.split_of("train"))
    structure = normaliser.reference_of(data)
    assert structure is not None, "the data holds no molecule"
    windows = {
        split: _windows(
            normaliser.states(data.split_of(split).states).swapaxes(1, 2),
            STRIDE if split == "train" else 0,
        )
        for split in ("train", "test", "ood")
    }
    scores: dict[str, dict[str, dict[str, float]]] = {"test": {}, "ood": {}}
    for kind in KINDS:
        inputs = _inputs(windows["train"], structure, kind)
        square = inputs.T @ inputs + RIDGE * np.eye(inputs.shape[1])
        weights = np.linalg.solve(square, inputs.T @ _targets(windows["train"]))
        for split in scores:
            error = _targets(windows[split]) - _inputs(windows[split], structure, kind) @ weights
            scores[split][kind] = {str(h): float((error[:, :h] ** 2).mean()) for h in SCORED}
    return scores


def _windows(states: Frames, stride: int) -> Frames:
    """Windows of the condition and the horizon; with a stride of 0 only the first of each."""
    length = CONDITION + HORIZON
    starts = range(0, states.shape[1] - length + 1, stride) if stride else (0,)
    return np.concatenate([states[:, start : start + length] for start in starts])


def _inputs(windows: Frames, structure: np.ndarray, kind: str) -> Float[np.ndarray, "row input"]:
    """Inputs of a regression for each atom and axis, all relative to the last observed frame."""
    last = windows[:, CONDITION - 1 : CONDITION]
    parts = [windows[:, :0]]
    if kind != "last value":
        parts.append(windows[:, : CONDITION - 1] - last)
    if kind in ("turned", "relaxed"):
        parts.append(superposed(windows[:, : CONDITION - 1], last) - last)
    if kind == "relaxed":
        whole = np.broadcast_to(structure, (len(windows), 1, *structure.shape))
        parts.append(superposed(whole, last) - last)
    return _rows(np.concatenate(parts, axis=1))


def _targets(windows: Frames) -> Float[np.ndarray, "row horizon"]:
    return _rows(windows[:, CONDITION:] - windows[:, CONDITION - 1 : CONDITION])


def _rows(frames: Frames) -> Float[np.ndarray, "row time"]:
    """A row for each window, atom and axis."""
    windows, times, atoms, axes = frames.shape
    return frames.transpose(0, 2, 3, 1).reshape(windows * atoms * axes, times)


if __name__ == "__main__":
    sys.exit(main())
