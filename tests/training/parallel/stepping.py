"""Steps of many models in float64, by one process or by several that share each batch."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch
from tests.models.conftest import SMALL
from tests.small_systems import CONDITION, HORIZON, uneven

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch, Windows
from pgode.models import MODELS, build_model, model_config
from pgode.models.pgode.model import PGODE
from pgode.models.registry import NAIVE
from pgode.runtime.errors import SolverError
from pgode.runtime.processes import worker_exit_code
from pgode.runtime.settings import merged
from pgode.training import RunConfig, Trainer
from pgode.training.checkpoint import Progress
from pgode.training.config import TrainingConfig, WindowConfig
from pgode.training.display import Display
from pgode.training.parallel.launch import starter
from pgode.training.parallel.team import Team, Together
from pgode.training.presets import PAPER, PAPER_ANCHORED

STEPS = 20
FEWER = 6
"""Steps of all models but one."""

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in MODELS if name not in NAIVE and name != "pgode"},
    "messages": ("pgode", {}),
    "paper": ("pgode", PAPER["model"]),
    "paper-anchored": ("pgode", PAPER_ANCHORED["model"]),
    "drawn": ("pgode", {"objective": {"sample": True}}),
    "floor": ("pgode", {"objective": {"context_info_floor": True, "context_info_weight": 0.3}}),
    "regressed": ("pgode", {"state": {"kind": "regressed", "linear": {"lags": 3, "steps": 2}}}),
    "unsolved by the first": ("pgode", {}),
    "unsolved by the last": ("pgode", {}),
}


def steps_of(name: str) -> int:
    return STEPS if name == "paper" else FEWER


class Exact:
    """A team whose batches are in float64."""

    def __init__(self, team: Team) -> None:
        self.team = team

    def __getattr__(self, name: str) -> Any:
        return getattr(self.team, name)

    def batch(self, *given: Any) -> Batch:
        return self.team.batch(*given).to(dtype=torch.float64)


class Steps(Display):
    """Keeps the total of every step; NaN for one without a gradient."""

    def __init__(self) -> None:
        self.totals: list[float] = []

    def step(self, progress: Progress, terms: dict[str, float]) -> None:
        self.totals.append(terms.get("total", float("nan")))


@contextmanager
def unsolved(at: int) -> Iterator[None]:
    """One rollout of a training step fails, in this process alone."""
    real: Callable[..., Any] = PGODE.rollout
    calls = 0

    def rollout(self: PGODE, *given: Any) -> Any:
        nonlocal calls
        calls += self.training
        if self.training and calls == at:
            raise SolverError("the state of system 0 is not finite")
        return real(self, *given)

    PGODE.rollout = rollout  # type: ignore[method-assign]
    try:
        yield
    finally:
        PGODE.rollout = real  # type: ignore[method-assign]


def totals_of(name: str, team: Team, folder: Path) -> list[float]:
    """The losses of the steps of one case. Epochs have a batch of three systems and one of two."""
    model_name, settings = CASES[name]
    data = uneven()
    normaliser = Normaliser.fit(data)
    windows = Windows(data, normaliser, CONDITION, HORIZON)
    config = RunConfig(
        name=model_name,
        model=merged(SMALL.get(model_name, {}), settings),
        window=WindowConfig(condition=CONDITION, horizon=HORIZON, starts="first"),
        training=TrainingConfig(epochs=steps_of(name) // 2, batch=3, curriculum=()),
    )
    torch.manual_seed(0)
    model = build_model(model_name, model_config(model_name, config.model), normaliser).double()
    trainer = Trainer(model, windows, windows, config, folder / name, Exact(team))  # type: ignore[arg-type]
    trainer.validate = lambda: (1.0, None)  # type: ignore[method-assign]
    trainer.gradients = dict  # type: ignore[method-assign]
    display = Steps()
    fails = (name.endswith("first") and team.leads) or (
        name.endswith("last") and getattr(team, "peers", None) is not None and not team.leads
    )
    with unsolved(at=5) if fails else nullcontext():
        assert trainer.fit(display)
    return display.totals


def all_totals(team: Team, folder: Path) -> dict[str, list[float]]:
    return {name: totals_of(name, team, folder) for name in CASES}


def main() -> int:
    def work() -> bool:
        with starter() as peers:
            all_totals(Together(peers), Path("never-written"))
        return True

    return worker_exit_code(work)


if __name__ == "__main__":
    sys.exit(main())
