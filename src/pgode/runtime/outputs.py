"""The one rule for everything that a command writes: nothing is replaced that should stay.

An existing file is replaced only if that was asked for; an input of the same command, a part of a
run and a link never are; a folder is replaced only if it is a data set that pgode wrote.
"""

import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from pgode.runtime.errors import InputError
from pgode.runtime.files import writable_folder

RUN_MARKS = (
    *("config.json", "normaliser.json", "model.safetensors"),
    *("checkpoints/last.safetensors", "checkpoints/best.safetensors"),
)
"""A folder with two of these is a run, also one that has lost a file."""
RUN_NAMES = (
    *("config.json", "normaliser.json", "data.json", "calibration.json", "noise_floor.json"),
    *("residuals.npz", "metrics.jsonl", "metrics.csv", "model.safetensors", "manifest.json"),
    *("checkpoints", "report.html", "trial.json"),
)
"""Names in a run folder that only pgode itself gives, whether they exist yet or not."""
WORK_MARKS = {
    "the search": ("tuning.json",),
    "the simulation": ("settings.json", "structure.pdb"),
}
"""Other folders that cost hours, and what they are recognised by."""
DEPTH = 2
"""Levels below a run or a store at which their files are: run/checkpoints/best.safetensors."""
STORE_MARKS = (".zgroup", ".zmetadata", "zarr.json")
STORE_ATTRIBUTES = {"generator", "generator_version", "generator_settings", "time_units"}
"""Attributes of every zarr folder that pgode has written."""
OUTSIDE = "a path outside of it"
FOLDER = "a new or empty folder, or one that this command has begun"
CHUNK = re.compile(r"\.z(array|attrs)|\d+(\.\d+)*")

Given = Path | str | None


def claim_output(
    path: Path | str,
    *,
    inputs: Iterable[Given] = (),
    overwrite: bool = False,
    folder: bool = False,
    own: bool = False,
) -> None:
    """Refuse an output that would destroy something; called before any long work is done for it.

    `inputs` are the files and folders that the command reads. `folder` says that the output is one
    (zarr). `own` marks a file that pgode derived from a run and keeps in its folder: it is made
    again without being asked. Paths are compared by what they lead to, so neither another spelling
    nor a link nor a hard link of an input passes.
    """
    path = Path(path)
    found = _status(path)
    place = _place(path)
    for given in inputs:
        if given is not None:
            _check_input(path, place, Path(given))
    if not own:
        _check_work(path, place, found is not None)
    for parent in _above(place):
        if _has_any(parent, STORE_MARKS):
            raise _refused(
                path, f"it lies in {parent}, a data set in the format zarr", "a path outside of it"
            )
    if found is not None:
        _check_existing(path, found, overwrite or own, folder)
    writable_folder(path)


def claim_outputs(
    paths: Sequence[Path | None], *, inputs: Iterable[Given] = (), overwrite: bool = False
) -> None:
    """The same for the files that one command writes, of which no two may be the same."""
    given, read = [path for path in paths if path is not None], list(inputs)
    if overwrite and not given:
        raise InputError(
            "--overwrite was given, but no file is to be written. Expected it beside an option "
            "that names one. Leave it out, or name a file."
        )
    for path in given:
        claim_output(path, inputs=read, overwrite=overwrite)
    places = [_place(path) for path in given]
    for place in places:
        if places.count(place) > 1:
            raise InputError(
                f"two outputs cannot both be written to {given[places.index(place)]}. Expected a "
                f"file for each. Give one of them another name."
            )


def claim_folder(
    path: Path | str,
    *,
    inputs: Iterable[Given] = (),
    begun: Callable[[Path], bool] = lambda folder: False,
) -> None:
    """Refuse a folder to work in, unless it is new, empty, or `begun` by the same command before.

    Hidden files do not count: they are those of file managers, and locks. Nor do folders without
    files: a command that was killed before it wrote any has left them.
    """
    path = Path(path)
    found, place = _status(path), _place(path)
    for given in inputs:
        if given is not None:
            _check_input(path, place, Path(given), inside=True)
    if found is not None and not path.is_dir():
        raise _refused(path, "a file of that name is in the way, and is kept", FOLDER)
    if found is not None and not begun(path):
        held = _held(path)
        if held:
            listed = ", ".join(held[:3]) + (", ..." if len(held) > 3 else "")
            raise _refused(path, f"the folder holds {listed}, which is kept", FOLDER)
    for parent in (place, *_above(place)):
        if _has_any(parent, STORE_MARKS):
            raise _refused(
                path, f"{parent} is a data set in the format zarr", "a path outside of it"
            )
    writable_folder(path / "x")


def _held(folder: Path) -> list[str]:
    """What lies in a folder, by name; folders without files are nothing."""
    return sorted(each.name for each in _visible(folder) if _has_file(each))


def _has_file(path: Path) -> bool:
    is_folder = path.is_dir() and not path.is_symlink()
    return not is_folder or any(map(_has_file, _visible(path)))


def _visible(folder: Path) -> Iterator[Path]:
    return (each for each in folder.iterdir() if not each.name.startswith("."))


