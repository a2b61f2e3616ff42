"""Message prototypes are added where laws leave something unexplained, and nowhere else."""

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.beyond_pairs import simulated

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.simulate import simulate
from pgode.data.trajectories import Trajectories
from pgode.models import model_config
from pgode.models.pgode.config import PGODEConfig
from pgode.models.pgode.slow.unexplained import LARGEST, chosen
from pgode.runs.training import train
from pgode.training.config import run_config
from pgode.training.display import Display


def config(**settings: Any) -> PGODEConfig:
    made = model_config("pgode", {"dynamics": {"kind": "laws", "prototypes": 2}, **settings})
    assert isinstance(made, PGODEConfig)
    return made


def windows(data: Trajectories) -> Windows:
    return Windows(data, Normaliser.fit(data), 6, 6)


def springs(field: str) -> Trajectories:
    return simulated(field, {"train": 8}, objects=4, frames=24)


def charged() -> Trajectories:
    return simulate("charged", objects=5, frames=30, train=12, val=1, test=1, ood=1).split_of(
        "train"
    )


@pytest.mark.parametrize("data", [springs("nothing"), charged()], ids=["springs", "charged"])
def test_pair_forces_need_no_messages(data: Trajectories) -> None:
    settled, reason = chosen(config(width=8), windows(data))
    assert settled == config(dynamics={"kind": "laws", "prototypes": 2, "messages": False})
    assert reason.endswith("no message prototypes are needed")


@pytest.mark.parametrize("field", ["swirl", "flock"])
def test_other_forces_need_messages(field: str) -> None:
    settled, reason = chosen(config(width=8), windows(springs(field)))
    assert settled == config(width=8, dynamics={"kind": "laws", "prototypes": 2, "messages": True})
    share = float(reason.split()[5])
    assert LARGEST < share < 1
    assert reason.endswith("message prototypes are added")


@pytest.mark.parametrize("dynamics", ["messages", {"kind": "laws", "messages": True}])
def test_what_is_decided_stays(dynamics: Any) -> None:
    given = config(dynamics=dynamics)
    assert chosen(given, windows(springs("nothing"))) == (given, "")


def test_a_new_run_stores_the_decision_and_says_why(tmp_path: Path) -> None:
    class Told(Display):
        sentences: list[str] = []  # noqa: RUF012

        def say(self, sentence: str) -> None:
            self.sentences.append(sentence)

    settings = run_config(
        changes={
            "model.dynamics.prototypes": 1,
            "model.dynamics.substeps": 4,
            "model.dynamics.ensemble": 1,
            "model.walls": "none",
            "model.width": 8,
            "window.condition": 6,
            "window.horizon": 4,
            "training.epochs": 1,
        }
    )
    assert settings.model["dynamics"]["messages"] is None
    train(springs("flock"), tmp_path / "run", settings, display=Told(), calibrated=False)
    stored = json.loads((tmp_path / "run/config.json").read_text())["model"]
    assert stored["dynamics"]["messages"] is True and stored["width"] == 8
    assert [each.split(":")[0] for each in Told.sentences] == ["messages", "training on cpu"]
