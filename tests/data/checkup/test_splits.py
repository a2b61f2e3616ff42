"""Splits: missing ones, and leaks from one into another."""

import numpy as np
from tests.data.checkup.made import SPLIT, arrays, built, series, subject

from pgode.data.checkup.checks import splits
from pgode.data.trajectories import Trajectories


def test_clean_splits_give_no_finding():
    for check in (splits.missing_splits, splits.shared_frames, splits.continued_series):
        assert check(subject()) == []


def test_without_validation_and_test_there_are_two_warnings():
    found = splits.missing_splits(subject(built(split=None)))
    assert [(f.severity, f.text.split(":")[0]) for f in found] == [
        ("warning", "no validation split"),
        ("warning", "no test split"),
    ]


def test_without_training_systems_there_is_a_problem():
    (found,) = splits.missing_splits(subject(built(split=["test"] * 40)))
    assert found.severity == "problem" and "no system is for training" in found.text


def test_a_copy_in_another_split_is_a_leak():
    given = arrays()["states"]
    given[36] = given[3]
    (found,) = splits.shared_frames(subject(built(states=given)))
    assert (found.severity, found.check) == ("problem", "leak")
    assert found.text == "walk 36 (test) and walk 3 (train) hold the same frames."


def test_overlapping_windows_in_two_splits_are_a_leak():
    given = arrays()["states"]
    given[36, :, :20] = given[3, :, 40:]
    (found,) = splits.shared_frames(subject(built(states=given)))
    assert (found.severity, found.check) == ("problem", "leak")
    assert "hold 20 frames in common" in found.text


def test_a_copy_in_the_same_split_is_a_warning():
    given = arrays()["states"]
    given[5] = given[3]
    (found,) = splits.shared_frames(subject(built(states=given)))
    assert (found.severity, found.check) == ("warning", "duplicated systems")


def test_a_common_start_and_a_common_rest_are_no_copies():
    given = arrays()["states"]
    given[:, :, :2] = given[:1, :, :2]
    given[:, :, 50:] = 0.0
    assert splits.shared_frames(subject(built(states=given))) == []


def test_small_counts_that_agree_by_chance_are_no_copies():
    counts = np.random.default_rng(0).integers(0, 4, (60, 1, 80, 1)).astype(float)
    data = Trajectories.build(
        counts,
        np.arange(80),
        edges=np.zeros((60, 1, 1)),
        features=("n",),
        split=["train"] * 40 + ["test"] * 20,
    )
    assert splits.shared_frames(subject(data)) == []


def test_a_series_that_goes_on_in_another_split_is_a_note():
    given = arrays()
    step, long = 0.1, np.arange(180)
    path = np.sin(0.05 * long + np.arange(4)[:, None])
    parts = np.stack([path[:, k : k + 60] for k in (0, 60, 120)])[..., None]
    times = step * np.stack([long[k : k + 60] for k in (0, 60, 120)])
    data = Trajectories.build(
        parts, times, edges=given["edges"][:3], features=("level",), split=["train", "val", "test"]
    )
    (found,) = splits.continued_series(subject(data))
    assert found.severity == "note"
    assert found.text.startswith("system 0 (train) goes on as system 1 (val) without a gap")
    apart = Trajectories.build(
        parts,
        times + np.array([[0], [3], [6]]),
        edges=given["edges"][:3],
        features=("level",),
        split=["train", "val", "test"],
    )
    assert splits.continued_series(subject(apart)) == []


def test_one_system_alone_is_no_error():
    checked = series(np.random.default_rng(0).random((3, 50)))
    assert splits.shared_frames(checked) == splits.continued_series(checked) == []
    assert len(SPLIT) == 40
