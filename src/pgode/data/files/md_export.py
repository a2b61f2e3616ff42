"""Exporting forecasts and data to trajectory files of molecular dynamics."""

import errno
import tempfile
from pathlib import Path
from typing import Any, get_args

import numpy as np
import xarray as xr
from jaxtyping import Float

from pgode.data.files.md_files import mdtraj, quiet, read_topology, selected
from pgode.data.files.stored import forecast_file
from pgode.data.molecules import Atoms
from pgode.runtime.disk.room import DISK, OutOfRoomError, disk_error
from pgode.runtime.errors import InputError
from pgode.runtime.files import replacing
from pgode.runtime.memory import refuse_beyond_memory
from pgode.runtime.outputs import claim_output

SPARE = 2**16
"""Bytes that must fit after the last one of a file."""
ENDINGS = (".dcd", ".xtc", ".trr", ".pdb", ".nc", ".netcdf", ".gro", ".xyz")
"""Formats that can be written; .nc and .netcdf are those of Amber."""
PER_ATOM = 3 * (8 + 8 + 4)
"""Bytes for each atom of a frame: the positions by system, all of them, and in single precision."""


def write(
    data: xr.Dataset,
    topology: Path | None,
    output: Path,
    *,
    system: int | None = None,
    sample: int | None = None,
    selection: str | None = None,
    source: str = "the given data",
    overwrite: bool = False,
) -> int:
    """Write positions as a trajectory; the ending of `output` selects the format.

    `data` is the dataset of a forecast (its mean is written, or one of its samples) or of
    trajectories. All systems are written one after another unless one is chosen. Without a
    `topology` that of the data is used; one with more atoms is reduced to those of the data
    (`selection`, or the default of `md.read`). An existing file is replaced only with `overwrite`.
    Returns the number of frames written.
    """
    check_output(output)
    claim_output(output, inputs=[topology], overwrite=overwrite)
    states = _states(data, sample, source)
    positions, times = _frames(data, states, system, source)
    atoms = _atoms(data, positions.shape[1], topology, selection, source)
    library = mdtraj()
    trajectory = library.Trajectory(positions.astype(np.float32), atoms, time=times)
    with replacing(output) as temporary:
        # mdtraj takes the format from the ending, which the temporary name lacks.
        named = temporary.with_name(temporary.name + output.suffix.lower())
        try:
            with quiet():
                trajectory.save(str(named))
            _check_room(named)
            named.replace(temporary)
        except InputError:
            raise
        except Exception as error:
            _check_room(named)
            if (refused := disk_error(error)) is not None and refused.errno in DISK:
                raise refused from None
            raise InputError(
                f"cannot write {output} ({error or type(error).__name__}). Expected positions that "
                f"the format can hold. Choose another ending: {', '.join(ENDINGS)}."
            ) from None
        finally:
            named.unlink(missing_ok=True)
    return len(positions)


def _check_room(path: Path) -> None:
    """Fail if no more could be written to a file: some formats of mdtraj ignore a full disk.

    Their files then end where the disk did, and this asks for more than a block of it.
    """
    if not path.exists():
        return
    size = path.stat().st_size
    with path.open("ab", buffering=0) as file:
        if file.write(bytes(SPARE)) < SPARE:
            raise OutOfRoomError(errno.ENOSPC, size + SPARE)
        file.truncate(size)


def check_output(output: Path) -> None:
    """Refuse a path whose ending names no format."""
    if output.suffix.lower() not in ENDINGS:
        raise InputError(
            f"cannot write {output}: the ending {output.suffix or '(none)'} is not known. Expected "
            f"one of {', '.join(ENDINGS)}. Choose another output path."
        )


def open_forecast_or_data(path: Path, force: bool = False) -> xr.Dataset:
    """The dataset of a forecast, or of whatever data `pgode.data.files.read` reads."""
    from pgode.data import files

    found = forecast_file.read(path, force)
    if found is not None:
        return found
    return files.read(path, force=force).dataset


def _states(data: xr.Dataset, sample: int | None, source: str) -> xr.DataArray:
    """Mean, sample or observed values."""
    if sample is None:
        return data["mean"] if "mean" in data else data["states"]
    count = data.sizes["sample"] if "samples" in data else 0
    if not 0 <= sample < count:
        existing = f"those from 0 to {count - 1}" if count else "none"
        raise InputError(
            f"{source} has no sample {sample}: it has {existing}. Expected an existing sample. "
            f"Correct --sample, leave it out for the mean, or forecast with --samples."
        )
    return data["samples"].isel(sample=sample)


