"""Force laws on every simulated system, three seeds each, with parts taken away, and rivals.

python -m benchmarks.laws train charged-0 mixed-0    # resumable; all jobs without names
python -m benchmarks.laws ship                       # the runs that come with the package
python -m benchmarks.laws list                       # the jobs, and which are done
python -m benchmarks.accuracy tables                 # results -> docs/results.md
"""

import argparse
import json
import shutil
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

RESULTS = Path("benchmarks/results/laws")
SYSTEMS = ("springs", "charged", "mixed", "nbody", "gravity")
SEEDS = (0, 1, 2)
REMOVED = {
    "without-F": "model.dynamics.prototypes=1",
    "without-O": "model.gate.contexts=system",
    "without-epsilon": "model.gate.contexts=object",
    "without-D": "model.dynamics.disentangled=false",
}
"""What the paper's ablation takes away, as settings of force laws."""
RIVALS = ("eqmotion", "egnn", "social-ode")
"""The strongest rivals on Springs (the first two) and on Charged."""
SHIPPED = {"springs-10": "springs-0", "charged-10": "charged-0", "nbody-5": "nbody-0"}
"""Jobs whose runs come with the package."""
RIVAL_EPOCHS = 10
"""That of `pgode reproduce --budget quick`."""


@dataclass(frozen=True)
class Job:
    """One training: its data, and the options of `pgode train`."""

    system: str
    seed: int
    options: tuple[str, ...] = ()


def jobs() -> dict[str, Job]:
    """Every job by name."""
    found = {f"{system}-{seed}": Job(system, seed) for seed in SEEDS for system in SYSTEMS}
    for seed in SEEDS:
        for system in ("charged", "mixed"):
            for name, setting in REMOVED.items():
                # Messages would make up for the missing part, and hide what it does.
                options = ("--set", setting, "--set", "model.dynamics.messages=false")
                found[f"{system}-{name}-{seed}"] = Job(system, seed, options)
    for rival in RIVALS:
        options = ("--model", rival, "--epochs", str(RIVAL_EPOCHS))
        found[f"mixed-{rival}-0"] = Job("mixed", 0, options)
    return found


def train(name: str, folder: Path) -> int:
    """Make the data, train or resume, evaluate, and keep the evaluation."""
    from pgode.cli.app import run_command

    job, run = jobs()[name], folder / name
    data = folder / f"{job.system}.nc"
    if not data.exists() and run_command(["simulate", job.system, "-o", str(data)]):
        return 1
    arguments = ["--resume", str(run)]
    if not (run / "config.json").exists():
        given = [str(data), "-o", str(run), "--seed", str(job.seed), "--threads", "1"]
        arguments = [*given, *job.options]
    if run_command(["train", *arguments]):
        return 1
    keep(name, run, data)
    return 0


def without_law(data: Any) -> Any:
    """The same data, not said to be simulated: the known law is that of other jobs, too."""
    return type(data).from_dataset(data.dataset.assign_attrs(generator=""))


def keep(name: str, run: Path, source: Path) -> None:
    """Evaluate a finished run into benchmarks/results/laws."""
    from pgode.data import files
    from pgode.runs.laws import force_laws, laws_of
    from pgode.runs.run import Run
    from pgode.runtime.files import write_json

    opened, data = Run.open(run), files.read(source)
    evaluation = opened.evaluate(without_law(data) if jobs()[name].options else data)
    kept = replace(evaluation, curves={}, curve_low={}, curve_high={})
    content: dict[str, Any] = {
        "minutes": round(opened.epochs[-1]["seconds"] / 60, 2),
        "evaluation": kept.to_json(),
    }
    if force_laws(opened.model) is not None:
        reading = laws_of(opened, data)
        content["findings"] = list(reading.findings)
        content["agreement"] = reading.agreement
        content["forecast_ms"] = forecast_time(opened, data)
        content["trust"] = trusted(opened, data)
    write_json(RESULTS / f"{name}.json", content)


def trusted(run: Any, data: Any) -> dict[str, float]:
    """Share of the test frames that are to be trusted, errors of positions in them and after."""
    import numpy as np

    from pgode.batches.windows import Windows
    from pgode.evaluation.predictions import predict

    window, normaliser = run.config.window, run.normaliser
    windows = Windows(data.split_of("test"), normaliser, window.condition, window.horizon)
    forecast = predict(run.model, windows)
    errors = np.asarray(forecast.squared_errors()[..., normaliser.positions].mean(-1))
    until = forecast.contexts["system_trusted"][forecast.system] / normaliser.frame_duration
    inside = forecast.times <= until + 1e-3
    after = float(errors[~inside].mean()) if not inside.all() else 0.0
    return {"share": float(inside.mean()), "mse": float(errors[inside].mean()), "mse_after": after}


def forecast_time(run: Any, data: Any, repeats: int = 10) -> float:
    """Milliseconds of one core that the forecast of one system takes, the fastest of several."""
    import numpy as np
    import torch

    from pgode.batches.windows import Windows

    window = run.config.window
    windows = Windows(data.split_of("test"), run.normaliser, window.condition, window.horizon)
    batch = windows.batch(np.array([0]), np.array([0]))
    taken = []
    for _ in range(repeats):
        began = time.process_time()
        with torch.no_grad():
            run.model.forecast(batch, batch.target_times)
        taken.append(time.process_time() - began)
    return round(1000 * min(taken), 1)


def ship(folder: Path) -> None:
    """Copy the runs that come with the package into it, without logs and without paths."""
    from pgode.runs.folder import PRETRAINED, read_config, write_config
    from pgode.runtime.files import write_json

    for name, run in SHIPPED.items():
        source, target = folder / run, PRETRAINED / name
        target.mkdir(parents=True, exist_ok=True)
        for file in ("normaliser.json", "calibration.json"):
            shutil.copy(source / file, target / file)
        write_config(target, read_config(source))
        write_json(
            target / "data.json", json.loads((source / "data.json").read_text()) | {"source": ""}
        )
        shutil.copy(source / "checkpoints" / "best.safetensors", target / "model.safetensors")


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("action", choices=("train", "keep", "ship", "list"))
    parser.add_argument("names", nargs="*", help="jobs (all)")
    parser.add_argument("--folder", type=Path, default=Path("runs/laws"))
    arguments = parser.parse_args()
    available = jobs()
    if arguments.action == "ship":
        ship(arguments.folder)
        return 0
    unknown = [name for name in arguments.names if name not in available]
    if unknown:
        parser.error(f"no job {', '.join(unknown)}; there are {', '.join(available)}")
    for name in arguments.names or available:
        done = (RESULTS / f"{name}.json").exists()
        if arguments.action == "list":
            print(f"{name:28} {'done' if done else '-'}")
        elif arguments.action == "keep":
            folder = arguments.folder
            keep(name, folder / name, folder / f"{available[name].system}.nc")
        elif not done and train(name, arguments.folder):
            return 1
    return 0


def results() -> dict[str, dict[str, Any]]:
    """What is known of every job that was run."""
    paths = {name: RESULTS / f"{name}.json" for name in jobs()}
    return {name: json.loads(path.read_text()) for name, path in paths.items() if path.exists()}


if __name__ == "__main__":
    sys.exit(main())
