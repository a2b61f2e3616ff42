"""A run: one trained model with everything needed to forecast and to score."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from pgode.batches.devices import AUTO, chosen_device
from pgode.batches.normaliser import Normaliser
from pgode.data.trajectories import Trajectories
from pgode.evaluation import Calibration, Evaluation, evaluate
from pgode.evaluation.evaluation import Training
from pgode.evaluation.horizons import default_horizons
from pgode.evaluation.uncertainty.noise_floor import check_replicas, compare_with_floor
from pgode.models import Forecaster
from pgode.runs import folder as run_folder
from pgode.runs.data_record import DataRecord
from pgode.runs.exchange.ahead import check_draws, frames_of
from pgode.runs.exchange.conforming import conformed
from pgode.runs.exchange.observed import check_length, frames_ahead, named, observed_systems
from pgode.runs.forecasts import SAMPLES, Forecasts, forecast_future
from pgode.runs.serving.array_forecaster import GRAPHS, ArrayForecaster
from pgode.runs.stored.model import built_model
from pgode.runtime.errors import InputError
from pgode.training import RunConfig
from pgode.training.checkpoint import load_weights
from pgode.training.metrics import EpochRow, read_metrics

if TYPE_CHECKING:
    from pgode.runs.export.exporting import Exported

HELD_OUT = ("test", "ood")
"""Splits that are scored by default."""


@dataclass(frozen=True)
class Run:
    """A trained model with its settings, scales and calibration. Open one with `Run.open`."""

    folder: Path
    config: RunConfig
    normaliser: Normaliser
    model: Forecaster
    data: DataRecord
    calibration: Calibration | None

    @classmethod
    def open(cls, folder: Path | str, device: str | torch.device = AUTO) -> "Run":
        """Open a run folder, or a model that comes with the package (springs-10), by name.

        `device` computes what is asked of the run, wherever it was trained: auto (CUDA, else
        Apple's MPS, else the CPU), cpu, cuda, cuda:N or mps.
        """
        place = chosen_device(device)
        path = run_folder.find_run(folder)
        config, normaliser = run_folder.read_config(path), run_folder.read_normaliser(path)
        model = built_model(path, config, normaliser)
        if model.trainable:
            load_weights(run_folder.weights_file(path), model)
        model.on(place).eval()
        data = run_folder.read_data(path)
        calibration = run_folder.read_calibration(path, len(normaliser.features))
        return cls(path, config, normaliser, model, data, calibration)

    @property
    def epochs(self) -> list[EpochRow]:
        """The log of the training, one row per epoch."""
        return read_metrics(self.folder)

    def conform(self, data: Trajectories, source: str = "the given data") -> Trajectories:
        """Data as the model reads it: checked features, and the trained parameters by name.

        A forecast needs no parameters, so missing ones are set to NaN, as are missing constants.
        """
        return conformed(data, self.normaliser, source)

    def observed(
        self,
        given: Any,
        source: str = "",
        on_note: Callable[[str], None] = lambda text: None,
        force: bool = False,
    ) -> Trajectories:
        """Observed systems in any form that `forecast` takes, as trajectories.

        `on_note` receives what a person should know, such as objects that have left. `force` is
        as for `pgode.read`.
        """
        condition = self.config.window.condition
        source = source or named(given)
        return observed_systems(
            given, self.normaliser, self.data, condition, source, on_note=on_note, force=force
        )

    def forecast(
        self,
        observed: Any,
        *,
        until: int | None = None,
        times: list[float] | None = None,
        samples: int = SAMPLES,
        seed: int = 0,
        source: str = "",
    ) -> Forecasts:
        """Forecast each system after its last observed frame.

        `observed` is a `Trajectories`, a pandas, polars or Arrow table with the columns of the
        table that the run was trained on, a dict of arrays as for `Trajectories.build` (features,
        units and, if left out, times and all pairs as edges come from the run), an array of states
        (system, object, time, feature), or the path of a file. NaN states are missing values.
        Frames without states after a system's last observation lie in its future: they hold known
        inputs.

        `until` is a number of frames; if not given, as many as the data have known inputs for, or
        else the trained horizon. `times` are instead times after the last observation, in the unit
        of the data.
        """
        check_draws(samples, seed)
        source = source or named(observed)
        data = self.conform(self.observed(observed, source), source)
        check_length(data, self.config.window.condition, source)
        if until is None and times is None:
            until = frames_ahead(data, self.normaliser.frame_duration)
        return forecast_future(
            self.model,
            data,
            self.config.window.condition,
            frames_of(until, times, self.config.window.horizon, self.normaliser.frame_duration),
            calibration=self.calibration,
            samples=samples,
            seed=seed,
        )

    def forecaster(self, *, graphs: int = GRAPHS) -> ArrayForecaster:
        """The forecasts of this run as a function of arrays, compiled and warm, for any thread.

        It remembers as many `graphs` as this, so that the graph of a system that was seen before is
        not built again.
        """
        return ArrayForecaster(self, graphs)

    def evaluate(
        self,
        data: Trajectories,
        *,
        splits: Sequence[str] | str | None = None,
        horizons: Sequence[int] | None = None,
        samples: int = 20,
        seed: int = 0,
        replicas: Trajectories | None = None,
        source: str = "the given data",
        origins: str | None = None,
        metrics: Sequence[str] | None = None,
    ) -> Evaluation:
        """Score the forecasts of each split and those of the naive models.

        The default splits are test and ood, or all splits of data that have neither. The default
        horizons are the trained one and multiples of 12 frames below it, see `default_horizons`.
        `origins` says where windows start: "first" (each system's first frames), "last",
        "rolling", "all" or "every:N". The default is rolling for a run that was trained on all
        windows of long series, otherwise first. `metrics` are names of
        `pgode.evaluation.scores.METRICS`; all that the data allow if not given.
        `replicas` (several futures of one state) add the irreducible error. This noise floor is
        also written to the run folder, for the report, unless the run is a model that comes with
        the package.
        """
        data = self.conform(data, source)
        check_draws(samples, seed)
        present = set(data.split.tolist())
        held_out = [split for split in HELD_OUT if split in present]
        condition = self.config.window.condition
        scored = sorted(set(horizons or default_horizons(self.config.window.horizon)))
        named = [splits] if isinstance(splits, str) else list(splits or ())
        where = origins or ("rolling" if self.config.window.rolling else "first")
        if replicas is not None:
            if where != "first":
                raise InputError(
                    f"replicas are of each system's first frames, but windows start at {where} "
                    f"origins. Expected the origins first. Leave out --origins, or --replicas."
                )
            check_replicas(replicas, data, condition, max(scored))
        result = evaluate(
            self.model,
            data,
            splits=named or held_out or sorted(present),
            condition=condition,
            horizons=scored,
            samples=samples,
            calibration=self.calibration,
            seed=seed,
            name=self.config.name,
            origins=where,
            metrics=metrics,
        )
        floor = None
        if replicas is not None:
            futures = self.conform(replicas, "the replicas")
            floor = compare_with_floor(self.model, futures, condition, scored)
            if not run_folder.is_shipped(self.folder):
                run_folder.write_noise_floor(self.folder, floor)
        return replace(result, noise_floor=floor, training=self._training())

    def export(
        self,
        output: Path | str,
        *,
        data: Trajectories | Path | str | None = None,
        condition: int | None = None,
        until: int | None = None,
        overwrite: bool = False,
    ) -> "Exported":
        """Write the mean forecast as a file for onnxruntime (.onnx) or torch (.pt2).

        Its numbers are compared with the model's own first, see `pgode.runs.export.exporting`. An
        existing file is replaced only with `overwrite`.
        """
        from pgode.runs.export.exporting import export_run

        return export_run(
            self, output, data=data, condition=condition, until=until, overwrite=overwrite
        )

    def _training(self) -> Training:
        """How the model was trained; with costs if the run has the log of its training."""
        config, epochs = self.config, self.epochs
        origin = Training(config.model_dump(mode="json"), self.data.hash, config.training.seed)
        if not epochs:
            return origin
        last = epochs[-1]
        return replace(
            origin,
            seconds_per_epoch=float(last["seconds"]) / last["epoch"],
            peak_memory_gb=float(last.get("memory_gb", 0.0)),
        )
