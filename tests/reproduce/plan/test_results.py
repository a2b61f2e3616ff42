"""Results of trials on disk."""

from pathlib import Path

import pytest

from pgode.reproduce.datasets.registry import DATASETS
from pgode.reproduce.plan.results import Result, read_result, result_file
from pgode.reproduce.plan.stored import StoredResult
from pgode.reproduce.plan.trials import Trial
from pgode.runtime.errors import InputError
from pgode.runtime.files import write_json
from pgode.runtime.stored.schema import parsed
from pgode.runtime.stored.sealed import read_sealed

KEPT = sorted(
    path
    for path in Path("benchmarks/results/reproduce/results").glob("*.json")
    if not path.name.startswith("cost-")
)


def test_every_kept_result_is_the_one_of_its_trial_and_survives_reading_and_writing():
    for path in KEPT:
        content = read_sealed(path, "")
        parsed(StoredResult, content, path.name, "")
        result = Result.from_json(content)
        assert result.trial.key == path.stem
        assert result.to_json() == content
        totals = result.totals is not None and result.totals.model.cells
        scored = result.evaluation is not None or bool(totals)
        # A training may diverge, whether it is scored or chooses a learning rate.
        assert scored == (not result.trial.tuning and not result.diverged)


def test_kept_results_have_the_horizons_of_their_data_sets():
    for path in KEPT:
        result = Result.from_json(read_sealed(path, ""))
        if result.evaluation is not None:
            assert result.evaluation.horizons == DATASETS[result.trial.dataset].horizons


def test_a_result_of_another_layout_is_refused(tmp_path):
    trial = Trial("springs", "smoke", "lstm")
    assert read_result(trial, tmp_path) is None
    write_json(result_file(trial, tmp_path), {"trial": trial.to_json(), "mse": {}})
    with pytest.raises(InputError, match=r"springs-lstm-.*Older versions have another layout"):
        read_result(trial, tmp_path)
