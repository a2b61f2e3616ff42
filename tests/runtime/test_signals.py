"""An interrupt is a request that the loop honours; handlers are restored afterwards."""

import os
import signal
import threading
from pathlib import Path

import pytest
from tests.trained_runs import settings, trained_in

from pgode.runtime.signals import stop_on_signal
from pgode.training.checkpoint import Progress
from pgode.training.display import Display

WANTED = (signal.SIGINT, signal.SIGTERM)


def handlers() -> list[object]:
    return [signal.getsignal(number) for number in WANTED]


@pytest.mark.parametrize("number", WANTED)
def test_a_signal_is_noted_and_handlers_are_restored(number: int) -> None:
    before = handlers()
    with stop_on_signal() as stop:
        assert not stop
        assert handlers() != before
        os.kill(os.getpid(), number)
        assert stop
        assert stop.signal == number
    assert handlers() == before


def test_a_second_signal_stops_at_once() -> None:
    before = handlers()
    with stop_on_signal():
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert handlers() == before


def test_an_error_inside_restores_the_handlers() -> None:
    before = handlers()
    with pytest.raises(ZeroDivisionError), stop_on_signal():
        _ = 1 / 0
    assert handlers() == before


def test_other_threads_train_without_handlers() -> None:
    before, found = handlers(), []

    def work() -> None:
        with stop_on_signal() as stop:
            found.extend([bool(stop), handlers()])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [False, before]


def test_training_puts_the_handlers_back_whether_it_ends_or_is_stopped(tmp_path: Path) -> None:
    class Stop(Display):
        def step(self, progress: Progress, terms: dict[str, float]) -> None:
            assert handlers() != before
            os.kill(os.getpid(), signal.SIGINT)

    before = handlers()
    short = settings(training_epochs=1)
    assert trained_in(tmp_path / "stopped", short, Stop()) is None
    assert handlers() == before
    assert trained_in(tmp_path / "whole", short) is not None
    assert handlers() == before
