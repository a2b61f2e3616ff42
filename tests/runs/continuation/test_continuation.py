"""A run that goes on from another: its weights, what is kept and refused, and that it resumes."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.models.pgode.laws.small_laws import particles
from tests.models.pgode.laws.small_laws import trajectories as joined
from tests.runs.exchange import clinics
from tests.trained_runs import FRAMES, OBJECTS, data_file, springs, trained
from tests.training.test_resume import SignalAt, assert_same_run

import pgode
from pgode.data.simulate import simulate
from pgode.data.trajectories import Trajectories
from pgode.runs.continuation.origin import RATE
from pgode.runs.folder import read_normaliser, summary
from pgode.runs.laws import force_laws
from pgode.runs.run import Run
from pgode.runs.training import TrainingStopped, resume, train
from pgode.runtime.errors import InputError
from pgode.training.checkpoint import read_tensors
from pgode.training.config import run_config
from pgode.training.display import Display


class Saying(Display):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, sentence: str) -> None:
        self.said.append(sentence)


def others(**counts: int) -> Trajectories:
    """Systems that the tiny run has not seen."""
    sizes = {"train": 4, "val": 3, "test": 2, "ood": 0, **counts}
    return simulate("springs", objects=OBJECTS, frames=FRAMES, seed=9, **sizes)


def weights(folder: Path, name: str) -> dict[str, torch.Tensor]:
    tensors, _ = read_tensors(folder / f"checkpoints/{name}.safetensors")
    return {key: value for key, value in tensors.items() if key.startswith("model.")}


def gone_on(folder: Path, data: Trajectories | None = None, **options: Any) -> Run:
    options = {"start": trained(), "epochs": 2, **options}
    return pgode.train(others() if data is None else data, folder, **options)


def test_training_starts_from_the_weights_and_settings_of_the_run(tmp_path: Path) -> None:
    told = Saying()
    run = gone_on(tmp_path / "run", display=told)
    first, best = weights(run.folder, "start"), weights(trained().folder, "best")
    assert first.keys() == best.keys()
    assert all(torch.equal(first[name], best[name]) for name in best)
    last = weights(run.folder, "last")
    assert any(not torch.equal(last[name], best[name]) for name in best)
    assert run.config.model == trained().config.model
    assert run.config.window == trained().config.window
    before, now = trained().config.training, run.config.training
    assert now.learning_rate == pytest.approx(RATE * before.learning_rate)
    assert now.curriculum == () and now.epochs == 2 and now.batch == before.batch
    assert any("learning rate" in sentence for sentence in told.said)


def test_the_record_names_the_parent_and_info_shows_it(tmp_path: Path) -> None:
    run = gone_on(tmp_path / "run")
    parent = run.data.parent
    assert parent is not None
    assert parent.folder == str(trained().folder) and parent.data == springs().hash
    untouched = trained().evaluate(others(), splits=["val"], samples=0)
    assert len(parent.weights) == 64
    assert summary(run.folder)["goes on from"].startswith(f"{trained().folder}, weights")
    assert json.loads((run.folder / "data.json").read_text())["parent"] == parent.to_json()
    assert trained().data.parent is None and "goes on from" not in summary(trained().folder)
    again = gone_on(tmp_path / "again", start=run.folder)
    assert again.data.parent is not None and again.data.parent.folder == str(run.folder)
    assert again.config.training.learning_rate == run.config.training.learning_rate
    kept = gone_on(tmp_path / "kept", refit_scales=False).data.parent
    assert kept is not None
    features = untouched.mse.row("val", 6)
    assert kept.val_mse == pytest.approx(np.mean([features[name] for name in ("q", "v")]), rel=1e-4)


def test_scales_are_fitted_or_kept_as_asked_and_said(tmp_path: Path) -> None:
    faster = others()
    states = 2 * faster.states
    data = Trajectories(faster.dataset.assign(states=(faster.dataset["states"].dims, states)))
    told = Saying()
    kept = gone_on(tmp_path / "kept", data, refit_scales=False, display=told)
    assert read_normaliser(kept.folder) == trained().normaliser
    assert kept.data.parent is not None and kept.data.parent.scales == "kept"
    assert any(s.startswith("scales: those of the run are kept (as asked") for s in told.said)
    assert any("as far from the middle" in s for s in told.said)
    told = Saying()
    fitted = gone_on(tmp_path / "fitted", data, refit_scales=True, display=told)
    scaled = fitted.normaliser.states(data.split_of("train").states)
    assert np.abs(scaled).max() == pytest.approx(1.0)
    assert fitted.data.parent is not None and fitted.data.parent.scales == "refitted"
    assert any(s.startswith("scales: fitted to the new data (as asked") for s in told.said)


def test_scales_are_by_default_those_with_which_the_weights_forecast_better(tmp_path: Path) -> None:
    data = others()
    dims, alike = data.dataset["states"].dims, data.states
    for factor, expected in ((1.0, "kept"), (50.0, "refitted")):
        states = Trajectories(data.dataset.assign(states=(dims, factor * alike)))
        told = Saying()
        run = gone_on(tmp_path / str(factor), states, epochs=1, display=told)
        assert run.data.parent is not None and run.data.parent.scales == expected
        said = next(s for s in told.said if s.startswith("scales: "))
        chosen, other = re.findall(r"\d\.\d+e[+-]\d+", said)
        assert float(chosen) <= float(other)
        if expected == "kept":
            assert float(chosen) == pytest.approx(run.data.parent.val_mse, rel=1e-3)
            assert run.normaliser == trained().normaliser


@pytest.mark.parametrize("steps", [1, 3])
def test_a_run_that_goes_on_resumes_with_the_same_bits(steps: int, tmp_path: Path) -> None:
    reference = gone_on(tmp_path / "reference", settings={"training.batch": 2})
    source = tmp_path / "source"
    shutil.copytree(trained().folder, source)
    options = {"settings": {"training.batch": 2}, "display": SignalAt(steps)}
    with pytest.raises(TrainingStopped):
        gone_on(tmp_path / "run", start=source, **options)
    shutil.rmtree(source)  # What it goes on from is not needed any more.
    assert_same_run(resume(tmp_path / "run", others()).folder, reference.folder)


def test_a_run_killed_before_its_first_checkpoint_starts_from_the_same_weights(
    tmp_path: Path,
) -> None:
    reference = gone_on(tmp_path / "reference")
    shutil.copytree(reference.folder, tmp_path / "run")
    (tmp_path / "run/checkpoints/last.safetensors").unlink()
    with pytest.raises(InputError, match=r"last\.safetensors is missing: manifest\.json"):
        resume(tmp_path / "run", others())
    (tmp_path / "run/manifest.json").unlink()
    assert_same_run(resume(tmp_path / "run", others()).folder, reference.folder)


def test_weights_that_no_epoch_betters_are_kept(tmp_path: Path) -> None:
    told, changes = Saying(), {"training.learning_rate": 1.0, "training.schedule": "constant"}
    run = gone_on(tmp_path / "run", refit_scales=False, settings=changes, display=told)
    parent = run.data.parent
    assert parent is not None and min(row["val_mse"] for row in run.epochs) > parent.val_mse
    assert "no epoch had a lower validation error" in told.said[-1]
    assert "before training" in summary(run.folder)["best validation error"]
    expected = trained().forecast(others(), samples=0).mean
    np.testing.assert_array_equal(run.forecast(others(), samples=0).mean, expected)


def test_data_without_the_parameters_of_the_run_are_taken(tmp_path: Path) -> None:
    data = others()
    unknown = Trajectories(data.dataset.isel(parameter=[]))
    run = gone_on(tmp_path / "run", unknown)
    assert run.normaliser.parameters == trained().normaliser.parameters
    assert np.isfinite(run.forecast(unknown, samples=0).mean).all()


def pulled(power: float, **counts: int) -> Trajectories:
    """Four objects that pull each other by a power of their distance."""
    total = sum(counts.values())
    states = particles(lambda r: -2 * r ** (power - 1), systems=total, lag=True, seed=total)
    split = np.repeat(list(counts), list(counts.values()))
    return joined(states, split=split, time_units="s")


def test_laws_of_new_data_replace_known_ones_only_if_they_forecast_better(tmp_path: Path) -> None:
    changes = {"model.dynamics.prototypes": 1, "model.dynamics.ensemble": 1}
    changes |= {"window.condition": 6, "window.horizon": 6}
    first = pgode.train(pulled(1.0, train=8, val=2), tmp_path / "first", settings=changes)
    told, other = Saying(), pulled(0.5, train=2, val=2)
    run = pgode.train(other, tmp_path / "run", start=first, display=told)
    parent, distance = run.data.parent, np.array([0.5, 1.0, 2.0])
    assert parent is not None and run.epochs[0]["val_mse"] < 1e-9 < 1e-6 < parent.val_mse
    assert any("laws are searched for in the new data" in s for s in told.said)
    model = force_laws(run.model)
    assert model is not None
    np.testing.assert_allclose(model.laws()[0].force(distance), -2 * distance**0.5, rtol=1e-3)
    told, noise = Saying(), np.random.default_rng(0)
    few = pulled(1.0, train=1, val=3)
    spoilt = few.states + np.where(few.split == "train", 0.1, 0.0)[:, None, None, None] * (
        noise.normal(size=few.states.shape)
    )
    data = Trajectories(few.dataset.assign(states=(few.dataset["states"].dims, spoilt)))
    kept = pgode.train(data, tmp_path / "kept", start=first, display=told)
    assert "so the run keeps what" in told.said[-1]
    expected = first.forecast(data, samples=0).mean
    np.testing.assert_array_equal(kept.forecast(data, samples=0).mean, expected)
    with pytest.raises(InputError, match="has force laws, which are in units of its scales"):
        pgode.train(data, tmp_path / "new", start=first, refit_scales=True)


def test_a_model_that_comes_with_the_package_is_a_start(tmp_path: Path) -> None:
    data = simulate("springs", objects=4, frames=16, seed=7, train=2, val=1, test=0, ood=0)
    run = pgode.train(data, tmp_path / "run", start="springs-10", horizon=4)
    assert run.data.parent is not None and run.data.parent.folder == "springs-10"
    assert run.config.window.horizon == 4


@pytest.mark.parametrize("name", ["lstm", "nri", "hope"])
def test_rivals_go_on_too(name: str, tmp_path: Path) -> None:
    changes = {"window.condition": 6, "window.horizon": 3, "training.epochs": 1}
    first = pgode.train(springs(), tmp_path / "first", model=name, settings=changes)
    run = pgode.train(others(), tmp_path / "run", start=first)
    assert run.config.name == name and len(run.epochs) == 1


def test_changes_that_leave_shapes_alone_are_allowed(tmp_path: Path) -> None:
    changes = {"model.solver.method": "euler", "window.horizon": 4, "training.learning_rate": 2e-4}
    run = gone_on(tmp_path / "run", settings=changes, preset="messages", model="pgode", seed=5)
    assert run.config.model["solver"]["method"] == "euler"
    assert run.config.window.horizon == 4
    assert run.config.training.learning_rate == 2e-4 and run.config.training.seed == 5


@pytest.mark.parametrize(
    "options, says",
    [
        ({"settings": {"model.width": 4}}, "do not fit a model with another model.width. Exp"),
        (
            {"settings": {"model.width": 4, "model.solver.method": "euler"}},
            "with another model.width. Exp",
        ),
        ({"settings": {"model.dynamics": "single"}}, "model.dynamics.kind"),
        ({"model": "lstm"}, 'has the model "pgode"'),
        ({"preset": "paper"}, 'has the preset "messages"'),
        ({"start": "nowhere"}, "nowhere does not exist"),
        ({"settings": {"training.epoch": 1}}, 'mean "training.epochs"'),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else "",
)
def test_settings_that_contradict_the_run_are_refused(
    options: dict[str, Any], says: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=says):
        gone_on(tmp_path / "run", **options)
    assert not (tmp_path / "run/config.json").exists()


def changed(**variables: Any) -> Trajectories:
    data = others()
    return Trajectories(data.dataset.assign_coords(variables))


def test_data_of_another_kind_are_refused(tmp_path: Path) -> None:
    def refused(says: str, data: Trajectories, start: Run | None = None) -> None:
        with pytest.raises(InputError, match=says):
            gone_on(tmp_path / "run", data, start=start or trained())
        assert not (tmp_path / "run").exists() or not list((tmp_path / "run").rglob("*.*"))

    names = changed(feature=["px", "py", "vx", "vy"])
    refused("has the features px, py, vx, vy, but the model was trained on qx", names)
    told = clinics.run()
    refused("has the features qx", others(), told)
    plain = clinics.data()
    bare = Trajectories(plain.dataset.drop_vars(["constants", "constant"]))
    refused("has the constants \\(none\\), but .* trained on beds", bare, told)
    metres = Trajectories(plain.dataset.assign_coords(feature_units=("feature", ["dozens"])))
    unit = plain.dataset["feature_units"].values[0]
    if unit:
        refused("has the units dozens", metres, told)
    other = Trajectories(plain.dataset.assign_coords(feature_transform=("feature", ["sqrt"])))
    refused("has the transforms sqrt", other, told)
    none = plain.edges
    assert told.data.all_pairs
    fewer = none.edge_receiver < none.edge_sender
    sparse = Trajectories.build(
        plain.states,
        plain.times,
        edges=pgode.Edges(
            none.graph_system,
            none.graph_start,
            none.edge_graph[fewer],
            none.edge_receiver[fewer],
            none.edge_sender[fewer],
            none.edge_attributes[fewer],
        ),
        features=plain.features,
        observed=plain.observed,
        constants=plain.constants,
        constant_names=plain.constant_names,
        inputs=plain.inputs,
        input_names=plain.input_names,
        transforms=plain.transforms,
        split=plain.split,
        time_units=plain.time_units,
    )
    refused("do not join all pairs", sparse, told)


def test_data_of_the_same_kind_go_on_with_constants_and_inputs(tmp_path: Path) -> None:
    run = pgode.train(clinics.data(), tmp_path / "run", start=clinics.run(), epochs=1)
    assert run.normaliser.constants == ("beds",) and len(run.epochs) == 1


def test_a_naive_model_is_no_start(tmp_path: Path) -> None:
    config = run_config("last-value", changes={"window.condition": 6, "window.horizon": 3})
    naive = train(springs(), tmp_path / "naive", config)
    with pytest.raises(InputError, match="last-value, which has no weights to go on from"):
        gone_on(tmp_path / "run", start=naive)


def test_new_scales_without_a_run_to_go_on_from_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no run to go on from"):
        pgode.train(data_file(), tmp_path / "run", refit_scales=True)
