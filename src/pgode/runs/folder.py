"""What is in a run folder, and how to find and read it. `pgode.runs.run` gives it a meaning."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError
from pgode.runtime.settings import validated
from pgode.training import RunConfig
from pgode.training.metrics import read_metrics

PRETRAINED = Path(__file__).parent / "pretrained"

Content = TypeVar("Content")


def find_run(folder: Path | str) -> Path:
    """The run folder that a path or the name of a shipped model means."""
    path = Path(folder)
    if (path / "config.json").is_file():
        return path
    if (PRETRAINED / str(folder) / "config.json").is_file():
        return PRETRAINED / str(folder)
    shipped = sorted(p.name for p in PRETRAINED.glob("*/") if (p / "config.json").exists())
    what = "is not a run folder (it has no config.json)" if path.exists() else "does not exist"
    raise InputError(
        f"{folder} {what}. Expected a folder that pgode train wrote, or a model that comes with "
        f"pgode: {', '.join(shipped) or 'none'}. Check the path, or train one with pgode train."
    )


def source_of(folder: Path | str) -> Path:
    """The data file a run was trained on, if it is still where it was."""
    path = find_run(folder)
    source = read_data(path)["source"]
    if not source or not Path(source).exists():
        where = f"from {source}, which is not there now" if source else "on data without a file"
        raise InputError(
            f"the run {folder} was trained {where}. Expected a data file. Name one: --data FILE, "
            f"or pgode train FILE --resume {folder}."
        )
    return Path(source)


def describe(data: Trajectories, source: str) -> dict[str, Any]:
    """What a run remembers of its data."""
    attributes = data.dataset.attrs
    return {
        "source": source,
        "hash": data.hash,
        "generator": attributes["generator"],
        "generator_settings": attributes["generator_settings"],
        "systems": {name: int((data.split == name).sum()) for name in sorted(set(data.split))},
        "objects": data.objects,
        "frames": data.frames,
    }


def summary(folder: Path | str) -> dict[str, str]:
    """What `pgode info` says about a run."""
    path = find_run(folder)
    config, data = read_config(path), read_data(path)
    rows = {
        "run": str(path.resolve()),
        "model": f"{config.name} (preset {config.preset})",
        "condition, horizon": f"{config.window.condition}, {config.window.horizon} frames",
        "data": f"{data['source'] or data['generator'] or 'arrays'}, hash {data['hash'][:12]}",
        "systems": ", ".join(f"{count} {name}" for name, count in data["systems"].items()),
        "objects": str(data["objects"]),
    }
    epochs = read_metrics(path)
    if epochs:
        best = min(epochs, key=lambda row: float(row["val_mse"]))
        rows["trained"] = f"{len(epochs)} of {config.training.epochs} epochs"
        rows["time"] = f"{epochs[-1]['seconds'] / 60:.1f} minutes"
        rows["best validation error"] = f"{best['val_mse']:.3e} at epoch {best['epoch']}"
    rows["calibrated"] = "yes" if (path / "calibration.json").exists() else "no"
    return rows


def read_config(path: Path) -> RunConfig:
    """The settings of a run."""
    return read_part(path, "config.json", lambda content: validated(RunConfig, content, ""))


def read_data(path: Path) -> dict[str, Any]:
    """What a run remembers of its data, see `describe`."""
    keys = ("source", "hash", "generator", "systems", "objects")
    return read_part(
        path, "data.json", lambda content: {**content, **{k: content[k] for k in keys}}
    )


def read_part(path: Path, name: str, parsed: Callable[[dict[str, Any]], Content]) -> Content:
    """A file of a run folder, as what it means."""
    try:
        return parsed(json.loads((path / name).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, KeyError) as error:
        detail = f"it lacks {error}" if isinstance(error, KeyError) else str(error).rstrip(".")
        raise InputError(
            f"cannot read {path / name}: {detail}. Expected the file that pgode train wrote there. "
            f"Restore it, or train again."
        ) from None


def weights_file(path: Path) -> Path:
    """The weights to forecast with: those that were best on validation."""
    for name in ("model", "checkpoints/best", "checkpoints/last"):
        if (found := path / f"{name}.safetensors").exists():
            return found
    raise InputError(
        f"{path} has no trained weights yet. Expected checkpoints/best.safetensors, which the "
        f"first epoch writes. Continue the run with pgode train --resume {path}."
    )
