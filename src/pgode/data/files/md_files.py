"""Files of molecular dynamics through mdtraj: topologies, choices of atoms, frames.

mdtraj is optional (`pip install "pgode[md]"`) and slow to import, so it is imported only when
needed. Its objects have no types: they are `Any` here.
"""

import ctypes
import os
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import numpy as np
from jaxtyping import Int

from pgode.data.files.guard.claims import check_gzip, disk_size
from pgode.data.files.guard.hdf5 import check_hdf5
from pgode.data.files.guard.md_frames import BrokenError, Extent, extent_of
from pgode.data.files.guard.superblock import is_hdf5
from pgode.data.molecules import refuse_frames
from pgode.runtime.errors import InputError
from pgode.runtime.reading import check_file

DEFAULT_SELECTIONS = ("protein", "not water")
"""Tried in this order where the user selects no atoms."""
REFUSED = (".stk", ".dtr")
"""Formats that lead to other files."""
STRIDE = "Take fewer frames (--stride) or atoms (--select)."
"""What helps against too many frames."""
CHUNK = 100
"""Frames read at once: all atoms, including water, are in memory for this many frames only."""


def mdtraj() -> Any:
    """The library, or an error that says how to install it."""
    try:
        import mdtraj as library
    except ImportError as error:
        raise InputError(
            f"files of molecular dynamics need the package mdtraj, which cannot be imported "
            f'({error}). Expected it to be installed. Run: pip install "pgode[md]"'
        ) from None
    return library


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress warnings of mdtraj: unlikely boxes, a slower NetCDF library and the like.

    What matters is checked here and reported in the data's settings or in an error. When mdtraj
    fails, the stack frames of the failed calls keep its file open, so they are cleared.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except Exception as error:
            traceback.clear_frames(error.__traceback__)
            raise


@contextmanager
def silenced() -> Iterator[None]:
    """Suppress what the C code of mdtraj prints, for instance about every DCD header.

    This affects the whole process, so it is for commands, not for the library.
    """
    if os.name != "posix":
        yield
        return
    library = ctypes.CDLL(None)
    sys.stdout.flush()
    sys.stderr.flush()
    library.fflush(None)
    with Path(os.devnull).open("w") as nowhere:
        kept = {number: os.dup(number) for number in (1, 2)}
        for number in kept:
            os.dup2(nowhere.fileno(), number)
        try:
            yield
        finally:
            library.fflush(None)  # Lines that C still buffers would appear later.
            for number, copy in kept.items():
                os.dup2(copy, number)
                os.close(copy)


def read_topology(path: Path) -> Any:
    """The atoms, residues and bonds of a topology file."""
    _check_file(path, "a topology: a PDB, GRO, mmCIF, PRMTOP or PSF file")
    library = mdtraj()
    try:
        with quiet():
            topology = library.load_topology(str(path.absolute()))
    # Readers report damage by errors of many types.
    except Exception as error:
        raise InputError(
            f"cannot read the topology {path}: it is damaged, or of a kind that mdtraj does not "
            f"read ({_reason(error)}). Expected a PDB, GRO, mmCIF, PRMTOP or PSF file. Give the "
            f"topology that the simulation was started from."
        ) from None
    if not topology.n_atoms:
        raise InputError(
            f"the topology {path} has no atoms. Expected those of the trajectory, in its order. "
            f"Give the topology that the simulation was started from."
        )
    return topology


def selected(
    topology: Any, selection: str | None, path: Path
) -> tuple[Int[np.ndarray, " kept"], str]:
    """Indices of the chosen atoms, and the expression that chose them.

    Without an expression the protein is kept or, if there is none, everything but water.
    """
    if selection is not None:
        return _matching(topology, selection, path), selection
    for expression in DEFAULT_SELECTIONS:
        with suppress(InputError):
            return _matching(topology, expression, path), expression
    raise InputError(
        f"all {topology.n_atoms} atoms of {path} are water. Expected a molecule. To keep the "
        f'water, use --select "all".'
    )


def _matching(topology: Any, expression: str, path: Path) -> Int[np.ndarray, " kept"]:
    try:
        with quiet():
            kept = np.asarray(topology.select(expression)).astype(np.int64)
    except Exception as error:
        raise InputError(
            f'"{expression}" does not select atoms of {path} ({_reason(error)}). Expected an '
            f'expression of mdtraj, such as "protein", "chainid 0" or "resname LIG and not '
            f'element H". Correct --select.'
        ) from None
    if not len(kept):
        residues = sorted({residue.name for residue in topology.residues})
        some = ", ".join(residues[:12]) + (", ..." if len(residues) > 12 else "")
        raise InputError(
            f'"{expression}" matches none of the {topology.n_atoms} atoms of {path}, whose '
            f"residues are {some}. Expected at least one atom. Correct --select."
        )
    return kept


