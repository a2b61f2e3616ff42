"""The loop: what it skips, when it gives up, when it stops, and which weights it keeps."""

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.trained_runs import (
    CONDITION,
    HORIZON,
    OPTIONS,
    data_file,
    settings,
    springs,
    trained,
    trained_in,
)

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch, Windows
from pgode.cli.app import run_command
from pgode.models import Losses, build_model, model_config
from pgode.models.pgode.model import PGODE
from pgode.runs.folder import summary
from pgode.runs.run import Run
from pgode.runtime.errors import SolverError, TrainingError
from pgode.training import RunConfig, Trainer
from pgode.training.checkpoint import Progress, load_checkpoint, read_tensors
from pgode.training.display import Display
from pgode.training.loop import BAD_STEPS
from pgode.training.metrics import read_metrics


def trainer(folder: Path, config: RunConfig | None = None) -> Trainer:
    config = config or settings()
    data = springs()
    normaliser = Normaliser.fit(data.split_of("train"))
    parts = [Windows(data.split_of(s), normaliser, CONDITION, HORIZON) for s in ("train", "val")]
    torch.manual_seed(config.training.seed)
    model = build_model(config.name, model_config(config.name, config.model), normaliser)
    return Trainer(model, *parts, config, folder)


class Spoiled:
    """Stands in for the model's loss and spoils some of its calls."""

    def __init__(self, kind: str, first: int, count: int) -> None:
        self.kind, self.bad, self.calls = kind, range(first, first + count), 0
        self.real = PGODE.loss

    def __call__(self, model: PGODE, batch: Batch) -> Losses:
        number, self.calls = self.calls, self.calls + 1
        losses = self.real(model, batch)
        if number not in self.bad:
            return losses
        if self.kind == "solver":
            raise SolverError("the state of system 0 is not finite")
        if self.kind == "loss":
            return Losses(losses.total * math.nan, losses.terms)
        zero = losses.total * 0  # sqrt has no slope at 0: finite loss, infinite gradient
        return Losses(losses.total + zero.sqrt(), losses.terms)


def spoil(patch: pytest.MonkeyPatch, kind: str, first: int, count: int) -> Spoiled:
    spoiled = Spoiled(kind, first, count)
    patch.setattr(PGODE, "loss", lambda model, batch: spoiled(model, batch))
    # Neither of them is a step.
    patch.setattr("pgode.training.loop.gradient_norms", lambda *_: {})
    patch.setattr("pgode.runs.training.refuse_step", lambda *_: None)
    return spoiled


