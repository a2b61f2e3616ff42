"""A run folder: everything about one trained model, enough to continue, evaluate or share it."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.trajectories import Trajectories
from pgode.evaluation import Calibration, evaluate, predict
from pgode.evaluation.uncertainty.calibration import DRAWS
from pgode.evaluation.uncertainty.joint_residuals import FILE as RESIDUALS
from pgode.evaluation.uncertainty.joint_residuals import Together
from pgode.evaluation.uncertainty.noise_floor import check_replicas, way_to_floor
from pgode.models import Forecaster, build_model, model_config
from pgode.runs.folder import describe, find_run, read_config, read_data, read_part, weights_file
from pgode.runs.forecasts import Forecasts, forecast_future
from pgode.runtime.errors import InputError
from pgode.runtime.files import replacing, write_json
from pgode.training import RunConfig, Trainer
from pgode.training.checkpoint import load_model, read_tensors
from pgode.training.display import Display, Silent
from pgode.training.metrics import read_metrics


@dataclass(frozen=True)
class Run:
    """A trained model with its settings, scales and calibration. Open one with `Run.open`."""

    folder: Path
    config: RunConfig
    normaliser: Normaliser
    model: Forecaster
    data: dict[str, Any]
    calibration: Calibration | None

    @classmethod
    def open(cls, folder: Path | str) -> "Run":
        """Open a run folder, or a model that comes with the package (springs-10), by name."""
        path = find_run(folder)
        config = read_config(path)
        normaliser = read_part(path, "normaliser.json", Normaliser.from_json)
        model = build_model(config.name, model_config(config.name, config.model), normaliser)
        if model.trainable:
            weights = weights_file(path)
            tensors, _ = read_tensors(weights)
            stripped = {k.removeprefix("model."): v for k, v in tensors.items() if _is_model(k)}
            load_model(model, stripped, weights)
        model.eval()
        calibration = None
        if (path / "calibration.json").exists():
            alone = read_part(path, "calibration.json", Calibration.from_json)
            calibration = replace(alone, together=Together.read(path))
        return cls(path, config, normaliser, model, read_data(path), calibration)

    @property
    def epochs(self) -> list[dict[str, Any]]:
        """The log of the training, one row per epoch."""
        return read_metrics(self.folder)

    def fitting(self, data: Trajectories, source: str = "the given data") -> Trajectories:
        """Data the model can read: features as trained, and the trained parameters by name.

        A forecast does not need parameters, so those that the data lack are unknown (NaN).
        """
        self.normaliser.check(data, source)
        missing = {"parameters": np.nan, "parameter_units": ""}
        names = list(self.normaliser.parameters)
        return Trajectories(data.dataset.reindex(parameter=names, fill_value=missing))

    def forecast(
        self,
        observed: Trajectories,
        *,
        until: int | None = None,
        times: list[float] | None = None,
        samples: int = 20,
        seed: int = 0,
        source: str = "the given data",
    ) -> Forecasts:
        """Forecast what comes after each system's last observed frame.

        `until` counts frames (the trained horizon if not given); `times` are instead times after
        the last observation, in the data's own unit.
        """
        observed = self.fitting(observed, source)
        _check_draws(samples, seed)
        if until is not None and times is not None:
            raise InputError(
                "both a number of frames (until) and times were given. Expected one of them. "
                "Leave one out."
            )
        frames = np.arange(1, (until or self.config.window.horizon) + 1, dtype=np.float64)
        if until is not None and until < 1:
            raise InputError(
                f"cannot forecast until frame {until}. Expected a number of frames after the last "
                f"observed one, at least 1. Leave it out for the trained horizon of "
                f"{self.config.window.horizon}."
            )
        if times is not None:
            frames = _frames(times, self.normaliser.frame_duration)
        return forecast_future(
            self.model,
            observed,
            self.config.window.condition,
            frames,
            calibration=self.calibration,
            samples=samples,
            seed=seed,
        )

    def evaluate(
        self,
        data: Trajectories,
        *,
        splits: list[str] | None = None,
        horizons: list[int] | None = None,
        samples: int = 20,
        seed: int = 0,
        replicas: Trajectories | None = None,
        source: str = "the given data",
    ) -> dict[str, Any]:
        """Score the forecasts of each split's first windows, beside the naive ones.

        `replicas` (several futures of one state) tell the error that no forecast can avoid.
        """
        data = self.fitting(data, source)
        _check_draws(samples, seed)
        there = [name for name in ("test", "ood") if (data.split == name).any()]
        trained = self.config.window.horizon
        usual = [h for h in (12, 24, 36) if h <= trained] or [trained]
        if replicas is not None:
            condition = self.config.window.condition
            check_replicas(replicas, data, condition, max(horizons or usual))
        result = evaluate(
            self.model,
            data,
            splits=splits or there or sorted(set(data.split.tolist())),
            condition=self.config.window.condition,
            horizons=horizons or usual,
            samples=samples,
            calibration=self.calibration,
            seed=seed,
        )
        if replicas is not None:
            result["noise_floor"] = way_to_floor(
                self.model,
                self.fitting(replicas, "the replicas"),
                self.config.window.condition,
                result["horizons"],
            )
        result["curve"] = {self.config.name: result["curve"].pop("model"), **result["curve"]}
        return {
            "model": self.config.name,
            **result,
            "training_seed": self.config.training.seed,
            "trained_on": self.data["hash"],
            "training_cost": _cost(self.epochs),
            "config": self.config.model_dump(mode="json"),
        }


def _cost(epochs: list[dict[str, Any]]) -> dict[str, float] | None:
    """What an epoch took, where the run has its log."""
    if not epochs:
        return None
    last = epochs[-1]
    return {
        "seconds_per_epoch": float(last["seconds"]) / len(epochs),
        "peak_memory_gb": float(last.get("memory_gb", 0.0)),
    }


def train(
    data: Trajectories,
    folder: Path | str,
    config: RunConfig,
    *,
    source: str = "",
    display: Display | None = None,
    calibrated: bool = True,
) -> Run | None:
    """Train a model in a new run folder. None if a signal stopped it; resume it later.

    Without `calibrated` the run gets no intervals, which take several forecasts of the validation
    split: for runs of which only the mean is wanted.
    """
    path = Path(folder)
    if (path / "config.json").exists():
        raise InputError(
            f"{path} holds a run already. Expected a new folder, so that no work is lost. Continue "
            f"that run with --resume {path}, or choose another folder."
        )
    training = data.split_of("train")
    config = config.model_copy(
        update={"model": model_config(config.name, config.model).model_dump(mode="json")}
    )
    normaliser = Normaliser.fit(training)
    _try_out(data, normaliser, config)
    write_json(path / "normaliser.json", normaliser.to_json())
    write_json(path / "data.json", describe(data, source))
    write_json(path / "config.json", config.model_dump(mode="json"))
    return _continue(path, data, display, calibrated)


def resume(
    folder: Path | str,
    data: Trajectories,
    *,
    source: str = "",
    display: Display | None = None,
    calibrated: bool = True,
) -> Run | None:
    """Continue a run that was stopped, to the same numbers as if it had not been."""
    path = find_run(folder)
    known = read_data(path)["hash"]
    if data.hash != known:
        raise InputError(
            f"{source or 'the given data'} is not what {path} was trained on: its hash is "
            f"{data.hash[:12]}, that of the run {known[:12]}. Expected the same data. Name "
            f"that file: pgode train DATA --resume {path}, or start a new run."
        )
    return _continue(path, data, display, calibrated)


def _continue(
    path: Path, data: Trajectories, display: Display | None, calibrated: bool
) -> Run | None:
    config = read_config(path)
    normaliser = read_part(path, "normaliser.json", Normaliser.from_json)
    torch.manual_seed(config.training.seed)
    model = build_model(config.name, model_config(config.name, config.model), normaliser)
    window = config.window
    training = Windows(data.split_of("train"), normaliser, window.condition, window.horizon)
    validation = Windows(_held_out(data), normaliser, window.condition, window.horizon)
    if model.trainable:
        trainer = Trainer(model, training, validation, config, path)
        trainer.resume()
        if not trainer.fit(display or Silent()):
            return None
    if calibrated:
        calibrate(Run.open(path), validation)
    return Run.open(path)


def _held_out(data: Trajectories) -> Trajectories:
    """The systems to validate on: the training ones if there are no others."""
    return data.split_of("val" if (data.split == "val").any() else "train")


def _try_out(data: Trajectories, normaliser: Normaliser, config: RunConfig) -> None:
    """Refuse data and settings that cannot work, before anything is written.

    One forecast of one frame shows what no check of single settings does.
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


