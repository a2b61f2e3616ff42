"""A search as a whole, on small real trainings: its results, its files, and going on with it."""

import json

import pytest
from tests.trained_runs import springs
from tests.tuning.conftest import run_here

import pgode
from pgode.data import files
from pgode.runs.run import Run
from pgode.runtime.engines import ENGINES
from pgode.runtime.errors import InputError
from pgode.training.config import run_config
from pgode.tuning.trials.files import read_trials, trial_folder


def errors(tuning):
    return [trial.result.errors for trial in tuning.trials]


def values(tuning):
    return [trial.plan.values for trial in tuning.trials]


def test_trials_are_complete_or_pruned_and_the_best_has_the_lowest_error(searched):
    counts = searched.counts
    assert counts["complete"] + counts["pruned"] == 10 and counts["pruned"] > 0
    lowest = min(trial.error for trial in searched.trials if trial.complete)
    assert searched.best.error == lowest == min(searched.best.result.errors)
    for trial in searched.trials:
        assert (
            len(trial.result.errors) == 4 if trial.complete else 2 <= len(trial.result.errors) < 4
        )
        assert trial.result.parameters > 0
    assert set(searched.importance) == set(searched.record.space)


def test_the_best_run_can_be_evaluated_and_is_the_trial(searched):
    run = searched.run
    best = searched.best
    assert run.config.model["width"] == best.plan.values["model.width"]
    assert run.config.training.learning_rate == best.plan.values["training.learning_rate"]
    assert [row["val_mse"] for row in run.epochs] == list(best.result.errors)
    assert run.calibration is not None
    scores = run.evaluate(springs(), horizons=[6], samples=0, splits="val")
    assert scores.mse.at("val", 6, "q") > 0
    assert run.data.places(run.folder)[0].samefile(searched.folder / "data.nc")


def test_the_best_settings_are_a_config_for_train(searched):
    config = run_config("gru", "default", searched.folder / "best.yaml")
    expected = searched.run.config
    assert config.model == expected.model
    assert config.window.horizon == expected.window.horizon
    assert config.training == expected.training.model_copy(
        update={"threads": None, "processes": None}
    )


def test_only_the_best_keeps_its_weights(searched):
    kept = [
        trial.plan.index
        for trial in searched.trials
        if (trial_folder(searched.folder, trial.plan.index) / "checkpoints").exists()
    ]
    assert kept == [searched.best.plan.index]


def test_weights_of_all_trials_are_kept_if_wanted(tmp_path, small_tune, small_space):
    tuning = small_tune(tmp_path / "t", small_space, trials=2, keep_all=True)
    for trial in tuning.trials:
        Run.open(trial_folder(tuning.folder, trial.plan.index))


def test_a_seed_gives_the_same_search_and_more_trials_continue_it(
    tmp_path, small_tune, small_space, searched
):
    """The longer search goes through the same trials, although it was made in three parts."""
    folder = tmp_path / "t"
    for trials in (1, 7, 10):
        tuning = small_tune(folder, small_space, trials=trials, epochs=4)
        assert len(tuning.trials) == trials
    assert values(tuning) == values(searched)
    assert errors(tuning) == errors(searched)
    assert tuning.importance == searched.importance


def test_a_finished_search_is_not_run_again(tmp_path, small_tune, small_space):
    folder = tmp_path / "t"
    first = small_tune(folder, small_space)
    before = {path: path.stat().st_mtime_ns for path in folder.glob("trials/*/*.json")}
    best = (folder / "best" / "config.json").stat().st_mtime_ns
    again = small_tune(folder, small_space, trials=2)  # fewer than there are
    assert errors(again) == errors(first)
    assert {path: path.stat().st_mtime_ns for path in folder.glob("trials/*/*.json")} == before
    assert (folder / "best" / "config.json").stat().st_mtime_ns == best


def test_a_trial_without_result_is_run_again_and_a_lost_database_is_made_again(
    tmp_path, small_tune, small_space
):
    folder = tmp_path / "t"
    first = small_tune(folder, small_space)
    (folder / "study.db").unlink()
    (trial_folder(folder, 1) / "result.json").unlink()
    again = small_tune(folder, small_space)
    assert errors(again) == errors(first)
    assert (folder / "study.db").exists()


def test_the_preset_is_the_first_trial_of_the_default_space(tmp_path, small_tune):
    tuning = small_tune(tmp_path / "t", None, trials=2, settings={"window.condition": 6})
    assert tuning.preset is tuning.trials[0]
    assert values(tuning)[0] == {
        "training.learning_rate": 1e-3,
        "training.weight_decay": 1e-3,
        "training.batch": 16,
        "model.width": 128,
        "model.layers": 1,
    }


