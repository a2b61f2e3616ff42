"""Convert run folders of format 1, whose settings had no groups, to the present format."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pgode.batches.normaliser import upgrade_normaliser
from pgode.evaluation.uncertainty.joint_residuals import RESIDUALS_FILE
from pgode.models.latent import LatentConfig
from pgode.models.pgode.config import MOVED
from pgode.runs.folder import DAMAGE, damaged
from pgode.runtime.errors import InputError
from pgode.runtime.files import replacing, write_bytes, write_json, write_text
from pgode.runtime.outputs import claim_folder
from pgode.runtime.reading import read_json_mapping
from pgode.runtime.settings import merged
from pgode.runtime.stored.manifest import Manifest
from pgode.training.checkpoint import FORMAT, read_tensors, write_tensors
from pgode.training.config import nested, outdated_parts

KEPT: Mapping[str, str] = {
    **LatentConfig.renamed,
    **MOVED,
    "width": "width",
    "solver": "solver",
}
"""New names of PGODE's settings whose values stay the same, by old name."""

PGODE_WEIGHTS: Mapping[str, str] = {
    r"^model\.state\.recall\.": "model.state.history.",
}
RELATION: Mapping[str, str] = {r"\.(receive|send|edge)(?=\.|$)": r".relation.\1"}
WEIGHTS: Mapping[str, Mapping[str, str]] = {
    "pgode": PGODE_WEIGHTS,
    **dict.fromkeys(("lg-ode", "social-ode", "nri", "egnn", "eqmotion"), RELATION),
}
"""Changes in the names of weights, by model: patterns and their replacements."""

TERMS: Mapping[str, str] = {"parameters": "parameter_info", "disentangle": "context_info"}
"""New names of loss terms in the log, by old name."""

LEFT_OUT = ("metrics.csv", "noise_floor.json", "report.html")
"""Files derived from others, which are not converted."""

REFERENCE_OBJECTS = 10
"""In format 1 the system context was a sum, or ten times the mean."""


def convert_run(old: Path, new: Path) -> None:
    """Write the run of format 1 in the folder `old` to the new folder `new`.

    Its forecasts stay the same, and so does a continued training. Reports and noise floors are
    left out: make them again.
    """
    claim_folder(new, inputs=[old])
    config = _read_config(old)
    name = str(config["name"])
    with replacing(new) as folder:
        for path in sorted(old.rglob("*")):
            place = path.relative_to(old)
            if path.is_file() and not any(part.startswith(".") for part in place.parts):
                _convert_checked(path, folder / place, name)
        Manifest.of(folder).write(folder)


def _read_config(old: Path) -> dict[str, Any]:
    try:
        config = _json(old / "config.json")
        stored = config.get("format", 1)
        known = isinstance(config.get("model"), dict) and "name" in config
    except (InputError, OSError, ValueError, AttributeError) as error:
        raise InputError(
            f"cannot convert {old}: {str(error).rstrip('.')}. Expected a folder that pgode train "
            f"wrote. Check the path."
        ) from None
    if stored != 1 or not known:
        raise InputError(
            f"{old} has the format {stored}. Expected a run of format 1. One of format "
            f"{FORMAT} needs no conversion."
        )
    return config


