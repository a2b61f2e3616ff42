"""Runs are measured from Python: names, data, progress and what is refused."""

import shutil
from pathlib import Path

import pytest
from tests.trained_runs import CONDITION, data_file, springs, trained

from pgode.evaluation.robustness.measure import measure_model
from pgode.evaluation.robustness.perturbation import Perturbations
from pgode.runs.robustness import measure_robustness
from pgode.runtime.errors import InputError

QUICK = Perturbations(2, (0.01,), draws=1)


def test_a_run_is_measured_on_the_given_data_or_on_its_own() -> None:
    folder = trained().folder
    result = measure_robustness([folder], springs(), split="ood", perturbations=QUICK)
    assert (result.data, result.data_hash) == ("the given data", springs().hash)
    assert (result.systems, result.split, result.horizons) == (3, "ood", (2,))
    (run,) = result.runs
    assert (run.name, run.run, run.model) == (folder.name, str(folder), "pgode")
    expected = measure_model(trained().model, springs().split_of("ood"), CONDITION, QUICK)
    assert (run.forecast, run.state, run.lipschitz, run.bound) == (
        *(expected.forecast, expected.state, expected.lipschitz, expected.bound),
    )
    own = measure_robustness([folder], split="ood", perturbations=QUICK)
    assert own.data == str(data_file()) and own.runs == result.runs


def test_runs_that_share_a_folder_name_are_named_as_given(tmp_path: Path) -> None:
    folders = [str(tmp_path / parent / "run") for parent in ("a", "b")]
    for folder in folders:
        shutil.copytree(trained().folder, folder)
    progress: list[tuple[str, float]] = []
    result = measure_robustness(
        folders,
        springs(),
        perturbations=QUICK,
        on_progress=lambda run, share: progress.append((run, share)),
    )
    assert [run.name for run in result.runs] == folders
    for folder in folders:
        shares = [share for run, share in progress if run == folder]
        assert shares == sorted(shares) and (shares[0], shares[-1]) == (0, 1)


def test_no_run_and_a_run_given_twice_are_refused() -> None:
    folder = trained().folder
    with pytest.raises(InputError, match="no run was given"):
        measure_robustness([], springs())
    with pytest.raises(InputError, match="given twice"):
        measure_robustness([folder, f"{folder}/"], springs())
