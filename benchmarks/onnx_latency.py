"""Latency of one forecast: an exported ONNX model against the same model in torch.

`python -m benchmarks.onnx_latency` trains a message model of the default size for one epoch,
exports it, and forecasts 36 frames of one system of ten objects: by onnxruntime, by the model from
a batch that is ready (with its compiled stages, and in torch's operators alone), and by
`run.forecast` from arrays. All on one thread, in turns. Seconds are those of the processor, so that
other processes do not count.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from unittest.mock import patch

import numpy as np
import torch

import pgode
from benchmarks import Figure, Measurements
from pgode.batches.windows import Windows
from pgode.models.pgode.dynamics import compiled
from pgode.runs.export.arrays import observed_arrays
from pgode.runs.export.exporting import export_run
from pgode.runs.export.onnx_file import onnx_function

CONDITION, UNTIL, ROUNDS = 12, 36, 30


def run(until: int = UNTIL, rounds: int = ROUNDS) -> Measurements:
    """Milliseconds of each way, the median over rounds."""
    torch.set_num_threads(1)
    data = pgode.simulate("springs", train=4, val=2, test=2, ood=0, frames=CONDITION + UNTIL)
    with tempfile.TemporaryDirectory() as folder:
        trained = pgode.train(
            data, f"{folder}/run", preset="messages", epochs=1, settings={"training.threads": 1}
        )
        file = Path(folder) / "model.onnx"
        exported = export_run(trained, file, data=data, condition=CONDITION, until=until)
        function, megabytes = onnx_function(file), file.stat().st_size / 2**20
    one = data.select([0]).frames_between(0, CONDITION)
    arrays = observed_arrays(one, [0], exported.signature)
    batch = Windows(trained.conform(one), trained.normaliser, CONDITION, until).batch(
        np.zeros(1, np.int64), np.zeros(1, np.int64)
    )
    times = torch.arange(1.0, until + 1).expand(1, -1)

    def model() -> None:
        with torch.no_grad():
            trained.model.forecast(batch, times)

    def operators() -> None:
        with patch.object(compiled, "FEW", 0):
            model()

    ways = {
        "onnx": lambda: function(arrays),
        "model": model,
        "operators": operators,
        "run": lambda: trained.forecast(one, until=until, samples=0),
    }
    seconds = _in_turns(ways, rounds)
    return {
        "benchmark": "onnx_latency",
        "objects": len(arrays["states"]),
        "edges": len(arrays["senders"]),
        "frames": until,
        "megabytes": round(megabytes, 2),
        "difference": exported.comparison.difference,
        **{f"{name}_ms": round(1e3 * each, 2) for name, each in seconds.items()},
        "onnx_of_model": round(seconds["onnx"] / seconds["model"], 3),
        "onnx_of_operators": round(seconds["onnx"] / seconds["operators"], 3),
        "onnx_of_run": round(seconds["onnx"] / seconds["run"], 3),
    }


def _in_turns(ways: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The median time of each; what disturbs one round disturbs all ways alike."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds + 3):
        for name, way in ways.items():
            begun = process_time()
            way()
            seconds[name].append(process_time() - begun)
    return {name: median(each[3:]) for name, each in seconds.items()}


def figures(measured: Measurements) -> list[Figure]:
    """Half of the time that the model takes in torch's operators."""
    what = "ONNX / torch's operators, one forecast of ten objects and 36 frames"
    return [Figure(what, measured["onnx_of_operators"], 0.5, "x")]


if __name__ == "__main__":
    result = run()
    print(result)
    for figure in figures(result):
        print(f"{figure.what}: {figure.measured:.3g}, limit {figure.limit:g}")
