"""Effective numbers of prototypes, in the log and for users."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.trained_runs import trained

from pgode.cli.app import run_command
from pgode.runs import folder
from pgode.training.gate_use import GateUse


def test_even_weights_use_all_prototypes_and_one_alone_uses_one():
    even = GateUse.of(np.full((6, 4), 0.25))
    assert (even.per_object, even.overall) == pytest.approx((4, 4))
    alone = GateUse.of(np.eye(4)[[2, 2, 2]])
    assert (alone.per_object, alone.overall) == pytest.approx((1, 1))
    assert alone.is_collapsed and not even.is_collapsed
    assert even.difference == alone.difference == 0


def test_objects_that_prefer_different_prototypes_are_no_collapse():
    apart = GateUse.of(np.eye(4)[[0, 1, 2, 3]])
    assert (apart.per_object, apart.overall) == pytest.approx((1, 4))
    assert apart.difference == pytest.approx(3 / 4)
    assert not apart.is_collapsed


def test_a_log_of_an_earlier_version_is_read_without_the_difference():
    old = GateUse.from_json({"prototypes": 5, "per_object": 2.0, "overall": 3.0})
    assert old.difference is None
    assert old.text == "2.00 of 5 per object, 3.00 over all objects"


def test_one_prototype_leaves_nothing_to_choose():
    assert GateUse.of(np.ones((5, 1))) is None
    assert GateUse.of(np.ones((0, 3))) is None


def test_the_log_and_the_evaluation_of_a_run_say_it(capsys):
    run = trained()
    use = GateUse.from_json(run.epochs[-1]["gate"])
    assert use.prototypes == 2 and 1 <= use.per_object <= use.overall <= 2
    assert run_command(["info", str(run.folder), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["prototypes_in_use"] == use.per_object
    assert printed["prototypes_overall"] == use.overall
    assert printed["prototypes_difference"] == use.difference > 0
    assert (printed["model"], printed["prototypes"], printed["epochs"]) == ("pgode", 2, 3)
    assert "prototypes in use" in folder.summary(run.folder)


def test_a_collapsed_gate_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    collapsed = GateUse(5, 1.01, 1.02)
    monkeypatch.setattr(folder, "_has_laws", lambda path: False)
    monkeypatch.setattr(folder, "gate_use", lambda path: collapsed)
    assert "1.01 of 5 per object, 1.02 over all objects" in folder.gate_warning(tmp_path)
    monkeypatch.setattr(folder, "gate_use", lambda path: GateUse(5, 1.01, 3.0))
    assert folder.gate_warning(tmp_path) is None
    monkeypatch.setattr(folder, "gate_use", lambda path: collapsed)
    monkeypatch.setattr(folder, "_has_laws", lambda path: True)
    assert folder.gate_warning(tmp_path) is None  # There may be one kind of objects.


def test_data_is_described_as_json_too(capsys, tmp_path: Path):
    assert run_command(["info", str(trained().data.source or "springs-10"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)
