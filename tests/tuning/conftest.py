"""A search in this process: trials run one after the other, by the same code as in their own."""

from pathlib import Path

import pytest
import torch
from tests.trained_runs import springs

from pgode.runtime.engines import ENGINES
from pgode.tuning.api import tune
from pgode.tuning.trials.worker import finish

SETTINGS = {"window.condition": 6, "training.batch": 4, "model.layers": 1}


def run_here(tasks, jobs, threads, watcher) -> None:
    for task in tasks:
        watcher.running([task])
        assert finish(Path(task.command[1]))
        watcher.finished(task)


@pytest.fixture(scope="session", autouse=True)
def _here():
    before = torch.get_num_threads()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(ENGINES, "here", run_here)
        yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def small_tune():
    """Search with a tiny GRU on tiny data."""

    def run(folder: Path, space: Path, **options):
        given = {"trials": 3, "epochs": 2, "horizon": 6, "model": "gru", "engine": "here"}
        given |= {"settings": SETTINGS, **options}
        return tune(given.pop("data", None) or springs(), folder, space=space, **given)

    return run


@pytest.fixture(scope="session")
def small_space(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("space") / "space.yaml"
    path.write_text(
        "training.learning_rate: {low: 1e-4, high: 1e-1, log: true}\nmodel.width: [4, 6, 8]\n"
    )
    return path


@pytest.fixture(scope="session")
def searched(tmp_path_factory, small_tune, small_space):
    """A finished search of ten trials, some of them pruned. Do not write into its folder."""
    folder = tmp_path_factory.mktemp("searched") / "tuning"
    return small_tune(folder, small_space, trials=10, epochs=4)
