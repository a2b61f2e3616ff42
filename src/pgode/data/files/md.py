"""Importing molecular dynamics from trajectory and topology files.

A trajectory is cut into systems of consecutive frames. Neighbouring frames are similar, so splits
are blocks in time with at least one system left out between them: with systems drawn at random,
test data would be adjacent to training data.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from pgode.data.files.md_files import (
    STRIDE,
    check_trajectory,
    extent,
    mdtraj,
    quiet,
    read_frames,
    read_topology,
    selected,
)
from pgode.data.files.periodic import without_jumps
from pgode.data.molecules import Molecule, Preparation, prepare, refuse_frames
from pgode.data.schema import SPLITS
from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError

FRAMES = 48
"""Frames per system."""
SHARES = (0.7, 0.15, 0.15)
"""Shares of the systems of a file for training, validation and test."""
BLOCKS = SPLITS[:3]
"""Splits of a simulation: no part of it is out of distribution."""
WITH_TIMES = (".xtc", ".trr", ".nc", ".ncdf", ".netcdf", ".h5", ".hdf5", ".gro")
"""Formats that store the time of each frame; for others mdtraj counts frames."""
CARBON = 12.011


def read(
    trajectories: Sequence[Path],
    topology: Path,
    preparation: Preparation,
    *,
    selection: str | None = None,
    stride: int = 1,
    frames_per_system: int = FRAMES,
    frame_time: float | None = None,
    splits: Sequence[float] = SHARES,
) -> Trajectories:
    """Read one simulation, or several of the same molecule, as systems in nm and ps.

    `selection` is an expression of mdtraj; without it the protein is kept. Every `stride`-th
    frame is used. `frame_time` (ps between the frames of the files) replaces the times in the
    files. `splits` are the shares for training, validation and test; a share may be 0.
    """
    paths = [Path(path) for path in trajectories]
    _check_options(paths, stride, frames_per_system, frame_time, splits)
    for path in paths:
        check_trajectory(path)
    atoms = read_topology(topology)
    kept, expression = selected(atoms, selection, topology)
    _refuse_many(paths, len(kept), stride)

    positions, times, split, provenance = [], [], [], []
    spans: dict[Path, tuple[float, float]] = {}
    for path in paths:
        frames = read_frames(path, atoms, kept, stride, topology)
        clock = _clock(path, frames.time, stride, frame_time)
        if path.name.lower().endswith(WITH_TIMES) and len(frames) > 1:
            spans[path] = (float(frames.time[0]), float(frames.time[-1]))
            _refuse_parts(spans, path, float(np.median(np.diff(frames.time))), splits)
        first, blocks = _blocks(path, len(clock), frames_per_system, splits)
        unwrapped, boxed = without_jumps(frames)
        rows = first[:, None] + np.arange(frames_per_system)
        positions.append(unwrapped[rows])
        times.append(clock[rows] - clock[first, None])
        split += blocks
        provenance.append(
            {"name": path.name, "frames": len(clock), "systems": len(first), "made_whole": boxed}
        )
    return prepare(
        np.concatenate(positions),
        np.concatenate(times),
        _molecule(atoms.subset(kept), positions[0][0, 0]),
        preparation,
        {
            "trajectories": provenance,
            "topology": topology.name,
            "selection": expression,
            "stride": stride,
            "frames_per_system": frames_per_system,
            "splits": [float(share) for share in splits],
        },
        split=split,
        title=f"Molecular dynamics of {topology.stem}",
        generator="pgode import md",
        generator_version="1",
        source=", ".join(str(path) for path in paths),
    )


def _check_options(
    paths: Sequence[Path],
    stride: int,
    frames: int,
    frame_time: float | None,
    splits: Sequence[float],
) -> None:
    if not paths:
        raise InputError("there is no trajectory to read. Expected at least one. Give its path.")
    for path in paths:
        if [other.resolve() for other in paths].count(path.resolve()) > 1:
            raise InputError(
                f"the trajectory {path} is given twice. Expected each file once: the model would "
                f"be tested on its training data. Leave one out."
            )
    if stride < 1 or frames < 2:
        raise InputError(
            f"the stride is {stride} and a system has {frames} frames. Expected at least 1 and 2. "
            f"Correct --stride and --frames."
        )
    if frame_time is not None and not 0 < frame_time < np.inf:
        raise InputError(
            f"the time between frames is {frame_time} ps. Expected a positive time. Correct "
            f"--frame-time."
        )
    shares = np.array(splits, dtype=float)
    if shares.shape != (3,) or not (shares >= 0).all() or abs(shares.sum() - 1) > 1e-6:
        given = ",".join(f"{share:g}" for share in shares)
        raise InputError(
            f"the splits are {given}. Expected three shares from 0 to 1, for training, validation "
            f"and test, that add up to 1. Use 0.7,0.15,0.15, for instance."
        )


def _refuse_many(paths: Sequence[Path], atoms: int, stride: int) -> None:
    """Refuse more frames than memory can hold, as far as the headers of files tell them."""
    found = [extent(path) for path in paths]
    frames = sum(each.frames // stride for each in found if each is not None)
    files = str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
    refuse_frames(frames, atoms, f"importing {frames} frames of {atoms} atoms from {files}", STRIDE)


def _refuse_parts(
    spans: dict[Path, tuple[float, float]], path: Path, step: float, splits: Sequence[float]
) -> None:
    """Refuse a file that continues another one: their splits would be adjacent.

    A file that starts at time 0 counts as a separate run.
    """
    if sum(share > 0 for share in splits) < 2:
        return
    for other, (_, end) in spans.items():
        first, last = spans[path]
        after = abs(first - end) <= 2 * step and first > 0
        before = abs(spans[other][0] - last) <= 2 * step and spans[other][0] > 0
        if other != path and (after or before):
            one, two = (other, path) if after else (path, other)
            raise InputError(
                f"{two} continues where {one} ends, so they are parts of one run. Expected whole "
                f"runs: each file is split separately, and training frames would be adjacent to "
                f"test frames. Join them first, with the tool of your MD program."
            )


def _clock(
    path: Path, stored: Any, stride: int, frame_time: float | None
) -> Float[np.ndarray, " time"]:
    """Times (ps) of the frames that were read."""
    count = np.arange(len(stored))
    if frame_time is not None:
        return np.asarray(count * (frame_time * stride))
    if not path.name.lower().endswith(WITH_TIMES):
        raise InputError(
            f"{path} does not say when its frames were taken: mdtraj finds no times in "
            f"{path.suffix} files. Expected the time between two frames. Give it in ps, for "
            f"instance --frame-time 0.2."
        )
    times = np.asarray(stored, dtype=np.float64)
    for frame in np.flatnonzero(np.diff(times) <= 0)[:1]:
        raise InputError(
            f"{path} goes back in time: frame {(frame + 1) * stride} is at "
            f"{times[frame + 1]:g} ps, the one before at {times[frame]:g} ps. Expected "
            f"increasing times. Remove repeated frames, or, if only the times are wrong, give "
            f"--frame-time in ps."
        )
    # Files store times in single precision. Times that are even up to rounding are made even: after
    # a long run a step of 0.2 ps would otherwise vary between 0.195 and 0.203.
    step = float(f"{(times[-1] - times[0]) / max(1, len(times) - 1):.6g}")
    rounding = 2 * float(np.spacing(np.float32(np.abs(times).max()))) + 1e-6 * count * step
    even = np.abs(times - times[0] - count * step) <= rounding
    return np.asarray(count * step) if even.all() else times


def _blocks(
    path: Path, frames: int, length: int, splits: Sequence[float]
) -> tuple[Int[np.ndarray, " system"], list[str]]:
    """First frame and split of each system of a file; a system between two blocks is left out."""
    used = [(name, share) for name, share in zip(BLOCKS, splits, strict=True) if share]
    systems, gaps = frames // length, len(used) - 1
    needed = len(used) + gaps
    if systems < needed:
        names = ", ".join(name for name, _ in used)
        shorter = frames // needed
        advice = f"--frames {shorter}" if shorter > 1 else "a smaller --stride"
        raise InputError(
            f"{path} has {frames} usable frames, which make {systems} systems of {length}. "
            f"Expected at least {needed} systems ({needed * length} frames): one for each of "
            f"{names}, and one left out between two splits. Give a longer trajectory, {advice}, or "
            f"fewer splits, such as --splits 1,0,0."
        )
    bounds = np.round(np.cumsum([share for _, share in used]) * (systems - gaps))
    sizes = np.diff(bounds, prepend=0).astype(int)
    while sizes.min() < 1:
        sizes[sizes.argmin()] += 1
        sizes[sizes.argmax()] -= 1
    starts = np.cumsum(np.concatenate([[0], sizes[:-1] + 1]))
    chosen = np.concatenate([start + np.arange(n) for start, n in zip(starts, sizes, strict=True)])
    return chosen * length, np.repeat([name for name, _ in used], sizes).tolist()


def _molecule(topology: Any, positions: Float[np.ndarray, "atom 3"]) -> Molecule:
    """The kept atoms, with the positions of the first frame in their PDB text."""
    atoms = list(topology.atoms)
    symbols = [atom.element.symbol if atom.element is not None else "" for atom in atoms]
    # Masses only define the centre, so a bead of unknown element may count as a carbon.
    mass = [CARBON if atom.element is None else float(atom.element.mass) for atom in atoms]
    hydrogen: Bool[np.ndarray, " atom"] = np.isin(symbols, ("H", "D"))
    alpha = [
        atom.name == "CA" and symbol in ("C", "")  # not calcium, which has the same name
        for atom, symbol in zip(atoms, symbols, strict=True)
    ]
    return Molecule(
        pdb=_pdb_text(topology, positions - positions.mean(0)),
        mass=np.array(mass) if sum(mass) > 0 else np.ones(len(atoms)),
        residue=np.array([atom.residue.index for atom in atoms]),
        hydrogen=hydrogen,
        alpha=np.array(alpha),
    )


def _pdb_text(topology: Any, positions: Float[np.ndarray, "atom 3"]) -> str:
    library = mdtraj()
    with tempfile.TemporaryDirectory() as folder, quiet():
        path = Path(folder) / "molecule.pdb"
        with library.formats.PDBTrajectoryFile(str(path), mode="w") as file:
            file.write(10 * positions, topology)  # PDB files are in ångström
        return path.read_text(encoding="utf-8")
