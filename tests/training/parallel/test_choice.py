"""How many processes train where nobody says so."""

import pytest
import torch
from tests.trained_runs import CONDITION, HORIZON, settings, springs

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.models import build_model, model_config
from pgode.training import RunConfig
from pgode.training.parallel.choice import WORTHWHILE, settled_processes, work

CPU, CARD = torch.device("cpu"), torch.device("cuda")


def chosen(config: RunConfig, cores: int, device: torch.device = CPU) -> tuple[int | None, float]:
    """The number of processes, and the work of the training."""
    training = springs().split_of("train")
    normaliser = Normaliser.fit(training)
    windows = Windows(training, normaliser, CONDITION, HORIZON)
    model = build_model(config.name, model_config(config.name, config.model), normaliser)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "get_num_threads", lambda: cores)
        settled = settled_processes(config, windows, model, device, None)
    return settled.training.processes, work(config, windows, model)


def test_a_long_training_has_a_process_for_each_core() -> None:
    long = settings(training_threads=None, training_epochs=10**7, training_batch=8)
    number, needed = chosen(long, cores=2)
    assert needed > WORTHWHILE and number == 2
    assert chosen(long, cores=1)[0] == 1
    assert chosen(long, cores=2, device=CARD)[0] == 1
    assert chosen(long, cores=64)[0] == 8, "not more than there are systems in a batch"


def test_a_short_training_and_one_with_a_number_of_threads_have_one_process() -> None:
    number, needed = chosen(settings(training_threads=None), cores=2)
    assert needed < WORTHWHILE and number == 1
    assert chosen(settings(training_epochs=10**7), cores=2)[0] == 1


def test_asked_for_is_done() -> None:
    assert chosen(settings(training_processes=2), cores=1)[0] == 2
