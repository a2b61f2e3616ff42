"""The files of a run folder: where they are, and how they are read and written.

Each is compared with the manifest of the run before its content is used.
"""

import json
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any

from pgode.batches.normaliser import Normaliser
from pgode.data.summary import per_system
from pgode.evaluation.evaluation import NoiseFloor
from pgode.evaluation.uncertainty.calibration import Calibration
from pgode.evaluation.uncertainty.joint_residuals import RESIDUALS_FILE, JointResiduals
from pgode.models import model_config
from pgode.runs.data_record import DataRecord
from pgode.runtime.errors import InputError
from pgode.runtime.files import replacing, write_json
from pgode.runtime.reading import Limits, decoded, mapping, parse_json
from pgode.runtime.settings import validated
from pgode.runtime.stored.checking import is_present, read_listed
from pgode.runtime.stored.manifest import announce, changes
from pgode.training import RunConfig
from pgode.training.checkpoint import FORMAT, OutdatedRunError, check_format
from pgode.training.config import check_parts, with_implied
from pgode.training.gate_use import GateUse
from pgode.training.metrics import LOG, TABLE, read_metrics

PRETRAINED = Path(__file__).parent / "pretrained"
NOISE_FLOOR_FILE = "noise_floor.json"

TRAINED = (
    "checkpoints/best.safetensors",
    "checkpoints/last.safetensors",
    LOG,
    TABLE,
    "calibration.json",
    RESIDUALS_FILE,
)
"""Files that a training replaces, its calibration included."""
LIMITS = Limits(size=2**26, nodes=3_000_000)
"""A calibration of long horizons and many features has millions of numbers."""


def find_run(folder: Path | str) -> Path:
    """The run folder at a path, or that of the shipped model with this name."""
    path = Path(folder)
    if (path / "config.json").is_file():
        return path
    if (PRETRAINED / str(folder) / "config.json").is_file():
        return PRETRAINED / str(folder)
    shipped = sorted(p.name for p in PRETRAINED.glob("*/") if (p / "config.json").exists())
    problem = "is not a run folder (it has no config.json)" if path.exists() else "does not exist"
    raise InputError(
        f"{folder} {problem}. Expected a folder that pgode train wrote, or a model that comes with "
        f"pgode: {', '.join(shipped) or 'none'}. Check the path, or train one with pgode train."
    )


def is_shipped(path: Path) -> bool:
    """Whether a run folder belongs to the package, so that nothing may be written into it."""
    return path.parent == PRETRAINED


def source_of(folder: Path | str) -> Path:
    """The data file a run was trained on, from any folder; an error if it no longer exists."""
    path = find_run(folder)
    record = read_data(path)
    found = next((place for place in record.places(path) if place.exists()), None)
    if found is None:
        where = f"on {record.source}, which no longer exists"
        where = where if record.source else "on data without a file"
        raise InputError(
            f"the run {folder} was trained {where}. Expected a data file. Name one: --data FILE, "
            f"or pgode train FILE --resume {folder}."
        )
    here = Path(record.source)
    # As the user wrote it, where that is the same file.
    return here if here.exists() and here.samefile(found) else found


