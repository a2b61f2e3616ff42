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
from pgode.runs.continuation.suitability import check_suits, kept_scales, new_scales
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
    refit: bool | None = None
    """Whether scales are fitted to the new data; None: if the weights then forecast better."""

    def check(self, data: Trajectories, source: str) -> Trajectories:
        """Data as the model reads them; refuses those of another kind."""
        check_suits(self.origin, data, source)
        return conformed(data, self.origin.normaliser, source)

    def scales(
        self,
        training: Trajectories,
        held_out: Trajectories,
        config: RunConfig,
        display: Display | None,
    ) -> Normaliser:
        """The scales of the new run; says which they are.

        If nothing else is asked for, those with which the weights, as they are, have the lower
        validation error.
        """
        refit, reason = self.refit, "as asked for"
        if refit is None:
            refit, reason = False, "laws are in units of them"
            if not self.origin.has_laws:
                refit, reason = self._compared(training, held_out, config)
        chosen = new_scales if refit else kept_scales
        normaliser, notes = chosen(self.origin, training)
        done = "fitted to the new data" if refit else "those of the run are kept"
        other = "; the weights were trained with others and have to adapt" if refit else ""
        if display is not None:
            for note in (f"scales: {done} ({reason}){other}", *notes):
                display.say(note)
        return normaliser

    def _compared(
        self, training: Trajectories, held_out: Trajectories, config: RunConfig
    ) -> tuple[bool, str]:
        """Whether new scales suit the weights better, and the validation errors that say so."""
        old, _ = kept_scales(self.origin, training)
        new, _ = new_scales(self.origin, training)
        kept, fitted = (
            _error(self._model(config, scales), scales, held_out, config, self.origin.normaliser)
            for scales in (old, new)
        )
        better = fitted < kept
        low, high = sorted((kept, fitted))
        named = "the old ones" if better else "new ones"
        return better, f"validation error {low:.3e} before training, {high:.3e} with {named}"

    def _model(self, config: RunConfig, normaliser: Normaliser) -> Forecaster:
        """The model with the weights of the run."""
        model = build_model(config.name, model_config(config.name, config.model), normaliser)
        load_model(model, dict(self.origin.tensors), self.origin.folder)
        return model

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
        origin, model = self.origin, self._model(config, normaliser)
        error = _error(model, normaliser, held_out, config, normaliser)
        progress = Progress(best=error, best_epoch=0)
        for name in (START, "checkpoints/best.safetensors"):
            save_checkpoint(path / name, model, {}, progress)
        if display is not None:
            display.say(self._said(config, model, error))
        old = origin.normaliser
        same = (normaliser.centre, normaliser.scale) == (old.centre, old.scale)
        scales: Scales = "kept" if same else "refitted"
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


def _error(
    model: Forecaster,
    normaliser: Normaliser,
    held_out: Trajectories,
    config: RunConfig,
    units: Normaliser,
) -> float:
    """Mean squared error of the mean forecast, as `Trainer.validate` has it, in some units."""
    window = config.window
    validation = Windows(held_out, normaliser, window.condition, window.horizon)
    try:
        found = predict(model, validation, origins=validation.origins(rolling=window.rolling))
    except SolverError:
        return math.inf
    if units is not normaliser:
        found = found.mapped(lambda scaled: units.states(normaliser.raw(scaled)))
    squares = (found.mean - found.truth)[found.known] ** 2
    error = float(squares.mean()) if squares.size else 0.0
    return error if math.isfinite(error) else math.inf
