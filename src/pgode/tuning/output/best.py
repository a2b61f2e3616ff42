"""The best run of a search as a run folder of its own, and its settings as a file."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from pgode.data.trajectories import Trajectories
from pgode.runs.data_record import DataRecord
from pgode.runs.training import resume
from pgode.runtime.files import replacing, write_json, write_text
from pgode.runtime.stored.manifest import changes
from pgode.training.config import run_config
from pgode.tuning.result import Tuning
from pgode.tuning.trials.files import PLAN, read_trial, trial_folder

SETTINGS = "best.yaml"


def keep_best(tuning: Tuning, data: Trajectories) -> None:
    """Copy the best trial to `best` and calibrate it there, as pgode train would have done."""
    best, target = tuning.best, tuning.best_folder
    write_text(tuning.folder / SETTINGS, settings_text(tuning))
    if _is_kept(target, best.plan.index):
        return
    for left in tuning.folder.glob(f".{target.name}.*"):  # By a process that was killed.
        shutil.rmtree(left)
    with replacing(target) as temporary:
        shutil.copytree(trial_folder(tuning.folder, best.plan.index), temporary)
        record = DataRecord.of(data, tuning.record.source, target)
        with changes(temporary, "data.json"):
            write_json(temporary / "data.json", record.to_json())
        resume(temporary, data)


def settings_text(tuning: Tuning) -> str:
    """What the best trial has different from its preset, as a file for pgode train --config."""
    best, config = tuning.best, tuning.record.config
    preset = run_config(config.name, config.preset).model_dump(mode="json")
    content = {"name": config.name, **_changes(preset, best.plan.config)}
    content.pop("preset", None)
    for of_the_machine in ("threads", "processes"):
        content.get("training", {}).pop(of_the_machine, None)
    head = (
        f"# The best of {len(tuning.trials)} trials, with a validation error of {best.error:.4g}.\n"
        f"# pgode train DATA -o RUN --preset {config.preset} --config {SETTINGS}\n"
    )
    return head + yaml.safe_dump(content, sort_keys=False)


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that differ, group by group; a group of another kind is given in full."""
    changes: dict[str, Any] = {}
    for key, value in after.items():
        old = before.get(key)
        if isinstance(value, dict) and isinstance(old, dict) and _kind(value) == _kind(old):
            if inner := _changes(old, value):
                changes[key] = inner
        elif value != old:
            changes[key] = value
    return changes


def _kind(group: Mapping[str, Any]) -> Any:
    return group.get("kind")


def _is_kept(target: Path, index: int) -> bool:
    """Whether `best` is this trial already."""
    return (target / PLAN).exists() and read_trial(target).plan.index == index
