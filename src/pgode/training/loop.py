"""The training loop (paper, Algorithm 1)."""

import math
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import torch
from torch import nn

from pgode.batches.epoch_windows import EpochWindows
from pgode.batches.parallel.peers import LostProcessError, PeerFailedError
from pgode.batches.windows import Windows
from pgode.models.forecaster import Forecaster
from pgode.runtime.allocation import freed_memory_kept, give_back_if_scarce
from pgode.runtime.errors import SolverError, TrainingError
from pgode.runtime.signals import StopRequest, stop_on_signal
from pgode.runtime.stored.checking import is_present
from pgode.training.checkpoint import (
    Progress,
    load_checkpoint,
    packed_state,
    save_checkpoint,
    unpack_state,
)
from pgode.training.config import RunConfig
from pgode.training.descent import learning_rate, optimisers_for
from pgode.training.display import Display
from pgode.training.gate_use import GateUse
from pgode.training.gradient_norms import GradientNorms, gradient_norms, measured_systems
from pgode.training.metrics import EpochRow, MetricsLog
from pgode.training.parallel.team import ALONE, Team
from pgode.training.parallel.validating import validated

SAVE_EVERY = 120.0
"""Longest time in seconds between two checkpoints within an epoch."""

BAD_STEPS = 5
"""Steps in a row without a finite gradient after which training gives up."""


class _StoppedError(Exception):
    """A signal asked to stop in the midst of a model's preparation."""


