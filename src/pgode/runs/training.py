"""Training a model in a run folder: start, resume, calibrate."""

from pathlib import Path

import numpy as np
import torch

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.trajectories import Trajectories
from pgode.evaluation import Calibration, predict
from pgode.evaluation.predictions import fewer
from pgode.evaluation.uncertainty.calibration import DRAWS
from pgode.models import build_model, model_config
from pgode.runs.data_record import DataRecord
from pgode.runs.folder import (
    find_run,
    read_config,
    read_data,
    read_normaliser,
    write_calibration,
    write_config,
)
from pgode.runs.run import Run
from pgode.runtime.errors import InputError
from pgode.runtime.files import write_json
from pgode.training import RunConfig, Trainer
from pgode.training.display import Display


class TrainingStopped(KeyboardInterrupt):
    """A signal ended training early. The run is saved, and `resume` continues it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"training was interrupted; its state is saved in {folder}")
        self.folder = folder


def train(
    data: Trajectories,
    folder: Path | str,
    config: RunConfig,
    *,
    source: str = "",
    display: Display | None = None,
    calibrated: bool = True,
) -> Run:
    """Train a model in a new run folder. Raises `TrainingStopped` if a signal ends it early.

    Calibration takes several forecasts of the validation split. With `calibrated=False` it is
    skipped, for runs of which only the mean forecast is needed.
    """
    path = Path(folder)
    check_new(path)
    training = data.split_of("train")
    config = config.model_copy(
        update={
            "model": model_config(config.name, config.model).model_dump(mode="json"),
            "window": config.window.settled(training),
        }
    )
    normaliser = Normaliser.fit(training)
    _try_forecast(data, normaliser, config)
    config = _settled(training, normaliser, config, display)
    write_json(path / "normaliser.json", normaliser.to_json())
    write_json(path / "data.json", DataRecord.of(data, source, path).to_json())
    write_config(path, config)
    return _continue(path, data, display, calibrated)


def check_new(folder: Path) -> None:
    """Refuse a folder that holds a run already."""
    if (folder / "config.json").exists():
        raise InputError(
            f"{folder} holds a run already. Expected a new folder, so that no work is lost. "
            f"Continue that run with --resume {folder}, or choose another folder."
        )


def resume(
    folder: Path | str,
    data: Trajectories,
    *,
    source: str = "",
    display: Display | None = None,
    calibrated: bool = True,
) -> Run:
    """Continue a run that was stopped, to the same numbers as without the interruption."""
    path = find_run(folder)
    read_config(path)  # A run of another format is refused for that, whatever its data.
    expected = read_data(path).hash
    if data.hash != expected:
        raise InputError(
            f"{source or 'the given data'} is not what {path} was trained on: its hash is "
            f"{data.hash[:12]}, that of the run {expected[:12]}. Expected the same data. Name "
            f"that file: pgode train DATA --resume {path}, or start a new run."
        )
    return _continue(path, data, display, calibrated)


def calibrate(run: Run, validation: Windows) -> None:
    """Write the run's calibration from its forecasts of the validation split."""
    origins = fewer(validation, validation.origins(rolling=run.config.window.rolling), DRAWS)
    forecasts = predict(run.model, validation, DRAWS, origins=origins)
    calibration = Calibration.fit(forecasts, run.normaliser)
    if len(calibration.frames):
        write_calibration(run.folder, calibration)


def _continue(path: Path, data: Trajectories, display: Display | None, calibrated: bool) -> Run:
    config, normaliser = read_config(path), read_normaliser(path)
    torch.manual_seed(config.training.seed)
    model = build_model(config.name, model_config(config.name, config.model), normaliser)
    window = config.window
    training = Windows(data.split_of("train"), normaliser, window.condition, window.horizon)
    validation = Windows(_held_out(data), normaliser, window.condition, window.horizon)
    if model.trainable:
        trainer = Trainer(model, training, validation, config, path)
        trainer.resume()
        if not trainer.fit(display or Display()):
            raise TrainingStopped(path)
    if calibrated:
        calibrate(Run.open(path), validation)
    return Run.open(path)


def _settled(
    training: Trajectories, normaliser: Normaliser, config: RunConfig, display: Display | None
) -> RunConfig:
    """Settings that the training data decide, as the run is to store them."""
    window = config.window
    windows = Windows(training, normaliser, window.condition, window.horizon)
    given = model_config(config.name, config.model)
    settled, reason = given.settled(windows, config.training.seed)
    if display is not None and reason:
        display.say(reason)
    return config.model_copy(update={"model": settled.model_dump(mode="json")})


def _held_out(data: Trajectories) -> Trajectories:
    """The systems to validate on: the training systems if there are no others."""
    return data.split_of("val" if (data.split == "val").any() else "train")


def _try_forecast(data: Trajectories, normaliser: Normaliser, config: RunConfig) -> None:
    """Refuse data and settings that cannot work together, before anything is written.

    One forecast of one frame finds errors that checks of single settings miss.
    """
    condition = config.window.condition
    for part in (_held_out(data), data.split_of("train")):
        windows = Windows(part, normaliser, condition, 1)
        if windows.frames.max() <= condition:
            raise InputError(
                f"no system of the split {part.split[0]} has a frame after the condition of "
                f"{condition}: the longest has {windows.frames.max()} frames. Expected at least "
                f"one frame to forecast. Give more frames, or set window.condition lower."
            )
    model = build_model(config.name, model_config(config.name, config.model), normaliser)
    batch = windows.batch(np.zeros(1, np.int64), np.zeros(1, np.int64))
    with torch.no_grad():
        model.forecast(batch, batch.target_times)
