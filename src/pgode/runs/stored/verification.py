"""The check of a whole run folder: manifest, hashes, and the form of every file."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from pgode.evaluation.uncertainty.joint_residuals import RESIDUALS_FILE, JointResiduals
from pgode.runs import folder as run_folder
from pgode.runs.stored.model import built_model
from pgode.runtime.errors import InputError
from pgode.runtime.locks import locked
from pgode.runtime.stored.checking import check_listed, is_present, unlisted
from pgode.runtime.stored.manifest import MANIFEST, Manifest, fingerprint, run_files
from pgode.runtime.stored.verification import FileCheck, State, Verification
from pgode.training.checkpoint import is_sealed, load_checkpoint
from pgode.training.descent import optimisers_for
from pgode.training.metrics import LOG, checked_metrics

NO_MANIFEST = (
    "the run has no manifest.json, as runs of earlier versions: files were checked by their form "
    "alone, which does not find changed numbers. If you trust them, list them as they are: pgode "
    "verify {folder} --accept."
)
OPEN = (
    "its training has not ended, or was killed: files that it replaces are checked by themselves. "
    "They are listed when it ends: pgode train --resume {folder}."
)


def place_of(path: Path | str) -> Path:
    """The run folder at a path, also if its config is missing; an error if there is none."""
    return Path(path) if (Path(path) / MANIFEST).is_file() else run_folder.find_run(path)


def verify_run(path: Path | str) -> Verification:
    """Check each file of a run: against the manifest, then its form. Nothing is written."""
    folder = place_of(path)
    notes: list[str] = []
    found: list[FileCheck] = []
    manifest: Manifest | None = None
    try:
        manifest = Manifest.read(folder)
    except InputError as error:
        found.append(FileCheck(MANIFEST, None, None, "wrong", str(error)))
    if manifest is None and not found:
        notes.append(NO_MANIFEST.format(folder=path))
    elif manifest is not None and manifest.changing:
        notes.append(OPEN.format(folder=path))
    listed = manifest.files if manifest is not None else {}
    needed = {"config.json", "normaliser.json", "data.json"}
    for name in sorted({*run_files(folder), *listed, *needed}):
        with nullcontext() if manifest is not None else unlisted():
            found.append(_checked(folder, name, partial(_state, folder, name)))
    return Verification(str(path), "run", tuple(found), tuple(notes))


def accept_run(path: Path | str) -> Verification:
    """List the files of a run as they are now, after a check of their form; then check again."""
    folder = place_of(path)
    if run_folder.is_shipped(folder):
        raise InputError(
            f"{folder.name} is a model that comes with pgode, and its files are not to be changed. "
            f"Expected a run of your own. Install pgode again if the check of it fails."
        )
    with unlisted():
        for name in run_files(folder):
            _check_form(folder, name)
    with locked(folder / MANIFEST):
        try:
            before = Manifest.read(folder)
        except InputError:
            before = None
        # A training that runs goes on replacing its files: only its end lists them.
        changing = before.changing if before is not None else frozenset[str]()
        Manifest(Manifest.of(folder).files, changing).write(folder)
    return verify_run(path)


def _checked(folder: Path, name: str, check: Callable[[], State]) -> FileCheck:
    try:
        record = fingerprint(folder / name) if (folder / name).exists() else None
        size, digest = (record.size, record.sha256) if record else (None, None)
    except InputError as error:
        return FileCheck(name, None, None, "wrong", str(error))
    try:
        return FileCheck(name, size, digest, check())
    except InputError as error:
        return FileCheck(name, size, digest, "wrong", str(error))


def _state(folder: Path, name: str) -> State:
    """How certain a file is; an error if it is not to be used."""
    if not is_present(folder, name):
        if name in ("config.json", "normaliser.json", "data.json"):
            raise InputError(
                f"{folder / name} is missing. Expected it in every run. Restore it from a copy, or "
                f"train again."
            )
        return "form only"
    listed = check_listed(folder, name)
    try:
        has_form = _check_form(folder, name)
    except InputError as error:
        if listed and str(folder / name) not in str(error):
            return "as written"  # Another file is wrong, without which this one cannot be read.
        raise
    if listed:
        return "as written"
    if name.endswith(".safetensors") and is_sealed(folder / name):
        return "own checksum"
    return "form only" if has_form else "no checksum"


def _check_form(folder: Path, name: str) -> bool:
    """Read a file as commands do; whether there is anything to be read of it."""
    if name.endswith(".safetensors"):
        _check_weights(folder, name)
    elif name in FORMS:
        FORMS[name](folder)
    else:
        return False
    return True


def _check_weights(folder: Path, name: str) -> None:
    config = run_folder.read_config(folder)
    model = built_model(folder, config, run_folder.read_normaliser(folder))
    optimisers = {}
    if name.endswith("/last.safetensors"):  # Training continues from it.
        adversary = {id(parameter) for parameter in model.adversary()}
        descending = [p for p in model.parameters() if id(p) not in adversary]
        optimisers = optimisers_for(model, descending, config.training)
    load_checkpoint(folder / name, model, optimisers)


def _calibration(folder: Path) -> object:
    features = len(run_folder.read_normaliser(folder).features)
    return run_folder.read_calibration(folder, features)


FORMS: Mapping[str, Callable[[Path], object]] = {
    "config.json": run_folder.read_config,
    "normaliser.json": run_folder.read_normaliser,
    "data.json": run_folder.read_data,
    "calibration.json": _calibration,
    RESIDUALS_FILE: JointResiduals.read,
    run_folder.NOISE_FLOOR_FILE: run_folder.read_noise_floor,
    LOG: checked_metrics,
}
"""How each file is read."""
