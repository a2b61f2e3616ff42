"""Bond lengths and intervals of sampled forecasts, drawn for whole molecules and atom by atom.

python -m benchmarks.sampled_bonds runs/5awl data/5awl.nc
"""

import argparse
import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from pgode.batches.windows import Windows
from pgode.data import files
from pgode.evaluation import Calibration
from pgode.evaluation.predictions import predict
from pgode.evaluation.scores.probabilistic import covered, crps
from pgode.evaluation.uncertainty.calibration import DRAWS
from pgode.runs.run import Run

SAMPLES = 20


def main() -> int:
    """Read the command line, sample the test split, print rows and JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("run", type=Path)
    parser.add_argument("data", type=Path)
    arguments = parser.parse_args()
    rows = measure(arguments.run, arguments.data)
    for name, row in rows.items():
        print(f"{name:9s} " + "  ".join(f"{key} {value:.4g}" for key, value in row.items()))
    print(json.dumps(rows))
    return 0


def measure(folder: Path, path: Path) -> dict[str, dict[str, float]]:
    """Lengths (nm) of bonds between heavy atoms at the last frame, CRPS and coverage."""
    run, data = Run.open(folder), files.read(path)
    window = run.config.window
    val, test = (
        predict(
            run.model,
            Windows(data.split_of(split), run.normaliser, window.condition, window.horizon),
            DRAWS,
        )
        for split in ("val", "test")
    )
    whole = Calibration.fit(val, run.normaliser)
    forecasts = {"truth": test.truth[None], "mean": test.mean[None]}
    for name, calibration in (("jointly", whole), ("independently", replace(whole, joint=None))):
        forecasts[name] = calibration.resampled(test, SAMPLES, 0).draws
    return {
        name: {
            **_lengths(run.normaliser.raw(drawn), data.topology, data.objects),
            **({} if len(drawn) == 1 else _intervals(drawn, test.truth, data.objects)),
        }
        for name, drawn in forecasts.items()
    }


def _lengths(drawn: np.ndarray, pdb: str, atoms: int) -> dict[str, float]:
    import mdtraj

    with tempfile.NamedTemporaryFile("w", suffix=".pdb") as file:
        file.write(pdb)
        file.flush()
        topology = mdtraj.load_pdb(file.name).topology
    pairs = [
        (one.index, other.index)
        for one, other in topology.bonds
        if "H" not in (one.element.symbol, other.element.symbol)
    ]
    last = drawn[:, :, -1].reshape(len(drawn), -1, atoms, 3)
    first, second = np.array(pairs).T
    length = np.linalg.norm(last[:, :, first] - last[:, :, second], axis=-1)
    low, high = np.quantile(length, (0.01, 0.99))
    return {"shortest 1 %": float(low), "longest 1 %": float(high), "longest": float(length.max())}


def _intervals(drawn: np.ndarray, truth: np.ndarray, atoms: int) -> dict[str, float]:
    inside = covered(drawn, truth, 90)
    by_atom = inside.reshape(-1, atoms, *inside.shape[1:]).mean((0, 2, 3))
    return {
        "crps": float(crps(drawn, truth).mean()),
        "in 90 %": float(inside.mean()),
        "in 90 %, least atom": float(by_atom.min()),
        "in 90 %, most": float(by_atom.max()),
    }


if __name__ == "__main__":
    sys.exit(main())