class Trainer:
    """Fits one model on windows of the training split; selects on the validation split.

    All random numbers of a step come from a seed made of (seed, epoch, step), so a run that was
    stopped and resumed at any step ends with the same bits as one that was not.

    In a `team` of several processes each has a trainer and takes its share of every step; the one
    that leads also saves and shows progress.
    """

    def __init__(
        self,
        model: Forecaster,
        training: Windows,
        validation: Windows,
        config: RunConfig,
        folder: Path,
        team: Team = ALONE,
        device: torch.device | None = None,
    ) -> None:
        self.model, self.config, self.folder, self.team = model, config, folder, team
        self.device = model.on(device or torch.device("cpu")).device
        self.training, self.validation = training, validation
        self.settings = config.training
        self.windows = EpochWindows(
            training, config.window.starts, config.window.stride, config.training.seed
        )
        adversary = {id(parameter) for parameter in model.adversary()}
        self.parameters = [p for p in model.parameters() if id(p) not in adversary]
        self.all_parameters = [*self.parameters, *model.adversary()]
        self.optimisers = optimisers_for(model, self.parameters, self.settings)
        self.progress = Progress()
        self.log = MetricsLog(folder)
        self._bad, self._stops = 0, False
        self.memory = 0.0
        """Peak memory of all processes up to the last validation, in GB."""

    @property
    def last(self) -> Path:
        """The checkpoint that training continues from."""
        return self.folder / "checkpoints" / "last.safetensors"

    @property
    def best(self) -> Path:
        """The checkpoint with the lowest validation error."""
        return self.folder / "checkpoints" / "best.safetensors"

    @property
    def steps_per_epoch(self) -> int:
        """Batches of one pass over the training systems; none where there is nothing to descend."""
        if not self.parameters:
            return 0
        return math.ceil(self.windows.per_epoch / self.settings.batch)

    def resume(self) -> None:
        """Continue from the last checkpoint, if there is one."""
        if is_present(self.folder, "checkpoints/last.safetensors"):
            self.progress = load_checkpoint(self.last, self.model, self.optimisers)
        self.log.rewind(self.progress.epoch)

    def fit(self, display: Display) -> bool:
        """Train to the end; False if a signal stopped it first (the work so far is saved)."""
        if self.settings.threads is not None:
            torch.set_num_threads(self.settings.threads)
        with freed_memory_kept(), stop_on_signal() as stop, display, closing(self.log):
            if not self._begin(display, stop):
                return False
            progress = self.progress
            display.begin(self.epochs, self.steps_per_epoch, progress, self.log.rows)
            try:
                while progress.epoch < self.epochs and not progress.finished:
                    if not self._epoch(display, stop):
                        self._save(self.last)
                        return False
            except LostProcessError:
                self._save(self.last)
                raise
            if not progress.finished:
                progress.finished = True
                self._save(self.last)
            # A signal during the last validation: what comes after training is left to `resume`.
            return not stop

    def _begin(self, display: Display, stop: StopRequest) -> bool:
        """Bring all processes to the state to train from; False if asked to stop before that."""

        def state() -> bytes:
            if not self.last.exists() and not self._prepare(display, stop):
                return b""
            return packed_state(self.model, self.optimisers, self.progress)

        content = self.team.begin(state)
        if content and not self.team.leads:
            self.progress = unpack_state(content, self.model, self.optimisers)
        return bool(content)

    @property
    def epochs(self) -> int:
        """Passes over the data; one, which only validates, where there is nothing to descend."""
        return self.settings.epochs if self.parameters else 1

    def _prepare(self, display: Display, stop: StopRequest) -> bool:
        """What the model finds without gradients, saved; False if asked to stop before its end."""
        began = time.monotonic()

        def told(what: str, share: float) -> None:
            display.prepare(what, share)
            if stop:
                raise _StoppedError

        torch.manual_seed(self.settings.seed)
        try:
            found = self.model.prepare(self.training, self.settings.seed, told)
        except _StoppedError:
            return False
        if found:
            self.progress.seconds += time.monotonic() - began
            self._save(self.last)
        return True

    def _epoch(self, display: Display, stop: StopRequest) -> bool:
        """The rest of one epoch, validation included; False if asked to stop."""
        progress, settings = self.progress, self.settings
        order, starts = self.windows.of_epoch(progress.epoch, self.horizon(progress.epoch))
        began = saved = time.monotonic()
        self.model.train()
        while progress.step < self.steps_per_epoch:
            chosen = slice(progress.step * settings.batch, (progress.step + 1) * settings.batch)
            terms = self._step(order[chosen], starts[chosen], bool(stop))
            # Counted across epochs: one epoch of a small data set has fewer steps than this.
            self._bad = 0 if terms else self._bad + 1
            if self._bad == BAD_STEPS:
                self._save(self.last)
                raise TrainingError(self._diverged())
            for name, value in terms.items():
                progress.sums[name] = progress.sums.get(name, 0.0) + value
            progress.step += 1
            now = time.monotonic()
            progress.seconds += now - began
            began = now
            display.step(progress, terms)
            give_back_if_scarce()
            if self._stops or (stop and self.team.size == 1):
                return False
            if now - saved > SAVE_EVERY:
                self._save(self.last)
                saved = now
        self._close_epoch(display, began)
        return True

    def horizon(self, epoch: int) -> int:
        """Frames that an epoch's steps forecast: fewer at first, if there is a curriculum.

        A short forecast costs less, and its gradient is less noisy.
        """
        for share, horizon in self.settings.curriculum:
            if epoch < share * self.settings.epochs:
                return min(horizon, self.training.horizon)
        return self.training.horizon

    def _step(self, systems: np.ndarray, starts: np.ndarray, stop: bool) -> dict[str, float]:
        """One step of descent, and of the adversary's ascent; no terms if it was not finite."""
        settings, progress = self.settings, self.progress
        for group in self.optimisers["optimiser"].param_groups:
            group["lr"] = self.rate(progress.step)
        torch.manual_seed(_seed(settings.seed, progress.epoch, progress.step))
        for optimiser in self.optimisers.values():
            optimiser.zero_grad(set_to_none=True)
        terms = self._gradient(systems, starts, stop)
        if not terms or not math.isfinite(terms["total"]) or not self._clip():
            return {}
        for optimiser in self.optimisers.values():
            optimiser.step()
        return terms

    def _gradient(self, systems: np.ndarray, starts: np.ndarray, stop: bool) -> dict[str, float]:
        """The terms of a batch's loss, with its gradient in place; none where it has none."""
        self._stops = False
        try:
            horizon = self.horizon(self.progress.epoch)
            batch = self.team.batch(self.training, systems, starts, horizon).to(self.device)
            losses = self.model.loss(batch)
            torch.autograd.backward(losses.total)
            terms, self._stops = self.team.summed(losses, batch, self.all_parameters, stop)
        except PeerFailedError:
            return {}
        except SolverError:
            self.team.give_up()
            return {}
        return terms

    def rate(self, step: int) -> float:
        """The learning rate of a step of this epoch."""
        settings, steps = self.settings, self.steps_per_epoch
        done = self.progress.epoch * steps + step
        return learning_rate(
            settings.schedule, settings.learning_rate, done, settings.epochs * steps
        )

    def _clip(self) -> bool:
        """Clip a gradient that is far longer than the recent ones; False if it is not finite.

        A rare window on which an untrained right-hand side diverges would otherwise spoil not only
        one step, but Adam's estimate of the gradient's size for a thousand more. The limit is a
        multiple of the recent average norm, so it suits any loss. The average is that of the
        clipped gradients: with a multiple of 1 it follows a falling norm and never rises.
        """
        norm = float(
            nn.utils.get_total_norm([p.grad for p in self.parameters if p.grad is not None])
        )
        if not math.isfinite(norm):
            return False
        recent = norm if self.progress.norm is None else self.progress.norm
        limit = math.inf if self.settings.clip is None else self.settings.clip * recent
        nn.utils.clip_grads_with_norm_(self.parameters, limit, torch.tensor(norm))
        self.progress.norm = 0.98 * recent + 0.02 * min(norm, limit)
        return True

    def _close_epoch(self, display: Display, began: float) -> None:
        """Validate, log, keep the best weights, and save."""
        progress = self.progress
        error, gate = self.validate()
        gradients = self.gradients() if self.team.leads else {}
        progress.seconds += time.monotonic() - began
        steps = self.steps_per_epoch
        row: EpochRow = {
            "epoch": progress.epoch + 1,
            "train": {name: value / max(steps, 1) for name, value in progress.sums.items()},
            "val_mse": error,
            "lr": self.rate(steps - 1) if steps else 0.0,
            "seconds": progress.seconds,
            "memory_gb": round(self.memory, 3),
        }
        if gate is not None:
            row["gate"] = gate.to_json()
        if gradients:
            row["gradients"] = gradients
        progress.epoch, progress.step, progress.sums = progress.epoch + 1, 0, {}
        if error < progress.best:
            progress.best, progress.best_epoch = error, progress.epoch
            self._save(self.best)
        patience = self.settings.patience
        if patience is not None and progress.epoch - max(progress.best_epoch, 0) >= patience:
            progress.finished = True
        # The log first: a row that is too early is dropped and written again, see `resume`.
        if self.team.leads:
            self.log.add(row)
        self._save(self.last)
        display.epoch(progress, row)

    def gradients(self) -> GradientNorms:
        """Gradients of the loss terms on the encoders, for a few training systems of this epoch.

        Empty where a forecast cannot be solved.
        """
        progress, settings = self.progress, self.settings
        order, starts = self.windows.of_epoch(progress.epoch, self.horizon(progress.epoch))
        first = slice(measured_systems(len(order), settings.batch))
        batch = self.training.batch(order[first], starts[first], self.horizon(progress.epoch))
        batch = batch.to(self.device)
        self.model.train()
        try:
            return gradient_norms(self.model, batch, _seed(settings.seed, progress.epoch))
        except SolverError:
            return {}

    def validate(self) -> tuple[float, GateUse | None]:
        """Mean squared error of the mean forecast over the validation split, and use of the gate.

        The error is infinite where a forecast cannot be solved: such weights are never the best,
        and later epochs may recover.
        """
        self.model.eval()
        origins = self.team.part(self.validation.origins(rolling=self.config.window.rolling))
        own = validated(self.model, self.validation, origins, self.settings.batch, self.device)
        found = self.team.validated(own)
        self.memory = found.memory
        gate = None if found.gates is None or not found.solved else GateUse.of(found.gates)
        error = found.error / max(found.count, 1.0) if found.solved else math.inf
        return error, gate

    def _save(self, path: Path) -> None:
        if self.team.leads:
            save_checkpoint(path, self.model, self.optimisers, self.progress)

    def _diverged(self) -> str:
        return (
            f"training stopped at epoch {self.progress.epoch + 1}, step {self.progress.step + 1}: "
            f"{BAD_STEPS} steps in a row had no finite loss or gradient. Expected a loss that "
            f"falls. Lower training.learning_rate or training.clip, or make solver steps smaller "
            f"(model.solver.step); the last finite state is in {self.last}."
        )


def _seed(*parts: int) -> int:
    """One seed for a step, from the run's seed, the epoch and the step."""
    return int(np.random.SeedSequence(parts).generate_state(1, np.uint64)[0] >> 1)