def summary(folder: Path | str) -> dict[str, str]:
    """The rows that `pgode info` shows of a run."""
    path = find_run(folder)
    config, data = read_config(path), read_data(path)
    rows = {
        "run": str(path.resolve()),
        "model": f"{config.name} (preset {config.preset})",
        "condition, horizon": f"{config.window.condition}, {config.window.horizon} frames",
        "data": f"{data.source or data.generator or 'arrays'}, hash {data.hash[:12]}",
        "systems": ", ".join(f"{count} {name}" for name, count in data.systems.items()),
        "objects": per_system(data.fewest_objects or data.objects, data.objects, "object"),
    }
    if data.parent is not None:
        rows["goes on from"] = data.parent.text
        rows["validation error before"] = f"{data.parent.val_mse:.3e}"
    epochs = read_metrics(path)
    if epochs:
        best = min(epochs, key=lambda row: float(row["val_mse"]))
        rows["trained"] = f"{epochs[-1]['epoch']} of {config.training.epochs} epochs"
        rows["time"] = f"{epochs[-1]['seconds'] / 60:.1f} minutes"
        rows["best validation error"] = f"{best['val_mse']:.3e} at epoch {best['epoch']}"
        if data.parent is not None and not best["val_mse"] < data.parent.val_mse:
            rows["best validation error"] = f"{data.parent.val_mse:.3e} before training"
        for encoder, norms in epochs[-1].get("gradients", {}).items():
            pulls = ", ".join(f"{term} {norm:.1e}" for term, norm in norms.items())
            rows[f"gradients on the {encoder} encoder"] = pulls
    use = gate_use(path)
    if use is not None:
        rows["prototypes in use"] = use.text
    rows["calibrated"] = "yes" if is_present(path, "calibration.json") else "no"
    return rows


def facts(folder: Path | str) -> dict[str, Any]:
    """What `pgode info --json` prints of a run: plain numbers and text, None where unknown."""
    path = find_run(folder)
    config, data, epochs, use = (
        read_config(path),
        read_data(path),
        read_metrics(path),
        gate_use(path),
    )
    best = min(epochs, key=lambda row: float(row["val_mse"])) if epochs else None
    return {
        "run": str(path.resolve()),
        "model": config.name,
        "preset": config.preset,
        "condition": config.window.condition,
        "horizon": config.window.horizon,
        "data": data.to_json(),
        "epochs": epochs[-1]["epoch"] if epochs else 0,
        "seconds": epochs[-1]["seconds"] if epochs else None,
        "best_epoch": best["epoch"] if best else None,
        "best_validation_error": best["val_mse"] if best and isfinite(best["val_mse"]) else None,
        "gradients": epochs[-1].get("gradients") if epochs else None,
        "prototypes": use.prototypes if use else None,
        "prototypes_in_use": use.per_object if use else None,
        "prototypes_overall": use.overall if use else None,
        "prototypes_difference": use.difference if use else None,
        "calibrated": is_present(path, "calibration.json"),
    }


def gate_use(path: Path) -> GateUse | None:
    """How many prototypes were in use after the last epoch; None if the log does not say."""
    last = next(reversed(read_metrics(path)), None)
    return GateUse.from_json(last["gate"]) if last and "gate" in last else None


def gate_warning(path: Path) -> str | None:
    """A sentence if the gate of a run uses hardly more than one prototype."""
    use = gate_use(path)
    if use is None or not use.is_collapsed or _has_laws(path):
        return None
    return (
        f"the gate has collapsed to nearly one prototype ({use.text}), so the mixture does not do "
        f"more than a single one. Try another seed, or train with model.dynamics.prototypes=1."
    )


def _has_laws(path: Path) -> bool:
    """Whether prototypes are kinds of objects, of which there may be just one in the data."""
    dynamics = read_config(path).model.get("dynamics")
    return isinstance(dynamics, dict) and dynamics.get("kind") == "laws"


def read_config(path: Path) -> RunConfig:
    """The settings of a run."""
    content = _read(path, "config.json")
    file = path / "config.json"
    try:
        is_run = {"name", "model"} <= content.keys()
        check_format(content.pop("format", 1 if is_run else FORMAT), file)
        content = with_implied(content, _roles(path))
        check_parts(content, file)
        config = validated(RunConfig, content, "")
        _check_complete(content)
        model_config(config.name, config.model)
    except OutdatedRunError:
        raise
    except DAMAGE as error:
        raise damaged("read", file, error) from None
    return config


def _check_complete(content: dict[str, Any]) -> None:
    """Refuse settings of a run that are left out: their defaults may be other ones."""
    groups = [group for group in ("name", "model", "window", "training") if group not in content]
    window = content.get("window", {})
    frames = [f"window.{each}" for each in ("condition", "horizon") if each not in window]
    if missing := groups or frames:
        raise ValueError(f"it lacks {' and '.join(missing)}")


