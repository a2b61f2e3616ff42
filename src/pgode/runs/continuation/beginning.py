"""The first weights of a run that goes on from another one, and their error before training."""

import math
from dataclasses import dataclass
from pathlib import Path

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.trajectories import Trajectories
from pgode.evaluation.predictions import predict
from pgode.models import Forecaster, build_model, model_config
from pgode.runs.continuation.origin import Origin
from pgode.runs.continuation.parent import Parent, Scales
from pgode.runs.continuation.suitability import check_suits, scales_for
from pgode.runs.exchange.conforming import conformed
from pgode.runs.laws import force_laws
from pgode.runtime.errors import SolverError
from pgode.training import RunConfig, Trainer
from pgode.training.checkpoint import Progress, load_model, load_weights, save_checkpoint
from pgode.training.display import Display

START = "checkpoints/start.safetensors"
"""Weights that the first epoch starts from: the parent may be gone when a run is resumed."""


@dataclass(frozen=True)
class Start:
    """What a new run takes from the one that it goes on from."""

    origin: Origin
    refit: bool = False

    def check(self, data: Trajectories, source: str) -> Trajectories:
        """Data as the model reads them; refuses those of another kind."""
        check_suits(self.origin, data, source)
        return conformed(data, self.origin.normaliser, source)

    def scales(self, training: Trajectories, display: Display | None) -> Normaliser:
        """The scales of the new run; says which they are."""
        normaliser, notes = scales_for(self.origin, training, refit=self.refit)
        if display is not None:
            for note in notes:
                display.say(note)
        return normaliser

    def write(
        self,
        path: Path,
        config: RunConfig,
        normaliser: Normaliser,
        held_out: Trajectories,
        display: Display | None,
    ) -> Parent:
        """Put the weights into a new run folder, also as the best so far, and describe them.

        A run that goes on is thereby never worse on its validation systems than the one before.
        """
        origin, window = self.origin, config.window
        model = build_model(config.name, model_config(config.name, config.model), normaliser)
        load_model(model, dict(origin.tensors), origin.folder)
        validation = Windows(held_out, normaliser, window.condition, window.horizon)
        error = _error(model, validation, rolling=window.rolling)
        progress = Progress(best=error, best_epoch=0)
        for name in (START, "checkpoints/best.safetensors"):
            save_checkpoint(path / name, model, {}, progress)
        if display is not None:
            display.say(self._said(config, model, error))
        scales: Scales = "refitted" if self.refit else "kept"
        return Parent(origin.name, origin.hash, origin.data.hash, scales, error)

    def _said(self, config: RunConfig, model: Forecaster, error: float) -> str:
        before = f"going on from {self.origin.name}: validation error {error:.3e} before training"
        if self.origin.laws_alone:
            return (
                f"{before}; laws are searched for in the new data, and take the place of its own "
                f"if they forecast the validation systems better"
            )
        rate, old = config.training.learning_rate, self.origin.config.training.learning_rate
        kept = "; its force laws stay as they are" if force_laws(model) is not None else ""
        return f"{before}; learning rate {rate:g}, that of the run was {old:g}{kept}"


def begin(trainer: Trainer, parent: Parent | None) -> None:
    """Give a run that goes on from another one its first weights, unless it has trained already.

    Laws alone are no start for a search: where they are wrong, a step from them leads nowhere, and
    two systems show a law as exactly as a hundred. Known ones compete with those of the new data.
    """
    if parent is None or trainer.last.exists():
        return
    if trainer.parameters:
        load_weights(trainer.folder / START, trainer.model)
    trainer.progress.best, trainer.progress.best_epoch = parent.val_mse, 0


def outcome(trainer: Trainer, parent: Parent | None) -> str:
    """A sentence for a run whose training did not help; empty for all others."""
    if parent is None or trainer.progress.best_epoch > 0:
        return ""
    found = "no epoch had" if trainer.parameters else "the laws found in the new data do not have"
    return (
        f"{found} a lower validation error than {parent.val_mse:.3e}, so the run keeps what "
        f"{parent.folder} has"
    )


def _error(model: Forecaster, validation: Windows, *, rolling: bool) -> float:
    """Mean squared error of the mean forecast, as `Trainer.validate` has it."""
    try:
        found = predict(model, validation, origins=validation.origins(rolling=rolling))
    except SolverError:
        return math.inf
    squares = (found.mean - found.truth)[found.known] ** 2
    error = float(squares.mean()) if squares.size else 0.0
    return error if math.isfinite(error) else math.inf
