"""Export of a run: record, translate, compare with the model itself, write."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgode import __version__
from pgode.data import files
from pgode.data.trajectories import Trajectories
from pgode.runs import folder as run_folder
from pgode.runs.export import onnx_file, pt2_file
from pgode.runs.export.arrays import changes_within
from pgode.runs.export.check import Comparison, compare, compared, windows_of
from pgode.runs.export.program import record
from pgode.runs.export.refusals import check_exportable, check_memory, unexportable
from pgode.runs.export.signature import Signature, metadata
from pgode.runs.outputs import run_inputs
from pgode.runs.run import Run
from pgode.runtime.choices import abridged, is_int
from pgode.runtime.errors import InputError, PgodeError
from pgode.runtime.files import replacing
from pgode.runtime.outputs import claim_output

MOST_FRAMES = 100_000
"""Most frames of an exported forecast: they are part of the program, which is compiled."""
SUFFIXES = (onnx_file.SUFFIX, pt2_file.SUFFIX)


@dataclass(frozen=True)
class Exported:
    """A file that was written, the arrays that it takes, and how equal its forecasts are."""

    path: Path
    signature: Signature
    comparison: Comparison


def check_output(output: Path) -> None:
    """Refuse an output in a format that is not known, or that cannot be written here."""
    if output.suffix not in SUFFIXES:
        raise InputError(
            f"cannot export to {output}: its ending names no format. Expected .onnx (for "
            f"onnxruntime) or .pt2 (for torch.export). Choose one of these endings."
        )
    if output.suffix == onnx_file.SUFFIX:
        onnx_file.check_installed()


def export_run(
    run: Run | Path | str,
    output: Path | str,
    *,
    data: Trajectories | Path | str | None = None,
    force: bool = False,
    condition: int | None = None,
    until: int | None = None,
    overwrite: bool = False,
) -> Exported:
    """Write the mean forecast of a run as a program, after checking that its numbers are ours.

    `data` are systems to compare forecasts on; the run's own if not given. `condition` and
    `until` are the frames that it observes and forecasts; those of the training if not given. An
    existing file is replaced only with `overwrite`, once all is well. `force` is as for
    `pgode.read`.
    """
    path = Path(output)
    check_output(path)
    files_read = run_inputs([run], None if isinstance(data, Trajectories) else data)
    claim_output(path, inputs=files_read, overwrite=overwrite)
    opened = run if isinstance(run, Run) else Run.open(run)
    name = str(run.folder if isinstance(run, Run) else run)
    check_exportable(opened.model, name)
    window = opened.config.window
    frames = (condition or window.condition, until or window.horizon)
    for option, given in (("--condition", condition), ("--until", until)):
        if given is not None and not (is_int(given) and 1 <= given <= MOST_FRAMES):
            raise InputError(
                f"cannot export with {option} {abridged(given)}. Expected a number of frames, at "
                f"least 1 and at most {MOST_FRAMES}. Leave it out for that of the training."
            )
    systems = _systems(opened, data, force)
    signature = Signature.of(opened.model, *frames, changing=changes_within(systems))
    objects = int(systems.n_objects[compared(systems, signature.condition)].sum())
    with _explained(name):
        check_memory(opened.model, signature, objects, path.suffix)
    windows = windows_of(opened.model, systems, signature)
    content = _content(opened, signature)
    with replacing(path) as temporary, _explained(name):
        program = record(opened.model, signature)
        if path.suffix == onnx_file.SUFFIX:
            onnx_file.write_onnx(program, signature, content, temporary)
            function = onnx_file.onnx_function(temporary)
        else:
            pt2_file.write_pt2(program, content, temporary)
            function = pt2_file.pt2_function(temporary)
        comparison = compare(function, windows, opened.model, name)
    return Exported(path, signature, comparison)


@contextmanager
def _explained(name: str) -> Iterator[None]:
    """What torch and onnxruntime raise, which is of many kinds, as an error for users."""
    try:
        yield
    except (PgodeError, OSError):
        raise
    except Exception as error:
        raise unexportable(name, error) from error


def _systems(run: Run, data: Trajectories | Path | str | None, force: bool) -> Trajectories:
    """The systems to compare on, as the model reads them."""
    if isinstance(data, Trajectories):
        return run.conform(data)
    source = run_folder.source_of(run.folder) if data is None else Path(data)
    return run.conform(files.read(source, force=force), str(source))


def _content(run: Run, signature: Signature) -> dict[str, Any]:
    """The metadata of the file."""
    return {
        "pgode_version": __version__,
        "model": run.config.name,
        "run": run.folder.resolve().name,
        "run_hash": _hash(run.folder),
        "data_hash": run.data.hash,
        **metadata(signature, run.normaliser),
    }


def _hash(folder: Path) -> str:
    """Of the settings, scales and weights of a run: equal for runs that forecast the same."""
    found = hashlib.sha256()
    names = [folder / "config.json", folder / "normaliser.json"]
    with suppress(InputError):  # A model without weights.
        names.append(run_folder.weights_file(folder))
    for name in names:
        found.update(name.read_bytes())
    return found.hexdigest()