def _roles(path: Path) -> list[str] | None:
    """The roles of a run's features; None if they are not known, which others complain about."""
    try:
        roles = _read(path, "normaliser.json").get("roles")
    except InputError:
        return None
    return [str(role) for role in roles] if isinstance(roles, list) else None


def write_config(path: Path, config: RunConfig) -> None:
    """Write the settings of a run, and the format of its folder: from then on it is a run.

    Its manifest is there before, so that no kill leaves a run without one.
    """
    content = {"format": FORMAT, **config.model_dump(mode="json")}
    with replacing(path / "config.json") as temporary:
        temporary.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n", "utf-8")
        announce(path, {"config.json": temporary}, TRAINED)


def read_normaliser(path: Path) -> Normaliser:
    """The scales of the data a run was trained on."""
    return Normaliser.from_json(_read(path, "normaliser.json"), str(path / "normaliser.json"))


def read_data(path: Path) -> DataRecord:
    """The record of the data a run was trained on."""
    return DataRecord.from_json(_read(path, "data.json"), str(path / "data.json"))


def read_calibration(path: Path, features: int | None = None) -> Calibration | None:
    """The calibration of a run with its joint residuals; None if the run has none.

    It must be of as many features as the model has, if that is known.
    """
    if not is_present(path, "calibration.json"):
        return None
    where = str(path / "calibration.json")
    calibration = Calibration.from_json(_read(path, "calibration.json"), where, features)
    return replace(calibration, joint=JointResiduals.read(path))


def write_calibration(path: Path, calibration: Calibration) -> None:
    """Write a calibration, and remove joint residuals of an earlier one."""
    with changes(path, "calibration.json", RESIDUALS_FILE):
        if calibration.joint is None:
            (path / RESIDUALS_FILE).unlink(missing_ok=True)
        else:
            calibration.joint.write(path)
        write_json(path / "calibration.json", calibration.to_json())


def read_noise_floor(path: Path) -> NoiseFloor | None:
    """The noise floor of the last evaluation with replicas; None if there was none."""
    if not (path / NOISE_FLOOR_FILE).exists():  # Whoever removed it gets a report without.
        return None
    return NoiseFloor.from_json(_read(path, NOISE_FLOOR_FILE), str(path / NOISE_FLOOR_FILE))


def write_noise_floor(path: Path, floor: NoiseFloor) -> None:
    """Keep a noise floor in a run folder, for its report."""
    with changes(path, NOISE_FLOOR_FILE):
        write_json(path / NOISE_FLOOR_FILE, floor.to_json())


def weights_file(path: Path) -> Path:
    """The weights to forecast with: those with the lowest validation error.

    A run that is shared without its checkpoints has them as `model.safetensors`.
    """
    for name in ("model", "checkpoints/best", "checkpoints/last"):
        if is_present(path, f"{name}.safetensors"):
            return path / f"{name}.safetensors"
    raise InputError(
        f"{path} has no trained weights yet. Expected checkpoints/best.safetensors, which the "
        f"first epoch writes. Continue the run with pgode train --resume {path}."
    )


def _read(path: Path, name: str) -> dict[str, Any]:
    """The entries of a JSON file of a run folder; a schema names those that are not finite."""
    where = str(path / name)
    text = decoded(read_listed(path, name), where)
    content = parse_json(text, where, LIMITS, allow_nan=True)
    return mapping(content, where, "", "the file that pgode train wrote there")


DAMAGE = (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError)
"""Exceptions that content of the wrong form causes."""


def damaged(action: str, path: Path, error: Exception) -> InputError:
    """The error for a file of a run that cannot be used."""
    detail = f"it lacks {error}" if isinstance(error, KeyError) else str(error).rstrip(".")
    return InputError(
        f"cannot {action} {path}: {detail}. Expected the file that pgode train wrote there. "
        f"Restore it, or train again."
    )
