"""Training a model in a run folder: start, resume, calibrate."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import numpy as np
import torch
from torch import nn

from pgode.batches.devices import AUTO, chosen_device, device_name
from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.trajectories import Trajectories
from pgode.evaluation import Calibration, predict
from pgode.evaluation.predictions import fewer
from pgode.evaluation.uncertainty.calibration import DRAWS
from pgode.models import build_model, model_config
from pgode.runs.continuation.beginning import START, Start, begin, outcome
from pgode.runs.data_record import DataRecord
from pgode.runs.exchange.conforming import conformed
from pgode.runs.folder import (
    TRAINED,
    find_run,
    read_config,
    read_data,
    read_normaliser,
    write_calibration,
    write_config,
)
from pgode.runs.parallel.follower import team_of
from pgode.runs.parallel.windows import held_out, held_out_windows, training_windows
from pgode.runs.run import Run
from pgode.runtime import locks
from pgode.runtime.disk.claims import MovedError
from pgode.runtime.disk.room import require_room, unwritable
from pgode.runtime.errors import InputError, WriteError
from pgode.runtime.files import write_json
from pgode.runtime.stored.manifest import changes
from pgode.training import RunConfig, Trainer
from pgode.training.checkpoint import checkpoint_progress
from pgode.training.display import Display
from pgode.training.needs.estimate import refuse_step, refuse_weights
from pgode.training.parallel.choice import settled_processes, with_processes
from pgode.training.parallel.launch import launched


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
    device: str | torch.device = AUTO,
    start: Start | None = None,
) -> Run:
    """Train a model in a new run folder. Raises `TrainingStopped` if a signal ends it early.

    Calibration takes several forecasts of the validation split. With `calibrated=False` it is
    skipped, for runs of which only the mean forecast is needed. The device is no setting of the
    run: see `pgode.batches.devices`. `start` is what the run goes on from, if not from fresh
    weights.
    """
    path, place = Path(folder), chosen_device(device)
    with _working_in(path):
        return _trained(data, path, config, source, display, calibrated, place, start)


def _trained(
    data: Trajectories,
    path: Path,
    config: RunConfig,
    source: str,
    display: Display | None,
    calibrated: bool,
    place: torch.device,
    start: Start | None,
) -> Run:
    """Write a new run folder and train in it."""
    check_new(path)
    given, parent = data, None
    if start is not None:
        data = start.check(data, source or "the given data")
    training = data.split_of("train")
    config = config.model_copy(
        update={
            "model": model_config(config.name, config.model).model_dump(mode="json"),
            "window": config.window.settled(training),
        }
    )
    if start is None:
        normaliser = Normaliser.fit(training)
    else:
        normaliser = start.scales(training, held_out(data), config, display)
    refuse_weights(config, normaliser)
    _try_forecast(data, normaliser, config)
    if start is None:
        config = _settled(training, normaliser, config, display)
    config = _with_processes(training, normaliser, config, place)
    if start is not None:  # What data decide was decided when these weights were trained.
        parent = start.write(path, config, normaliser, held_out(data), display)
    write_json(path / "normaliser.json", normaliser.to_json())
    write_json(path / "data.json", DataRecord.of(given, source, path, parent).to_json())
    write_config(path, config)
    return _continue(path, given, source, display, calibrated, place)


def check_new(folder: Path) -> None:
    """Refuse a folder that holds a run already."""
    if (folder / "config.json").exists():
        raise InputError(
            f"{folder} holds a run already. Expected a new folder, so that no work is lost. "
            f"Continue that run with --resume {folder}, or choose another folder."
        )


def is_begun(folder: Path) -> bool:
    """Whether a folder was left by a training that was killed before it had stored its settings."""
    return any((folder / name).is_file() for name in ("normaliser.json", START))


def resume(
    folder: Path | str,
    data: Trajectories,
    *,
    source: str = "",
    display: Display | None = None,
    calibrated: bool = True,
    device: str | torch.device = AUTO,
    processes: int | None = None,
) -> Run:
    """Continue a run that was stopped, to the same numbers as without the interruption.

    With another number of `processes` than before they are the same up to rounding, on another
    device up to its rounding and random draws.
    """
    path, place = find_run(folder), chosen_device(device)
    read_config(path)  # A run of another format is refused for that, whatever its data.
    group = launched()
    processes = group[1] if group else processes
    expected = read_data(path).hash
    if data.hash != expected:
        raise InputError(
            f"{source or 'the given data'} is not what {path} was trained on: its hash is "
            f"{data.hash[:12]}, that of the run {expected[:12]}. Expected the same data. Name "
            f"that file: pgode train DATA --resume {path}, or start a new run."
        )
    with _working_in(path):
        return _continue(path, data, source, display, calibrated, place, processes)


def check_free(folder: Path) -> None:
    """Refuse a folder that another process trains in."""
    locks.check_free(folder, f"{folder} is in use by another training")


@contextmanager
def _working_in(path: Path) -> Iterator[None]:
    """Let no other process train in this folder; errors of the disk say what is kept of the run."""
    is_new = not path.exists()
    try:
        with locks.occupied(path, f"{path} is in use by another training"):
            try:
                yield
            except WriteError:
                if is_new and not (path / "config.json").exists():
                    _remove_beginning(path)
                raise
    except MovedError as error:
        raise error.advised(_advice(error.now) if error.now else "Train again.") from None
    except WriteError as error:
        if error.path is None or error.reason is None:
            raise
        raise unwritable(error.path, error.reason, _advice(path)) from None


def _remove_beginning(path: Path) -> None:
    """Remove what a run without settings has written; a folder that is empty then goes too."""
    for name in ("normaliser.json", "data.json", START, "checkpoints/best.safetensors"):
        with suppress(OSError):
            (path / name).unlink(missing_ok=True)
    with suppress(OSError):
        (path / "checkpoints").rmdir()


def _advice(path: Path) -> str:
    """What is kept of a run whose training ended early, and how it goes on."""
    last = path / "checkpoints" / "last.safetensors"
    if not (path / "config.json").exists():
        return "The run has not begun. Make room there, or choose another output path."
    epoch = checkpoint_progress(last).epoch if last.exists() else 0
    return (
        f"The run is kept as it was after epoch {epoch}. Once that is mended, continue it: pgode "
        f"train --resume {path}"
    )


def calibrate(run: Run, validation: Windows) -> None:
    """Write the run's calibration from its forecasts of the validation split."""
    origins = fewer(validation, validation.origins(rolling=run.config.window.rolling), DRAWS)
    forecasts = predict(run.model, validation, DRAWS, origins=origins)
    calibration = Calibration.fit(forecasts, run.normaliser)
    if len(calibration.frames):
        write_calibration(run.folder, calibration)


