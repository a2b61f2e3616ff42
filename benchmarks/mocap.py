"""Motion capture: mean joint error relative to the hip, per axis, beside naive forecasts.

python -m benchmarks.mocap FOLDER [--epochs 30]     # FOLDER holds BVH files of one subject

10 frames at 30 Hz are observed and 24 forecast, at every origin of the trials of the test split,
which is drawn by file. The error is the mean distance along one axis over all joints but the hip.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

CONDITION, HORIZON, RATE = 10, 24, 30.0
SCORED = (12, 24)
SETTINGS: dict[str, Any] = {
    "window.condition": CONDITION,
    "window.starts": "all",
    "window.stride": 2,
    "model.width": 64,
    "model.state": "latent",
    "model.solver.method": "euler",
    "training.batch": 16,
    "training.threads": 1,
}
OUT = Path("benchmarks/results/mocap.json")

Errors = Float[np.ndarray, "objects horizon axis"]


def table(errors: Errors) -> dict[str, dict[str, float]]:
    """Mean over joints and frames up to each horizon, by axis."""
    return {
        str(horizon): dict(
            zip("xyz", errors[:, :horizon].mean((0, 1)).round(4).tolist(), strict=True)
        )
        for horizon in SCORED
    }


def scores(run: Any, data: Any, origins: str) -> dict[str, dict[str, dict[str, float]]]:
    """Errors of the model and of two naive ones on the same windows of the test split."""
    from pgode.batches.origins import parsed
    from pgode.batches.windows import Windows
    from pgode.evaluation import predict
    from pgode.models import build_model, model_config

    windows = Windows(data.split_of("test"), run.normaliser, CONDITION, HORIZON)
    chosen = parsed(origins, windows.frames, CONDITION, HORIZON)
    models = {run.config.name: run.model}
    for name in ("last-value", "constant-velocity"):
        models[name] = build_model(name, model_config(name, {}), run.normaliser)
    found = {}
    for name, model in models.items():
        forecast = predict(model, windows, origins=chosen)
        raw, truth = (run.normaliser.raw(each)[..., :3] for each in (forecast.mean, forecast.truth))
        joint = np.arange(len(raw)) % data.objects
        found[name] = table(np.abs(raw - truth)[joint > 0])
    found["windows"] = len(chosen)  # type: ignore[assignment]
    return found


def regressions(data: Any) -> dict[str, dict[str, dict[str, float]]]:
    """Linear regressions on each joint's own observed positions, fitted on the training split.

    One is shared by all joints and axes, the other has weights for each joint and axis.
    """
    (known, ahead), (seen, truth) = (_past_and_future(data.split_of(s)) for s in ("train", "test"))
    joints, axes = known.shape[1], known.shape[3]
    rows = [each.transpose(0, 1, 3, 2).reshape(-1, each.shape[2]) for each in (known, ahead, seen)]
    shared = (rows[2] @ _weights(rows[0], rows[1])).reshape(len(seen), joints, axes, HORIZON)
    single = np.empty_like(truth)
    for j, k in np.ndindex(joints, axes):
        single[:, j, :, k] = seen[:, j, :, k] @ _weights(known[:, j, :, k], ahead[:, j, :, k])
    found = {"linear, shared": shared.transpose(0, 1, 3, 2), "linear, of each joint": single}
    return {
        name: table(np.abs(forecast - truth).reshape(-1, HORIZON, axes))
        for name, forecast in found.items()
    }


def _past_and_future(data: Any) -> tuple[np.ndarray, np.ndarray]:
    """All windows of a split: observed positions (and a 1), and changes since the last of them."""
    windows = np.stack(
        [
            data.states[system, 1:, start : start + CONDITION + HORIZON, :3]
            for system in range(data.systems)
            for start in range(int(data.n_frames[system]) - CONDITION - HORIZON + 1)
        ]
    )
    past, last = windows[:, :, :CONDITION], windows[:, :, CONDITION - 1 : CONDITION]
    return np.concatenate([past, np.ones_like(last)], 2), windows[:, :, CONDITION:] - last


def _weights(inputs: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    ridge = 1e-3 * np.eye(inputs.shape[1])
    return np.asarray(np.linalg.solve(inputs.T @ inputs + ridge, inputs.T @ outputs))


def main() -> int:
    """Import, train unless the run exists, score, write."""
    from pgode.data import files
    from pgode.data.files import mocap
    from pgode.runs import api
    from pgode.runs.run import Run
    from pgode.runtime.files import write_json

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("bvh", type=Path, help="folder of BVH files")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--folder", type=Path, default=Path("runs/mocap"))
    chosen = parser.parse_args()
    cut = mocap.Cut(rate=RATE, skip=1)  # These files begin with a rest pose.
    data = mocap.read(sorted(chosen.bvh.glob("*.bvh")), cut)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    path = chosen.folder / "mocap.nc"
    files.write(data, path, overwrite=True)
    content: dict[str, Any] = {
        "data_hash": data.hash,
        "systems": {name: int((data.split == name).sum()) for name in ("train", "val", "test")},
        "condition": CONDITION,
        "horizon": HORIZON,
        "rate": RATE,
        "epochs": chosen.epochs,
        "settings": {"preset": "messages", **SETTINGS},
        "error": "mean absolute error of the joints but the hip, relative to it, in file units",
        "regressions, all origins": regressions(data),
        "seeds": {},
    }
    for seed in chosen.seeds:
        folder = chosen.folder / f"pgode-{seed}"
        if (folder / "config.json").exists():
            api.resume(folder, path)
        else:
            api.train(
                path,
                folder,
                preset="messages",
                horizon=HORIZON,
                epochs=chosen.epochs,
                seed=seed,
                settings=SETTINGS,
            )
        run = Run.open(folder)
        content["seeds"][str(seed)] = {
            "minutes": round(run.epochs[-1]["seconds"] / 60, 2),
            "all origins": scores(run, data, "all"),
            "first frames": scores(run, data, "first"),
        }
        write_json(OUT, content)
        print(seed, content["seeds"][str(seed)], flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
