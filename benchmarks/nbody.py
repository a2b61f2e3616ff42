"""The N-body benchmark of equivariant networks: five charges in 3-D, from frame 30 to frame 40.

Positions, velocities and charge products at frame 30 are known; scored is the mean squared error of
the positions at frame 40, in raw units, over 2000 test systems. 3000 systems are trained on, on two
tracks: all their frames, or frames 30 and 40 only.

python -m benchmarks.nbody [--seeds 0 1 2]     # resumable: finished runs are kept
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from pgode.data.trajectories import Trajectories

OUT = Path("benchmarks/results/nbody.json")
FIRST, LAST = 30, 40
TRACKS = {"all training frames": None, "frames 30 and 40 only": (FIRST, LAST)}


def only(data: Trajectories, frames: tuple[int, ...]) -> Trajectories:
    """The data with a few of their frames."""
    return Trajectories.from_dataset(data.dataset.isel(time=list(frames)))


def trained(data: Trajectories, folder: Path, seed: int) -> Any:
    """A run that forecasts from one frame on."""
    from pgode.runs import api

    if (folder / "config.json").exists():
        return api.resume(folder, data)
    horizon = min(LAST - FIRST, data.states.shape[2] - 1)
    settings = {"window.condition": 1, "training.threads": 1}
    return api.train(data, folder, horizon=horizon, seed=seed, settings=settings)


def score(forecast: np.ndarray, data: Trajectories) -> dict[str, float]:
    """Mean, median and largest share of the squared errors of the test systems."""
    truth = data.states[:, :, LAST, list(data.position_features)]
    errors = ((forecast - truth) ** 2).mean((1, 2))
    ranked = np.sort(errors)[::-1]
    return {
        "mse": float(errors.mean()),
        "median": float(np.median(errors)),
        "worst_percent": float(ranked[: len(ranked) // 100].sum() / ranked.sum()),
    }


def naive(data: Trajectories) -> dict[str, dict[str, float]]:
    """Objects that stay, and objects that keep their velocities."""
    places, speeds = (
        data.states[:, :, FIRST, list(columns)]
        for columns in (data.position_features, data.velocity_features)
    )
    elapsed = (data.times[:, LAST] - data.times[:, FIRST])[:, None, None]
    return {
        "persistence": score(places, data),
        "constant velocity": score(places + elapsed * speeds, data),
    }


def main() -> int:
    """Train what is missing, and write the scores."""
    from pgode.data import files
    from pgode.data.simulate import simulate
    from pgode.runtime.files import write_json

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--folder", type=Path, default=Path("runs/nbody"))
    chosen = parser.parse_args()
    path = chosen.folder / "nbody.nc"
    if not path.exists():
        files.write(simulate("nbody"), path)
    data = files.read(path)
    test = data.split_of("test")
    content = json.loads(OUT.read_text()) if OUT.exists() else {"tracks": {}}
    content["naive"] = naive(test)
    for seed in chosen.seeds:
        for track, frames in TRACKS.items():
            scores = content["tracks"].setdefault(track, {})
            if str(seed) in scores:
                continue
            given = data if frames is None else only(data, frames)
            folder = chosen.folder / f"{'all' if frames is None else 'two'}-{seed}"
            run = trained(given, folder, seed)
            observed = only(test, (FIRST,))
            until = [float(test.times[0, LAST] - test.times[0, FIRST])]
            forecast = run.forecast(observed, times=until, samples=0).mean[:, :, 0]
            scores[str(seed)] = {
                **score(forecast[..., list(test.position_features)], test),
                "minutes": round(run.epochs[-1]["seconds"] / 60, 2),
            }
            write_json(OUT, content)
            print(track, seed, scores[str(seed)], flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