def _continue(
    path: Path,
    given: Trajectories,
    source: str,
    display: Display | None,
    calibrated: bool,
    device: torch.device,
    processes: int | None = None,
) -> Run:
    config, normaliser, parent = read_config(path), read_normaliser(path), read_data(path).parent
    data = given if parent is None else conformed(given, normaliser, "the given data")
    torch.manual_seed(config.training.seed)
    model = build_model(config.name, model_config(config.name, config.model), normaliser)
    training = training_windows(data, normaliser, config)
    if processes is not None:
        asked = with_processes(config, processes)
        config = settled_processes(asked, training, model, device, None)
    validation = held_out_windows(data, normaliser, config)
    with ExitStack() as changing:
        if model.trainable:
            others = team_of(
                path, config, normaliser, given, source, device, goes_on=parent is not None
            )
            _require_room(path, model)
            with others as team:
                trainer = Trainer(model, training, validation, config, path, team, device)
                trainer.resume()
                begin(trainer, parent)
                # What is there was read, and compared with the manifest; from here on it changes.
                changing.enter_context(changes(path, *TRAINED, adopt=True))
                if display is not None:
                    display.say(_where(device, trainer))
                if not trainer.fit(display or Display()):
                    raise TrainingStopped(path)
            if display is not None and (sentence := outcome(trainer, parent)):
                display.say(sentence)
        if calibrated:
            calibrate(Run.open(path, device), validation)
    return Run.open(path, device)


def _require_room(path: Path, model: nn.Module) -> None:
    """Refuse to train where the checkpoints cannot be kept: the two, and the next one's copy."""
    weights = sum(each.numel() * each.element_size() for each in model.parameters())
    missing = sum(
        not (path / "checkpoints" / f"{name}.safetensors").exists() for name in ("best", "last")
    )
    # Adam has two numbers for each weight.
    require_room(path / "checkpoints", 3 * weights * (1 + missing))


def _where(chosen: torch.device, trainer: Trainer) -> str:
    used, size = trainer.device, trainer.team.size
    if chosen.type == used.type:
        many = f", {size} processes" if size > 1 else ""
        return f"training on {device_name(used)}{many}"
    return f"training on {used.type}: the model needs double precision, which {chosen} lacks"


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


def _with_processes(
    training: Trajectories, normaliser: Normaliser, config: RunConfig, device: torch.device
) -> RunConfig:
    windows = Windows(training, normaliser, config.window.condition, config.window.horizon)
    model = build_model(config.name, model_config(config.name, config.model), normaliser)
    refuse_step(model, windows, config)
    group = launched()
    return settled_processes(config, windows, model, device, group[1] if group else None)


def _try_forecast(data: Trajectories, normaliser: Normaliser, config: RunConfig) -> None:
    """Refuse data and settings that cannot work together, before anything is written.

    One forecast of one frame finds errors that checks of single settings miss.
    """
    condition = config.window.condition
    for part in (held_out(data), data.split_of("train")):
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