def read_frames(
    path: Path, topology: Any, kept: Int[np.ndarray, " kept"], stride: int, topology_path: Path
) -> Any:
    """Every `stride`-th frame of a trajectory file, of the kept atoms: an mdtraj.Trajectory."""
    library = mdtraj()
    check_trajectory(path)
    parts = []
    found = extent(path)
    if found is not None:
        _check_atoms(path, found.atoms, topology, topology_path)
    try:
        with quiet():
            # mdtraj reads all atoms of every frame, and the others are dropped here: given
            # both a stride and atoms, its TRR reader writes past its memory (1.11.1), and with
            # atoms alone it does not notice a topology that does not fit.
            count = 0
            for chunk in library.iterload(str(path.absolute()), chunk=CHUNK, top=topology):
                _check_atoms(path, chunk.n_atoms, topology, topology_path)
                first = -count % stride
                count += len(chunk)
                if found is None:  # The format does not say how many frames there are.
                    refuse_frames(count // stride, len(kept), f"reading {path}", STRIDE)
                if first < len(chunk):
                    parts.append(chunk[first::stride].atom_slice(kept))
            if not parts:
                raise _damaged(path, "it has no frames")
            frames = parts[0] if len(parts) == 1 else library.join(parts, check_topology=False)
    except InputError:
        raise
    except Exception as error:
        if "xyz must be shape" in str(error):
            _check_atoms(path, _atoms_in(path), topology, topology_path)
        raise _damaged(path, _reason(error)) from None
    _check_dcd_length(path, len(frames), stride)
    _check_finite(path, frames, stride)
    return frames


def extent(path: Path) -> Extent | None:
    """Atoms and frames of a trajectory by its headers; None if its format has none of both."""
    try:
        return extent_of(path)
    except BrokenError as error:
        raise _damaged(path, str(error)) from None


def check_trajectory(path: Path) -> None:
    """Refuse a trajectory that is missing or of unknown format, before any long work."""
    mdtraj()
    from mdtraj.formats.registry import FormatRegistry

    _check_file(path, "a trajectory of molecular dynamics")
    if not path.name.lower().endswith(tuple(FormatRegistry.loaders)):
        raise InputError(
            f"cannot read {path}: the ending {path.suffix or '(none)'} is not known. Expected a "
            f"format that mdtraj reads: .xtc, .trr, .dcd, .nc (Amber), .pdb and others. Convert "
            f"the trajectory, or correct the path."
        )


def _check_file(path: Path, expected: str) -> None:
    """Refuse what is no regular file of a format that holds its content itself."""
    size = disk_size(check_file(path, expected=expected))
    if path.suffix.lower() in REFUSED:
        raise InputError(
            f"cannot read {path}: files of the kind {path.suffix} name other files to be read. "
            f"Expected {expected}. Convert it, for instance to XTC."
        )
    try:
        if is_hdf5(path):
            check_hdf5(path)
        if path.suffix.lower() == ".gz":
            check_gzip(path, size)
    except InputError:
        raise
    # The HDF5 library reports damage by errors of many types.
    except Exception as error:
        raise _damaged(path, _reason(error)) from None


def _check_atoms(path: Path, atoms: int | None, topology: Any, topology_path: Path) -> None:
    if atoms != topology.n_atoms:
        number = "another number of" if atoms is None else str(atoms)
        raise InputError(
            f"{path} has {number} atoms, but the topology {topology_path} has {topology.n_atoms}. "
            f"Expected the same atoms in the same order. Give the topology that the trajectory "
            f"was written with."
        )


def _atoms_in(path: Path) -> int | None:
    """The number of atoms of a trajectory that does not fit its topology, if it can be read."""
    with suppress(Exception), quiet(), mdtraj().open(str(path)) as file:
        content = file.read(n_frames=1)
        xyz = content[0] if isinstance(content, tuple) else content
        return int(xyz.shape[1])
    return None


def _check_dcd_length(path: Path, frames: int, stride: int) -> None:
    """Refuse a DCD file shorter than its header claims, which mdtraj reads without an error."""
    if path.suffix.lower() != ".dcd":
        return
    with path.open("rb") as file:
        header = file.read(16)
    # A record's length (84, in 4 or 8 bytes of either order), CORD, and the number of frames.
    start = header.find(b"CORD") + 4
    order: Literal["little", "big"] = "little" if header[:1] == b"T" else "big"
    claimed = int.from_bytes(header[start : start + 4], order) if start > 3 else 0
    if -(-claimed // stride) > frames:
        raise _damaged(path, f"its header claims {claimed} frames, more than it has")


def _check_finite(path: Path, frames: Any, stride: int) -> None:
    for frame, atom, _ in np.argwhere(~np.isfinite(frames.xyz))[:1]:
        raise InputError(
            f"{path} has no finite position of the atom {frames.topology.atom(int(atom))} in frame "
            f"{int(frame) * stride}. Expected finite positions: the simulation may have failed "
            f"at that point. Cut the trajectory before that frame."
        )


def _damaged(path: Path, reason: str) -> InputError:
    return InputError(
        f"cannot read {path}: it is damaged, cut off, or not a {path.suffix} trajectory "
        f"({reason}). Expected a whole trajectory. Copy it again, or let your MD program repair it."
    )


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 160 else f"{text[:157]}..."