def run_around(path: Path) -> Path | None:
    """The run folder that a path is, or lies in as its files do; None if there is none."""
    place = _place(path)
    return next((each for each in (place, *_above(place)) if _is_run(each)), None)


def _above(place: Path) -> Sequence[Path]:
    """The folders that a path may be a part of.

    Not all: whoever has trained in their home folder has not made everything there a run.
    """
    return place.parents[:DEPTH]


def _status(path: Path) -> os.stat_result | None:
    """What is at a path, links not followed; None if nothing is. Impossible names are refused."""
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(
            f"cannot write {path}: {reason}. Expected a path where a file can be made. "
            f"Choose another output path."
        ) from None


def _place(path: Path) -> Path:
    """Where a path is, its folders resolved. A last link is not: it would itself be replaced."""
    if path.name in ("", ".."):
        return _real(path)
    return _real(path.parent) / path.name


def _real(path: Path) -> Path:
    """The path without links. `Path.resolve` fails where links go round in a circle."""
    return Path(os.path.realpath(path))


def _followed(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except (OSError, ValueError):
        return None


def _check_input(path: Path, place: Path, given: Path, *, inside: bool = False) -> None:
    """Refuse an output that is an input, holds it, or is an existing part of it."""
    read, target = _followed(given), _followed(path)
    if read is None:  # Whoever reads it says what is wrong.
        return
    if target is not None and os.path.samestat(target, read):
        raise _refused(path, f"it is {_called(path, given)} the command reads", "another path")
    source, real = _real(given), _real(path)
    if real in source.parents:
        raise _refused(path, f"it holds {given}, which the command reads", "another path")
    if not stat.S_ISDIR(read.st_mode):
        return
    if (target is not None or inside) and not {source}.isdisjoint((*real.parents, *place.parents)):
        raise _refused(path, f"it is a part of {given}, which the command reads", "another path")
    if target is not None and target.st_nlink > 1 and stat.S_ISREG(target.st_mode):
        for folder, _, names in os.walk(source):
            for name in names:
                if os.path.samestat(Path(folder, name).lstat(), target):
                    what = f"it is a hard link of {name} in {given}, which the command reads"
                    raise _refused(path, what, "another path")


def _called(path: Path, given: Path) -> str:
    return "what" if _real(path) == _real(given) else f"the same file as {given}, which"


def _check_work(path: Path, place: Path, exists: bool) -> None:
    """Refuse to replace a part of a run, of a search or of a simulation, or to add one."""
    for each in dict.fromkeys((place, _real(path))):
        run = run_around(each)
        if run is not None and (exists or each.relative_to(run).parts[:1][0] in RUN_NAMES):
            what = "it is" if run == each else "it is a part of"
            raise _refused(path, f"{what} the run {run}", OUTSIDE)
        for parent in (each, *_above(each)) if exists else ():
            for what, marks in WORK_MARKS.items():
                if all((parent / name).is_file() for name in marks):
                    raise _refused(path, f"it is a part of {what} {parent}", OUTSIDE)


def _check_existing(path: Path, found: os.stat_result, overwrite: bool, folder: bool) -> None:
    """Refuse what is never replaced, and the rest unless it was asked for."""
    if stat.S_ISLNK(found.st_mode):
        what = f"it is a link to {path.readlink()}, and links are kept"
        raise _refused(path, what, "the path of a file itself")
    if stat.S_ISDIR(found.st_mode) and not folder:
        raise _refused(path, "a folder of that name is in the way, and is kept", "a file")
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        raise _refused(path, "it is a device, a pipe or a socket", "the path of a file")
    if folder and not stat.S_ISDIR(found.st_mode):
        raise _refused(path, "a file of that name is in the way, and is kept", "a free path")
    if folder and (foreign := _foreign(path)):
        raise _refused(path, f"the folder holds {foreign}, and is kept", "a free path")
    if not overwrite:
        raise InputError(
            f"cannot write {path}: it exists and is kept. Expected a path where nothing is. Choose "
            f"another one, or replace it with --overwrite (in Python: overwrite=True)."
        )


def _foreign(store: Path) -> str:
    """What is in a folder that is not of a zarr store that pgode wrote; empty if there is none."""
    try:
        attributes = json.loads((store / ".zattrs").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        attributes = None
    if not isinstance(attributes, dict) or not attributes.keys() >= STORE_ATTRIBUTES:
        return "no data set that pgode wrote"
    for each in sorted(store.iterdir()):
        if each.is_dir() and not each.is_symlink() and (each / ".zarray").is_file():
            for chunk in each.iterdir():
                if not CHUNK.fullmatch(chunk.name) or not chunk.is_file():
                    return f"{each.name}/{chunk.name}, which is not of its data set"
        elif each.name not in (".zattrs", *STORE_MARKS):
            return f"{each.name}, which is not of its data set"
    return ""


def _is_run(folder: Path) -> bool:
    return sum((folder / name).is_file() for name in RUN_MARKS) > 1


def _has_any(folder: Path, names: Sequence[str]) -> bool:
    return any((folder / name).is_file() for name in names)


def _refused(path: Path, reason: str, expected: str) -> InputError:
    return InputError(
        f"cannot write {path}: {reason}. Expected {expected}, so that nothing is lost. Choose "
        f"another output path."
    )
