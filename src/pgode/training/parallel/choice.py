"""How many processes train a run."""

import torch

from pgode.batches.epoch_windows import EpochWindows
from pgode.batches.windows import Windows
from pgode.models.forecaster import Forecaster
from pgode.runtime.errors import InputError
from pgode.training.config import RunConfig

WORTHWHILE = 1.5e12
"""Multiplications of a training, roughly a minute's, below which the start of other processes (a
few seconds) is not worth it."""


def settled_processes(
    config: RunConfig,
    training: Windows,
    model: Forecaster,
    device: torch.device,
    launched: int | None,
) -> RunConfig:
    """The settings with the number of processes that train: as launched, as asked, or as pays.

    Without either, as many as torch would use threads for, each with one; on a GPU, one. On a
    machine that does something else too, threads that share each small operator wait for the
    slowest at each of them; processes wait once a step.
    """
    asked = config.training.processes
    if launched is not None and asked is not None and asked != launched:
        raise InputError(
            f"training.processes is {asked}, but this training was launched as {launched} "
            f"processes. Expected one of the two. Leave out --processes, or torchrun."
        )
    windows = EpochWindows(training, config.window.starts, config.window.stride, 0).per_epoch
    most = min(config.training.batch, windows)
    number = launched or asked
    if number is not None:
        _check(number, most, model)
        return with_processes(config, number)
    alone = config.training.threads is not None or device.type != "cpu"
    alone = alone or work(config, training, model) < WORTHWHILE
    return with_processes(config, 1 if alone else max(1, min(torch.get_num_threads(), most)))


def with_processes(config: RunConfig, number: int) -> RunConfig:
    """The same settings with another number of processes."""
    training = config.training.model_copy(update={"processes": number})
    return config.model_copy(update={"training": training})


def work(config: RunConfig, training: Windows, model: Forecaster) -> float:
    """About how many multiplications a whole training takes: 0 where nothing is descended.

    Each weight multiplies each object's state at each frame of each window, forwards and backwards.
    """
    weights = sum(each.numel() for each in model.parameters())
    windows = EpochWindows(training, config.window.starts, config.window.stride, 0).per_epoch
    objects = float(training.data.n_objects.mean()) if len(training) else 0.0
    frames = config.window.condition + config.window.horizon
    return 3.0 * weights * windows * objects * frames * config.training.epochs


def _check(number: int, most: int, model: Forecaster) -> None:
    if number > 1 and not any(True for _ in model.parameters()):
        raise InputError(
            f"{number} processes were asked for, but this model is fitted without gradient steps, "
            f"so there is nothing to share. Expected one. Leave out --processes; --threads sets "
            f"how many cores the fit uses."
        )
    if number > most:
        raise InputError(
            f"{number} processes cannot share a batch of {most} windows. Expected at most "
            f"{most}, so that each has one. Use fewer processes, or a larger batch (--set "
            f"training.batch=...) where the data have enough systems."
        )
