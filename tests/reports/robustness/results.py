"""Results of `pgode robustness` with numbers made by hand."""

from dataclasses import replace
from typing import Any

import numpy as np
from rich.console import Console

from pgode.evaluation.robustness.comparison import compare_runs
from pgode.evaluation.robustness.result import (
    Bound,
    Growth,
    Lipschitz,
    PrototypeConstant,
    Robustness,
    RunRobustness,
    Statistics,
)

HORIZON = 24


def statistics(largest: float) -> Statistics:
    return Statistics(largest, largest / 2, 0.5)


def growths(rate: float) -> tuple[Growth, ...]:
    """Exact exponentials of two magnitudes."""
    return tuple(
        Growth(
            magnitude=magnitude,
            norm=tuple((magnitude * np.exp(rate * np.arange(HORIZON + 1))).tolist()),
            factor={12: float(np.exp(12 * rate)), 24: float(np.exp(24 * rate))},
            rate=rate,
        )
        for magnitude in (0.001, 0.1)
    )


def run(name: str, constants: list[float], rate: float = 0.05) -> RunRobustness:
    """A run whose right-hand side has the mean of the constants."""
    mixture = float(np.mean(constants))
    weight = 1 / len(constants)
    return RunRobustness(
        name=name,
        run=f"runs/{name}",
        model="pgode",
        prototypes=len(constants),
        perturbed="state",
        forecast=growths(rate),
        state=growths(rate / 2),
        lipschitz=Lipschitz(
            effective_prototypes=len(constants),
            mixture=statistics(mixture),
            prototypes=tuple(PrototypeConstant(weight, statistics(each)) for each in constants),
        ),
        bound=Bound(statistics(3 * mixture), fastest_step=0.07, share_within=1.0),
    )


def observed(name: str, model: str = "lstm", prototypes: int | None = None) -> RunRobustness:
    """A run whose last observed frame was perturbed."""
    return replace(
        run(name, [1.0], rate=0.01),
        model=model,
        prototypes=prototypes,
        perturbed="observation",
        state=None,
        lipschitz=None,
        bound=None,
    )


def result(*runs: RunRobustness) -> Robustness:
    return Robustness(
        data="springs.nc",
        data_hash="0" * 64,
        split="test",
        systems=20,
        horizon=HORIZON,
        horizons=(12, 24),
        magnitudes=(0.001, 0.1),
        draws=4,
        seed=0,
        runs=runs,
        comparisons=compare_runs(runs),
    )


def usual() -> Robustness:
    """One prototype, two prototypes, and a model without an integrated state."""
    return result(run("k1", [2.0]), run("k5", [1.0, 1.5], rate=0.03), observed("lstm"))


def many_pairs() -> Robustness:
    """Three comparisons: too many for sentences."""
    return result(run("k1", [2.0]), *(run(f"k5-{n}", [1.0, 2.5]) for n in range(3)))


def printed(table: Any) -> str:
    console = Console(width=100)
    with console.capture() as captured:
        console.print(table)
    return captured.get()
