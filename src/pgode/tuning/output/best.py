"""The best run of a search as a run folder of its own, and its settings as a file."""

import json
import shutil
from pathlib import Path
from typing import Any

import yaml

from pgode.data.trajectories import Trajectories
from pgode.runs.data_record import DataRecord
from pgode.runs.training import resume
from pgode.runtime.files import replacing, write_json, write_text
from pgode.runtime.settings import merged
from pgode.training.config import nested
from pgode.tuning.result import Tuning
from pgode.tuning.trials.files import PLAN, read_trial, trial_folder

SETTINGS = "best.yaml"


def keep_best(tuning: Tuning, data: Trajectories) -> None:
    """Copy the best trial to `best` and calibrate it there, as pgode train would have done."""
    best, target = tuning.best, tuning.best_folder
    write_text(tuning.folder / SETTINGS, settings_text(tuning))
    if _is_kept(target, best.plan.index):
        return
    with replacing(target) as temporary:
        shutil.copytree(trial_folder(tuning.folder, best.plan.index), temporary)
        record = DataRecord.of(data, tuning.record.source, target)
        write_json(temporary / "data.json", record.to_json())
        resume(temporary, data)


def settings_text(tuning: Tuning) -> str:
    """The best settings as a file for pgode train --config."""
    best, config = tuning.best, tuning.record.config
    content: dict[str, Any] = {"name": config.name}
    for name, value in best.plan.values.items():
        content = merged(content, nested(name, value))
    head = (
        f"# The best of {len(tuning.trials)} trials, with a validation error of {best.error:.4g}.\n"
        f"# pgode train DATA -o RUN --preset {config.preset} --config {SETTINGS}\n"
    )
    return head + yaml.safe_dump(json.loads(json.dumps(content)), sort_keys=False)


def _is_kept(target: Path, index: int) -> bool:
    """Whether `best` is this trial already."""
    return (target / PLAN).exists() and read_trial(target).plan.index == index