def calibrate(run: Run, validation: Windows) -> None:
    """Write the run's calibration from its forecasts of the validation split."""
    found = Calibration.fit(predict(run.model, validation, DRAWS), run.normaliser)
    if len(found.frames):
        _keep(found, run.folder)


def ship(run: Run, folder: Path | str) -> None:
    """Copy what forecasting needs (weights, settings, scales, calibration) and no more."""
    path = Path(folder)
    tensors = {f"model.{name}": value for name, value in run.model.state_dict().items()}
    with replacing(path / "model.safetensors") as temporary:
        save_file(tensors, str(temporary), {"format": "1"})
    write_json(path / "normaliser.json", run.normaliser.to_json())
    if run.calibration is not None:
        _keep(run.calibration, path)
    write_json(path / "data.json", {**run.data, "source": ""})
    write_json(path / "config.json", run.config.model_dump(mode="json"))


def _keep(calibration: Calibration, folder: Path) -> None:
    if calibration.together is None:
        (folder / RESIDUALS).unlink(missing_ok=True)
    else:
        calibration.together.write(folder)
    write_json(folder / "calibration.json", calibration.to_json())


def _check_draws(samples: int, seed: int) -> None:
    """Numbers of samples and seeds that the generators take."""
    if samples < 0 or not 0 <= seed < 2**63:
        raise InputError(
            f"cannot draw {samples} samples with seed {seed}. Expected 0 or more samples, and a "
            f"seed from 0 to {2**63 - 1}. Correct them."
        )


def _is_model(key: str) -> bool:
    return key.startswith("model.")


def _frames(times: list[float], frame: float) -> np.ndarray:
    frames = np.asarray(times, dtype=np.float64) / frame
    if len(frames) == 0 or not np.isfinite(frames).all() or (frames <= 0).any():
        raise InputError(
            f"cannot forecast at the times {times}. Expected finite times after the last "
            f"observation, each above 0. Correct them."
        )
    if (np.diff(frames) <= 0).any():
        raise InputError(
            f"the times {times} do not increase. Expected each later than the one before. Sort "
            f"them and drop repeats."
        )
    return frames
