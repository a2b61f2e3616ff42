"""A run folder while it is trained: a disk that fills up, two at once, moved or deleted."""

import resource
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.trained_runs import data_file, settings, springs, trained

from pgode.runs.run import Run
from pgode.runs.training import resume, train
from pgode.runtime.disk.claims import MovedError
from pgode.runtime.errors import BusyError, WriteError
from pgode.training.checkpoint import Progress, checkpoint_progress, read_tensors
from pgode.training.display import Display
from pgode.training.metrics import EpochRow


class After(Display):
    """Does something after an epoch."""

    def __init__(self, epoch: int, action: Callable[[], object]) -> None:
        self.chosen, self.action = epoch, action

    def epoch(self, progress: Progress, row: EpochRow) -> None:
        if progress.epoch == self.chosen:
            self.action()


def in_folder(folder: Path, display: Display) -> Run:
    return train(springs(), folder, settings(), source=str(data_file()), display=display)


def limit(size: int) -> None:
    """Let no file of this process become larger."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def hidden(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob(".*")]


def test_a_disk_that_fills_up_costs_the_last_write_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    try:
        with pytest.raises(WriteError) as raised:
            in_folder(folder, After(1, lambda: limit(4000)))
    finally:
        limit(resource.RLIM_INFINITY)
    text = str(raised.value)
    assert text.startswith(f"cannot write {folder / 'checkpoints'}")
    assert "What was there before is unchanged." in text
    assert text.endswith(
        f"The run is kept as it was after epoch 1. Once that is mended, continue it: pgode train "
        f"--resume {folder}"
    )
    assert hidden(tmp_path) == []
    continued = resume(folder, springs(), source=str(data_file()))
    ended = Progress(**{**vars(_progress(continued)), "seconds": 0.0})
    assert ended == Progress(**{**vars(_progress(trained())), "seconds": 0.0})
    assert _tensors(continued) == _tensors(trained())


def test_a_run_that_cannot_begin_leaves_nothing(tmp_path: Path) -> None:
    limit(600)
    try:
        with pytest.raises(WriteError, match=r"normaliser\.json: .* The run has not begun\."):
            in_folder(tmp_path / "run", Display())
    finally:
        limit(resource.RLIM_INFINITY)
    assert list(tmp_path.iterdir()) == []


def test_checkpoints_that_cannot_fit_are_refused_before_training(tmp_path: Path) -> None:
    limit(30_000)
    try:
        with pytest.raises(WriteError, match=r"it needs about .* kB, "):
            in_folder(tmp_path / "run", After(1, lambda: pytest.fail("it was trained")))
    finally:
        limit(resource.RLIM_INFINITY)


def test_a_run_that_is_trained_is_not_resumed_and_can_be_read(tmp_path: Path) -> None:
    folder, seen = tmp_path / "run", []

    def interfere() -> None:
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for attempt in (
            lambda: resume(folder, springs()),
            lambda: train(springs(), folder, settings()),
        ):
            with pytest.raises(BusyError, match=f"{folder} is in use by another training .*since"):
                attempt()
        assert {path: path.read_bytes() for path in before} == before
        seen.append(len(Run.open(folder).epochs))

    in_folder(folder, After(2, interfere))
    assert seen == [2] and hidden(tmp_path) == []


def test_training_ends_when_its_folder_is_moved(tmp_path: Path) -> None:
    folder, moved = tmp_path / "run", tmp_path / "elsewhere"
    with pytest.raises(MovedError) as raised:
        in_folder(folder, After(2, lambda: folder.rename(moved)))
    assert str(raised.value).endswith(
        f"What it had written is kept in {moved}. The run is kept as it was after epoch 2. Once "
        f"that is mended, continue it: pgode train --resume {moved}"
    )
    assert not folder.exists() and hidden(tmp_path) == []
    assert _tensors(resume(moved, springs())) == _tensors(trained())


def test_training_ends_when_its_folder_is_deleted(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with pytest.raises(MovedError, match="run was deleted while this command was working in it"):
        in_folder(folder, After(1, lambda: shutil.rmtree(folder)))
    assert list(tmp_path.iterdir()) == []


def _progress(run: Run) -> Progress:
    return checkpoint_progress(run.folder / "checkpoints" / "last.safetensors")


def _tensors(run: Run) -> dict[str, list[float]]:
    tensors, _ = read_tensors(run.folder / "checkpoints" / "last.safetensors")
    return {name: tensor.flatten().tolist() for name, tensor in tensors.items()}
