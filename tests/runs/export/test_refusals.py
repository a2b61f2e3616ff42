"""Exports that need more memory than there is are refused before they are made."""

from pathlib import Path

import pytest
from tests.trained_runs import CONDITION, springs, trained

from pgode.batches.normaliser import Normaliser
from pgode.models import build_model, model_config
from pgode.runs.export.exporting import export_run
from pgode.runs.export.refusals import check_memory
from pgode.runs.export.signature import Signature
from pgode.runtime.errors import InputError


def test_states_of_the_comparison_are_counted_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGODE_MEMORY", "1MB")
    with pytest.raises(InputError) as caught:
        export_run(trained(), tmp_path / "model.pt2", until=90_000, data=springs())
    assert "objects over 90000 frames needs about" in str(caught.value)
    assert "but 1 MB are free" in str(caught.value) and "--until" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_is_unrolled_is_refused_by_its_operations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = build_model("gru", model_config("gru", {"width": 8}), Normaliser.fit(springs())).eval()
    monkeypatch.setenv("PGODE_MEMORY", "1GB")
    with pytest.raises(InputError) as caught:
        check_memory(model, Signature.of(model, CONDITION, 50_000), 2, ".onnx")
    assert "a program of 50000 frames with 7 operations each needs about 24.5 GB" in str(
        caught.value
    )
    check_memory(model, Signature.of(model, CONDITION, 500), 2, ".onnx")


def test_a_model_whose_program_does_not_grow_is_not_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PGODE_MEMORY", "1GB")
    model = trained().model
    check_memory(model, Signature.of(model, CONDITION, 50_000), 2, ".onnx")