def upgrade_config(config: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Settings of a run of format 1 in the present groups; `path` names their file in errors."""
    model = config["model"]
    if config["name"] == "pgode":
        upgraded = _upgrade_pgode(model, path)
    else:
        upgraded = _grouped(
            {key: (LatentConfig.renamed.get(key, key), value) for key, value in model.items()}
        )
    return {"format": FORMAT, **config, "model": upgraded}


def _upgrade_pgode(old: Mapping[str, Any], path: Path) -> dict[str, Any]:
    if not {"strength", "coupling"} <= old.keys():
        raise InputError(
            f"{path} was written by release 0.1.0, whose model lacks parts of later ones. Expected "
            f"a run of a later version. Train the model again."
        )
    has = {
        "model.strength": old["strength"],
        "model.coupling": old["coupling"] and old["kinematics"],
    }
    if any(has.values()):
        raise outdated_parts([name for name, present in has.items() if present], path)
    if not old.get("recovery", True):
        raise InputError(
            f"{path} belongs to a run that was trained without the recovery term "
            f"(model.recovery=false), which this version always has. Expected a run with it. Train "
            f"the model again."
        )
    new = _grouped({key: (KEPT[key], value) for key, value in old.items() if key in KEPT})
    new["encoder"]["reference_objects"] = (
        REFERENCE_OBJECTS if old.get("system_mean", True) else None
    )
    kind = "messages" if old["dynamics"] == "prototypes" else old["dynamics"]
    new["dynamics"] = {"kind": kind, **(new["dynamics"] if kind == "messages" else {})}
    # Format 1 kept settings that had no effect; now they are refused.
    state = new["state"]
    if not state["residual_decoder"]:
        state["history_readout"] = False
    if not state.get("history_readout", True):
        state["mean_structure"] = False
    state["trend"] = False
    state["kind"] = "kinematic" if old["kinematics"] else "latent"
    gated = kind == "messages" and old["prototypes"] > 1
    new["gate"]["contexts"] = old["gate"] if gated and old["gate"] != "full" else "both"
    if not gated:
        new["gate"]["group_context"] = False
    new["gate"]["normalise"] = False
    return new


def _grouped(settings: Mapping[str, tuple[str, Any]]) -> dict[str, Any]:
    """Settings by their new names, with dots, as groups."""
    groups: dict[str, Any] = {}
    for name, value in settings.values():
        groups = merged(groups, nested(name, value))
    return groups


def _convert_checked(old: Path, new: Path, model: str) -> None:
    try:
        _convert_file(old, new, model)
    except InputError:
        raise
    except DAMAGE as error:
        raise damaged("convert", old, error) from None


def _convert_file(old: Path, new: Path, model: str) -> None:
    if old.suffix == ".safetensors" and old.name != RESIDUALS_FILE:
        _convert_checkpoint(old, new, model)
    elif old.name == "config.json":
        write_json(new, upgrade_config(_json(old), old))
    elif old.name == "normaliser.json":
        write_json(new, upgrade_normaliser(_json(old)))
    elif old.name == "metrics.jsonl":
        rows = [json.loads(line) for line in old.read_text(encoding="utf-8").splitlines()]
        lines = (json.dumps({**row, "train": _renamed_terms(row["train"])}) for row in rows)
        write_text(new, "".join(f"{line}\n" for line in lines))
    elif old.name not in LEFT_OUT:
        write_bytes(new, old.read_bytes())


def _convert_checkpoint(old: Path, new: Path, model: str) -> None:
    tensors, header = read_tensors(old)
    progress = json.loads(header.get("progress", "{}"))
    if model == "lg-ode" and old.stem == "last" and not progress.get("finished", True):
        raise InputError(
            f"{old} is an LG-ODE whose training is not finished, and the order of its weights has "
            f"changed. Expected a finished run. Finish it with the version that started it."
        )
    if "sums" in progress:
        progress["sums"] = _renamed_terms(progress["sums"])
        header = {**header, "progress": json.dumps(progress)}
    renamed = {}
    for name, tensor in tensors.items():
        for pattern, text in WEIGHTS.get(model, {}).items():
            name = re.sub(pattern, text, name) if name.startswith("model.") else name
        renamed[name] = tensor
    write_tensors(new, renamed, {**header, "format": str(FORMAT)})


def _renamed_terms(terms: Mapping[str, float]) -> dict[str, float]:
    return {TERMS.get(name, name): value for name, value in terms.items()}


def _json(path: Path) -> dict[str, Any]:
    return read_json_mapping(path, expected="the file that pgode train wrote", allow_nan=True)