def _frames(
    data: xr.Dataset, states: xr.DataArray, system: int | None, source: str
) -> tuple[Float[np.ndarray, "time object 3"], Float[np.ndarray, " time"]]:
    """The frames of the chosen systems, one after the other, and their times."""
    axes = np.flatnonzero(data["feature_role"].values == "position")
    units = {str(unit) for unit in data["feature_units"].values[axes]}
    if len(axes) != 3 or units != {"nm"}:
        raise InputError(
            f"{source} has {len(axes)} positions in units of {', '.join(sorted(units)) or '-'}. "
            f"Expected three in nm: only molecules can be exported. Give data of a molecule."
        )
    count = data.sizes["system"]
    if system is not None and not 0 <= system < count:
        raise InputError(
            f"{source} has no system {system}. Expected one from 0 to {count - 1}. Correct "
            f"--system, or leave it out for all."
        )
    chosen = range(count) if system is None else (system,)
    refuse_beyond_memory(
        PER_ATOM * len(chosen) * states.sizes["object"] * states.sizes["time"],
        f"writing {len(chosen)} system{'s' * (len(chosen) > 1)} of {source} as one trajectory",
        "Write one after another with --system."
        if len(chosen) > 1
        else "Free memory, or forecast fewer frames.",
    )
    parts, times = [], []
    for k in chosen:
        clock = data["times"].values[k]
        known = np.isfinite(clock)
        frames = states.isel(system=k).values[:, known][..., axes].swapaxes(0, 1)
        for frame, atom, _ in np.argwhere(~np.isfinite(frames))[:1]:
            raise InputError(
                f"system {k} of {source} has no position of object {atom} at time "
                f"{clock[known][frame]:g}. Expected one for every atom: trajectory files cannot "
                f"leave one out. Choose another system with --system."
            )
        parts.append(frames)
        times.append(clock[known])
    return np.concatenate(parts), np.concatenate(times)


def _atoms(
    data: xr.Dataset, objects: int, topology: Path | None, selection: str | None, source: str
) -> Any:
    """The topology of the atoms that the data holds."""
    stored = _stored_topology(data)
    if topology is None and selection is not None:
        raise InputError(
            f"--select {selection!r} chooses atoms of a topology, and none was given. Expected the "
            f"file of one beside it. Add --topology top.pdb, or leave out --select."
        )
    if topology is None:
        if stored is None:
            raise InputError(
                f"{source} does not say which atoms its {objects} objects are. Expected a "
                f"topology. Give its file:  --topology top.pdb"
            )
        return stored
    atoms = _narrowed(read_topology(topology), objects, selection, topology, source)
    if stored is not None:
        for k, (atom, other) in enumerate(zip(stored.atoms, atoms.atoms, strict=True)):
            if atom.element is not other.element:
                raise InputError(
                    f"atom {k} is {atom} in {source} but {other} in {topology}. Expected the same "
                    f"atoms in the same order. Give the topology that the data was made with, or "
                    f"leave --topology out to use the data's own."
                )
    return atoms


def _stored_topology(data: xr.Dataset) -> Any:
    if "topology" not in data:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stored.pdb"
        path.write_text(str(data["topology"].values), encoding="utf-8")
        return read_topology(path)


def _narrowed(atoms: Any, objects: int, selection: str | None, topology: Path, source: str) -> Any:
    """The part of a topology with as many atoms as the data: all, or the default of `md.read`."""
    if selection is None and atoms.n_atoms == objects:
        return atoms
    kept, expression = selected(atoms, selection, topology)
    part = atoms.subset(kept)
    heavy = [atom.index for atom in part.atoms if atom.element is None or atom.element.number > 1]
    alpha = part.select("name CA and not element Ca")
    counts = []
    for choice, index in zip(get_args(Atoms), (range(part.n_atoms), heavy, alpha), strict=True):
        if len(index) == objects:
            return part.subset(index)
        counts.append(f"{len(index)} ({choice})")
    raise InputError(
        f"{source} has {objects} atoms, but {topology} has {atoms.n_atoms}, of which "
        f'"{expression}" keeps {", ".join(counts)}. Expected the topology that the data was made '
        f"with. Give that one, choose its atoms with --select, or leave --topology out if the "
        f"data has its own."
    )
