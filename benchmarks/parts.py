"""What each part of the shipped springs-10 contributes: its errors with one part taken away.

python -m benchmarks.parts         # a minute; writes benchmarks/results/parts.json
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

OUT = Path("benchmarks/results/parts.json")
SYSTEMS = 100


def _no_acceleration(model: Any) -> None:
    """Prototypes, gate and latent state no longer move anything."""
    model.state.acceleration.weight.zero_()


def _no_coupling(model: Any) -> None:
    model.state.coupling = None


def _no_strength(model: Any) -> None:
    model.strength = None


def _no_latent_state(model: Any) -> None:
    """z(0) = 0 for every object."""
    for parameter in model.initial.mean.second.parameters():
        parameter.zero_()


PARTS: dict[str, Callable[[Any], None] | None] = {
    "as shipped": None,
    "acceleration of the prototypes set to 0": _no_acceleration,
    "initial latent state set to 0": _no_latent_state,
    "without estimated strengths": _no_strength,
    "without coupling": _no_coupling,
}


def main() -> int:
    """Evaluate the model with each part taken away, and write the errors."""
    from pgode.data.simulate import simulate
    from pgode.runs.run import Run
    from pgode.runtime.files import write_json

    data = simulate("springs", train=1, val=0, test=SYSTEMS, ood=SYSTEMS)
    rows = {}
    for name, remove in PARTS.items():
        run = Run.open("springs-10")
        if remove is not None:
            with torch.no_grad():
                remove(run.model)
        evaluation = replace(run, calibration=None).evaluate(data, samples=0)
        rows[name] = evaluation.mse.to_json()
        print(name, evaluation.mse.row("test", 36), flush=True)
    law = evaluation.known_law
    rows["known law"] = {} if law is None else law.to_json()
    write_json(OUT, {"rows": rows, "systems": SYSTEMS})
    return 0


if __name__ == "__main__":
    sys.exit(main())