@pytest.mark.parametrize("kind", ["loss", "gradient", "solver"])
def test_training_gives_up_after_five_steps_without_a_finite_gradient(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where an epoch has only four steps. What it leaves is finite, and can be opened."""
    spoiled = spoil(monkeypatch, kind, 3, 1000)
    with pytest.raises(TrainingError) as raised:
        trained_in(tmp_path / "run", settings())
    assert spoiled.calls == 3 + BAD_STEPS
    message = str(raised.value)
    assert "epoch 2, step 4: 5 steps in a row had no finite loss or gradient" in message
    assert "Lower training.learning_rate" in message
    assert "\n" not in message
    last = tmp_path / "run/checkpoints/last.safetensors"
    assert str(last) in message
    tensors, _ = read_tensors(last)
    assert all(value.isfinite().all() for value in tensors.values())
    assert Run.open(tmp_path / "run").model is not None


def test_a_run_that_diverges_at_once_leaves_its_first_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil(monkeypatch, "loss", 0, 1000)
    config = ["train", str(data_file()), "-o", str(tmp_path / "run"), *OPTIONS]
    assert run_command([*config, "--set", "training.batch=1"]) == 2
    assert "Error: training stopped at epoch 1, step 5" in capsys.readouterr().err
    tensors, _ = read_tensors(tmp_path / "run/checkpoints/last.safetensors")
    assert all(value.isfinite().all() for value in tensors.values())
    assert not (tmp_path / "run/metrics.jsonl").exists()


@pytest.mark.parametrize("kind", ["loss", "gradient", "solver"])
def test_a_few_bad_steps_are_left_out(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[dict[str, float]] = []

    class Watch(Display):
        def step(self, progress: Progress, terms: dict[str, float]) -> None:
            seen.append(terms)

    spoiled = spoil(monkeypatch, kind, 2, BAD_STEPS - 1)
    run = trained_in(tmp_path / "run", settings(), Watch())
    assert run is not None
    assert spoiled.calls == 12
    assert [bool(terms) for terms in seen] == [True] * 2 + [False] * 4 + [True] * 6
    assert all(math.isfinite(row["val_mse"]) for row in run.epochs)
    tensors, _ = read_tensors(run.folder / "checkpoints/last.safetensors")
    assert all(value.isfinite().all() for value in tensors.values())


def test_the_step_after_a_bad_one_starts_from_the_weights_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(monkeypatch, "gradient", 1, 1)
    weights: list[torch.Tensor] = []

    class Watch(Display):
        def step(self, progress: Progress, terms: dict[str, float]) -> None:
            weights.append(torch.cat([p.detach().flatten() for p in fitted.model.parameters()]))

    fitted = trainer(tmp_path, settings(training_epochs=1))
    assert fitted.fit(Watch())
    kept = [torch.equal(before, after) for before, after in pairwise(weights)]
    assert kept == [True, False, False]


class Scripted(Display):
    """Keeps the weights at the end of each epoch."""

    def __init__(self) -> None:
        self.weights: list[dict[str, torch.Tensor]] = []
        self.trainer: Trainer | None = None

    def epoch(self, progress: Progress, row: dict[str, Any]) -> None:
        assert self.trainer is not None
        state = self.trainer.model.state_dict()
        self.weights.append({name: value.clone() for name, value in state.items()})


def fit_with_errors(
    errors: list[float], folder: Path, patch: pytest.MonkeyPatch, **changes: object
) -> tuple[Trainer, Scripted]:
    """Train while pretending that the validation errors are these."""
    script = iter(errors)
    patch.setattr(Trainer, "validate", lambda self: (next(script), None))
    display = Scripted()
    display.trainer = fitted = trainer(folder, settings(**changes))
    assert fitted.fit(display)
    return fitted, display


def test_training_stops_when_patience_is_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = [3.0, 2.0, 2.5, 1.0, 4.0, 1.0, 0.5]
    fitted, display = fit_with_errors(
        errors, tmp_path, monkeypatch, training_epochs=7, training_patience=2
    )
    assert [row["val_mse"] for row in fitted.log.rows] == errors[:6]
    assert fitted.progress.finished
    assert (fitted.progress.best, fitted.progress.best_epoch) == (1.0, 4)
    tensors, _ = read_tensors(fitted.best)
    for name, value in display.weights[3].items():
        assert torch.equal(tensors[f"model.{name}"], value)

    again = trainer(tmp_path, settings(training_epochs=7, training_patience=2))
    again.resume()
    assert again.fit(Display())
    assert len(again.log.rows) == 6


def test_without_patience_all_epochs_are_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted, _ = fit_with_errors([1.0, 2.0, 3.0], tmp_path, monkeypatch)
    assert len(fitted.log.rows) == 3
    assert fitted.progress.best_epoch == 1


def test_a_run_that_never_validates_has_the_same_patience(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted, _ = fit_with_errors(
        [math.inf] * 3, tmp_path, monkeypatch, training_epochs=5, training_patience=3
    )
    assert len(fitted.log.rows) == 3
    assert not fitted.best.exists()


def test_a_validation_that_cannot_be_solved_is_infinite_and_training_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = PGODE.forecast
    calls = []

    def forecast(model: PGODE, *given: Any) -> Any:
        calls.append(1)
        if len(calls) == 3:  # two batches validate an epoch
            raise SolverError("the state of system 0 is not finite")
        return real(model, *given)

    monkeypatch.setattr(PGODE, "forecast", forecast)
    fitted = trainer(tmp_path)
    assert fitted.fit(Display())
    errors = [row["val_mse"] for row in fitted.log.rows]
    assert [math.isfinite(error) for error in errors] == [True, False, True]
    assert errors[1] == math.inf
    lines = (tmp_path / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line, parse_constant=pytest.fail)["val_mse"] is None for line in lines] == [
        False,
        True,
        False,
    ]
    assert [row["val_mse"] for row in read_metrics(tmp_path)] == errors


def test_the_best_checkpoint_has_the_lowest_validation_error(tmp_path: Path) -> None:
    run = trained()
    errors = [row["val_mse"] for row in run.epochs]
    fitted = trainer(tmp_path)
    progress = load_checkpoint(run.folder / "checkpoints/best.safetensors", fitted.model)
    assert fitted.validate()[0] == min(errors) == progress.best
    assert progress.best_epoch == errors.index(min(errors)) + 1
    assert f"{min(errors):.3e} at epoch {progress.best_epoch}" in summary(run.folder).values()


def test_the_validation_error_is_the_mean_over_all_known_values(tmp_path: Path) -> None:
    fitted = trainer(tmp_path)
    windows = fitted.validation
    batch = windows.batch(*(torch.arange(4).numpy(), torch.zeros(4, dtype=torch.long).numpy()))
    with torch.no_grad():
        mean = fitted.model.eval().forecast(batch, batch.target_times).mean
    expected = float((mean - batch.targets).double().square().mean())
    assert fitted.validate()[0] == pytest.approx(expected, rel=1e-6)


def test_a_curriculum_forecasts_short_before_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    curriculum = [[0.25, 2], [0.5, 4], [0.75, 100]]
    fitted = trainer(tmp_path, settings(training_epochs=8, training_curriculum=curriculum))
    assert [fitted.horizon(epoch) for epoch in range(8)] == [2, 2, 4, 4, 6, 6, 6, 6]
    seen = []
    real = PGODE.loss

    def loss(model: PGODE, batch: Batch) -> Losses:
        seen.append(batch.targets.shape[1])
        return real(model, batch)

    monkeypatch.setattr(PGODE, "loss", loss)
    fitted = trainer(tmp_path / "run", settings(training_curriculum=[[0.34, 2]]))
    assert fitted.fit(Display())
    # Four steps and a measurement of gradients in each epoch.
    assert seen == [2] * 10 + [6] * 5
    assert {batch.targets.shape[1] for batch in fitted.validation.batches(4)} == {6}


def test_every_system_is_trained_once_an_epoch_in_an_order_that_changes(tmp_path: Path) -> None:
    fitted = trainer(tmp_path)
    orders, starts = zip(*(fitted.windows.of_epoch(epoch, 3) for epoch in range(3)), strict=True)
    assert all(sorted(order) == list(range(8)) for order in orders)
    assert len({tuple(order) for order in orders}) == 3
    assert all(start.min() >= 0 and start.max() <= 18 - CONDITION - 3 for start in starts)
    assert len({tuple(start) for start in starts}) == 3
    first = trainer(tmp_path, settings(window_starts="first"))
    assert (first.windows.of_epoch(0, 3)[1] == 0).all()


def test_the_learning_rate_in_the_log_is_that_of_the_last_step(tmp_path: Path) -> None:
    rates = []

    class Watch(Display):
        def step(self, progress: Progress, terms: dict[str, float]) -> None:
            rates.append(fitted.optimisers["optimiser"].param_groups[0]["lr"])

    fitted = trainer(tmp_path)
    assert fitted.fit(Watch())
    assert [row["lr"] for row in fitted.log.rows] == rates[3::4]
    assert fitted.optimisers["adversary"].param_groups[0]["lr"] == 5e-4


def test_the_optimiser_is_the_one_asked_for(tmp_path: Path) -> None:
    adam = trainer(tmp_path, settings(training_optimiser="adam")).optimisers["optimiser"]
    decayed = trainer(tmp_path, settings(training_weight_decay=0.5)).optimisers["optimiser"]
    assert type(adam) is torch.optim.Adam
    assert adam.param_groups[0]["weight_decay"] == 0
    assert type(decayed) is torch.optim.AdamW
    assert decayed.param_groups[0]["weight_decay"] == 0.5
    without = trainer(tmp_path, settings(model__objective__context_info_weight=0.0)).optimisers
    assert list(without) == ["optimiser"]


def test_the_adversary_ascends_what_all_else_descends(tmp_path: Path) -> None:
    fitted = trainer(tmp_path)
    against = {id(parameter) for parameter in fitted.model.adversary()}
    assert against
    assert against.isdisjoint(id(parameter) for parameter in fitted.parameters)
    assert len(against) + len(fitted.parameters) == len(list(fitted.model.parameters()))
    assert fitted.optimisers["adversary"].param_groups[0]["maximize"]
    assert not fitted.optimisers["optimiser"].param_groups[0]["maximize"]