def test_force_laws_are_searched_without_epochs(tmp_path):
    path = tmp_path / "space.yaml"
    path.write_text("model.dynamics.ensemble: [1, 2]\n")
    tuning = pgode.tune(
        springs(),
        tmp_path / "t",
        trials=9,
        space=path,
        engine="here",
        horizon=6,
        settings={"window.condition": 6, "model.dynamics.prototypes": 1},
    )
    assert tuning.record.config.preset == "default"
    assert tuning.record.config.model["dynamics"]["messages"] is False
    assert tuning.exhausted and len(tuning.trials) == 2
    assert [len(each) for each in errors(tuning)] == [1, 1]
    assert tuning.best.error < 1e-4


def test_settings_that_contradict_each_other_fail_alone(tmp_path, small_tune):
    path = tmp_path / "space.yaml"
    path.write_text("model: {width: [8, 12], heads: [2, 4, 8]}\n")  # 8 heads do not divide 12
    base = tmp_path / "base.yaml"
    base.write_text("model: {layers: 1, latent: 4}\n")
    tuning = small_tune(
        tmp_path / "t", path, model="agentformer", trials=6, epochs=1, config=base, settings={}
    )
    failed = [trial for trial in tuning.trials if trial.result.state == "failed"]
    assert [trial.plan.values for trial in failed] == [{"model.width": 12, "model.heads": 8}]
    assert "heads" in failed[0].result.reason
    assert tuning.counts == {"complete": 5, "pruned": 0, "failed": 1}


def test_a_search_in_which_everything_fails_ends_soon(tmp_path, small_tune):
    path = tmp_path / "space.yaml"
    path.write_text("training.learning_rate: {low: 1.0e+14, high: 9.0e+14}\n")
    with pytest.raises(InputError, match=r"the first 3 trials all failed.*no finite loss"):
        small_tune(tmp_path / "t", path, trials=20, epochs=20)
    assert len(read_trials(tmp_path / "t")) == 3


def test_a_trial_whose_process_is_lost_is_tried_again_by_the_next_start(
    tmp_path, small_tune, small_space, monkeypatch
):
    def losing(tasks, jobs, threads, watcher):
        for task in tasks:
            if task.name == "1":
                watcher.failed(task, "it was killed")
            else:
                run_here([task], jobs, threads, watcher)

    monkeypatch.setitem(ENGINES, "losing", losing)
    folder = tmp_path / "t"
    first = small_tune(folder, small_space, engine="losing")
    assert [trial.plan.index for trial in first.trials] == [0, 2]
    assert first.lost == {1: "it was killed"}
    again = small_tune(folder, small_space)
    assert [trial.plan.index for trial in again.trials] == [0, 1, 2]
    assert errors(again)[::2] == errors(first) and not again.lost


def test_a_search_without_a_complete_trial_says_why(tmp_path, small_tune):
    path = tmp_path / "space.yaml"
    path.write_text("training.learning_rate: {low: 1.0e+14, high: 9.0e+14}\n")
    with pytest.raises(InputError, match=r"no trial in .* no finite loss"):
        small_tune(tmp_path / "t", path, trials=1, epochs=20)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"data": "other"}, ["have the hash", "those given now"]),
        ({"model": "lstm"}, ['its model is "gru"', 'given now "lstm"']),
        ({"epochs": 3}, ["its training.epochs is 2", "given now 3"]),
        ({"seed": 1}, ["its training.seed is 0"]),
        ({"space": "other"}, ["its space has model.width"]),
        ({"prune": False}, ["it was started with pruning"]),
    ],
    ids=str,
)
def test_a_search_of_something_else_is_refused(tmp_path, small_tune, small_space, changes, words):
    folder = tmp_path / "t"
    small_tune(folder, small_space, trials=1)
    before = (folder / "tuning.json").read_bytes()
    other = tmp_path / "other.yaml"
    other.write_text(small_space.read_text().replace("[4, 6, 8]", "[4, 6]"))
    if changes.get("data"):
        files.write(springs().select(springs().split != "ood"), tmp_path / "other.nc")
        changes = {"data": tmp_path / "other.nc"}
    space = other if changes.get("space") else small_space
    options = {key: value for key, value in changes.items() if key != "space"}
    with pytest.raises(InputError) as caught:
        small_tune(folder, space, trials=1, **options)
    for each in ("holds a search of something else", *words, "another folder with -o"):
        assert each in str(caught.value)
    assert (folder / "tuning.json").read_bytes() == before


def test_a_folder_with_other_content_is_refused(tmp_path, small_tune, small_space):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"the folder holds notes.txt"):
        small_tune(tmp_path, small_space)
    with pytest.raises(InputError, match=r"a file of that name"):
        small_tune(tmp_path / "notes.txt", small_space)


def test_a_damaged_record_is_named(tmp_path, small_tune, small_space):
    folder = tmp_path / "t"
    small_tune(folder, small_space, trials=1)
    content = json.loads((folder / "tuning.json").read_text())
    del content["space"]
    (folder / "tuning.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"tuning\.json was damaged or edited"):
        small_tune(folder, small_space, trials=1)
    del content["sha256"]  # As an earlier version wrote it.
    (folder / "tuning.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match=r'tuning\.json .* lacks the entry "space"'):
        small_tune(folder, small_space, trials=1)
