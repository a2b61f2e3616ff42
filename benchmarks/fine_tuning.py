"""Whether it pays to go on from a trained run: new data of a few systems, with other parameters.

`python -m benchmarks.fine_tuning` trains one model on Springs, then adapts it to a few systems with
stiffer springs, to a few of faster motion, and to a few that are no different, in several ways.
Finished rows are kept.
`python -m benchmarks.fine_tuning --table` prints the rows for the docs.
"""

import json
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np

SEEDS = (0, 1)
CONDITION, HORIZON, FRAMES, OBJECTS = 12, 12, 48, 5
FEW, HELD_OUT, TEST = 8, 8, 200
EPOCHS = 40
SETTINGS = {
    "model.width": 32,
    "window.condition": CONDITION,
    "window.horizon": HORIZON,
    "training.curriculum": [],
    "training.threads": 1,
}
SHIFTS: dict[str, dict[str, float]] = {
    "stiffer": {"strength": 3.0},
    "faster": {"speed": 2.0},
    "alike": {},
}
"""Factors on the ranges that parameters are drawn from."""
WAYS: dict[str, dict[str, Any] | None] = {
    "the run itself, untouched": None,
    "fresh weights": {"fresh": True},
    "fresh weights, ten times the epochs": {"fresh": True, "times": 10},
    "from the run, all as by default": {},
    "from the run, ten times the epochs": {"times": 10},
    "from the run, old scales, rate x 0.1": {"rate": 1e-4, "refit": False},
    "from the run, old scales, rate x 0.3": {"rate": 3e-4, "refit": False},
    "from the run, old scales, rate x 1": {"rate": 1e-3, "refit": False},
    "from the run, new scales, rate x 0.3": {"rate": 3e-4, "refit": True},
    "from the run, new scales, rate x 1": {"rate": 1e-3, "refit": True},
}
OUT = Path("benchmarks/results/fine_tuning.json")
RUNS = Path("runs/fine_tuning")


def systems(seed: int, shift: dict[str, float], **counts: int) -> Any:
    """Springs whose parameters come from ranges that are moved by factors."""
    from pgode.data.simulate.parameters import Ranges
    from pgode.data.simulate.simulation import columns
    from pgode.data.simulate.springs import SPRINGS
    from pgode.data.simulate.system import Schedule, draw
    from pgode.data.trajectories import Edges, Trajectories

    def moved(ranges: Any) -> dict[str, tuple[float, float]]:
        return {k: tuple(x * shift.get(k, 1.0) for x in ends) for k, ends in ranges.items()}

    kind = replace(SPRINGS, ranges=Ranges(moved(SPRINGS.ranges.inner), moved(SPRINGS.ranges.outer)))
    parameters, initial = draw(kind, OBJECTS, counts, seed)
    schedule = Schedule(FRAMES, 100, 0.001, kind.integrators[0])
    return Trajectories.build(
        kind.simulate(initial, columns(kind, parameters), schedule),
        schedule.times,
        edges=Edges.from_dense(initial.weights, schedule.times),
        features=["qx", "qy", "vx", "vy"],
        roles=["position"] * 2 + ["velocity"] * 2,
        variables=["q", "q", "v", "v"],
        parameters=parameters,
        parameter_names=kind.ranges.names,
        split=np.repeat(list(counts), list(counts.values())),
        generator="pgode simulate springs",
        seed=seed,
    )


def error(run: Any, data: Any, unit: Any) -> float:
    """Mean squared error over the test systems, in the scaled units of the first run."""
    from pgode.batches.windows import Windows
    from pgode.evaluation.predictions import predict

    windows = Windows(run.conform(data).split_of("test"), run.normaliser, CONDITION, HORIZON)
    found = predict(run.model, windows).mapped(run.normaliser.raw)
    apart = (found.mean - found.truth) / np.array(unit.scale)
    return float((apart**2)[found.known].mean())


def row(name: str, way: dict[str, Any] | None, parent: Any, shift: str, seed: int) -> float:
    """The error of one way to deal with the new data."""
    from pgode.runs import api

    data = systems(100 + seed, SHIFTS[shift], train=FEW, val=HELD_OUT, test=TEST)
    if way is None:
        return error(parent, data, parent.normaliser)
    folder = RUNS / f"{shift} {name} {seed}".replace(" ", "-").replace(",", "")
    if (folder / "config.json").exists():
        return error(api.resume(folder, data), data, parent.normaliser)
    small = {"training.epochs": EPOCHS * way.get("times", 1), "training.batch": 4}
    if "fresh" in way:
        changes = {**SETTINGS, **small}
        run = api.train(data, folder, preset="messages", seed=seed, settings=changes)
    else:
        given = {"training.learning_rate": way["rate"]} if "rate" in way else {}
        changes, refit = {**small, **given}, way.get("refit")
        run = api.train(data, folder, start=parent, refit_scales=refit, seed=seed, settings=changes)
    return error(run, data, parent.normaliser)


def table(content: dict[str, Any]) -> str:
    """Rows of the docs: mean over seeds, and the deviation between them."""
    lines = [f"| way | {' | '.join(SHIFTS)} |", f"|---|{'---|' * len(SHIFTS)}"]
    for name in WAYS:
        cells = []
        for shift in SHIFTS:
            values = [1e4 * x for x in content["rows"].get(f"{shift}: {name}", {}).values()]
            spread = f" ± {stdev(values):.2g}" if len(values) > 1 else ""
            cells.append(f"{mean(values):.3g}{spread}" if values else "-")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> int:
    """Train what is missing, and write the rows."""
    from pgode.runs import api
    from pgode.runtime.files import write_json

    content = json.loads(OUT.read_text()) if OUT.exists() else {"rows": {}}
    if "--table" in sys.argv:
        print(table(content))
        return 0
    first = systems(0, {}, train=400, val=40, test=TEST)
    if (RUNS / "parent" / "config.json").exists():
        parent = api.resume(RUNS / "parent", first)
    else:
        settings = {**SETTINGS, "training.epochs": 40}
        parent = api.train(first, RUNS / "parent", preset="messages", settings=settings)
    content["parent on its own test systems"] = error(parent, first, parent.normaliser)
    content["note"] = (
        f"Springs of {OBJECTS} objects, condition and horizon {HORIZON}, preset messages with "
        f"width 32; 400 training systems for the first run, {FEW} for each new one, {EPOCHS} "
        f"epochs in batches of 4; {TEST} test systems; mean squared error in the scaled units of "
        f"the first run; seeds {', '.join(map(str, SEEDS))}."
    )
    for seed in SEEDS:
        for shift, (name, way) in product(SHIFTS, WAYS.items()):
            if "times" not in (way or {}) or seed == 0:  # Ten times the epochs take long.
                rows = content["rows"].setdefault(f"{shift}: {name}", {})
                if str(seed) not in rows:
                    rows[str(seed)] = row(name, way, parent, shift, seed)
                    print(seed, shift, name, rows[str(seed)], flush=True)
                    write_json(OUT, content)
    print(table(content))
    return 0


if __name__ == "__main__":
    sys.exit(main())
