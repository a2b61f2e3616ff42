"""Systems from motion capture: joints are objects, bones are edges, each file is a trial."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float

from pgode.data.files.mocap.bvh import read_bvh
from pgode.data.files.mocap.hierarchy import Joint
from pgode.data.files.mocap.trials import TOLERANCE, Cut, Trial, trial_of, windows
from pgode.data.schema import SPLITS
from pgode.data.trajectories import BUILDING, Trajectories
from pgode.runtime.choices import check_int
from pgode.runtime.errors import InputError
from pgode.runtime.limits.bounds import SEED
from pgode.runtime.memory import refuse_beyond_memory

SHARES = (0.7, 0.15, 0.15)
"""Shares of the files for training, validation and test."""
BLOCKS = SPLITS[:3]
JUMP = 2.0
"""A first step this many times as fast as any of the others follows a rest pose."""


def read(
    paths: Sequence[Path],
    cut: Cut = Cut(),  # noqa: B008 - it is frozen
    *,
    splits: Sequence[float] = SHARES,
    units: str = "",
    seed: int = 0,
) -> Trajectories:
    """Read BVH files of one skeleton.

    Velocities are backward differences, (x(t) - x(t - dt)) / dt with dt the time between two kept
    frames, so that none depends on a later frame; the first frame of a file has none and is
    dropped. Files, not windows, are drawn into the splits: all windows of a trial are in the same.
    """
    files = [Path(path) for path in paths]
    cut.check()
    names = _names(files)
    parts = _split(len(files), splits, check_int("seed", seed, 0, SEED))
    trials = [trial_of(read_bvh(path), name, cut) for path, name in zip(files, names, strict=True)]
    for path, trial in zip(files, trials, strict=True):
        _same_skeleton(files[0], trials[0], path, trial)
        _same_rate(files[0], trials[0], path, trial)
    pieces, split = [], []
    for trial, part in zip(trials, parts, strict=True):
        found = windows(trial, cut)
        pieces += found
        split += [part] * len(found)
    joints = trials[0].joints
    frames = max(len(piece.times) for piece in pieces)
    refuse_beyond_memory(
        BUILDING * 6.0 * len(pieces) * len(joints) * frames,
        f"motion capture of {len(pieces)} systems, {len(joints)} joints and {frames} frames",
        "Import fewer files at a time, or give a larger --stride or a smaller --rate.",
    )
    states = np.zeros((len(pieces), len(joints), frames, 6))
    times = np.full((len(pieces), frames), np.nan)
    for k, piece in enumerate(pieces):
        times[k, : len(piece.times)] = piece.times
        states[k, :, : len(piece.times)] = piece.states
    shape = (len(pieces), len(joints))
    settings = {
        "files": [path.name for path in files],
        "rate": round(1 / float(np.diff(trials[0].times[:2])[0]), 6),
        "window": cut.window,
        "stride": cut.stride,
        "relative": cut.relative,
        "skip": cut.skip,
        "end_sites": cut.ends,
        "splits": [float(share) for share in splits],
    }
    return Trajectories.build(
        states,
        times,
        edges=np.broadcast_to(bones(joints), (len(pieces), len(joints), len(joints))),
        features=("x", "y", "z", "vx", "vy", "vz"),
        roles=("position",) * 3 + ("velocity",) * 3,
        units=(units,) * 3 + ((f"{units}/s") if units else "",) * 3,
        time_units="s",
        split=split,
        system_names=[piece.name for piece in pieces],
        object_names=np.broadcast_to([joint.name for joint in joints], shape),
        title=f"Motion capture, {files[0].stem} to {files[-1].stem}"
        if len(files) > 1
        else f"Motion capture, {files[0].stem}",
        generator="pgode import mocap",
        generator_version="1",
        generator_settings=json.dumps(settings),
        seed=seed,
        source=", ".join(path.name for path in files[:3]) + (", ..." if len(files) > 3 else ""),
    )


def bones(joints: Sequence[Joint]) -> Float[np.ndarray, "receiver sender"]:
    """Edges of weight 1 between each joint and its parent, in both directions."""
    matrix = np.zeros((len(joints), len(joints)))
    for number, joint in enumerate(joints):
        if joint.parent >= 0:
            matrix[number, joint.parent] = matrix[joint.parent, number] = 1.0
    return matrix


def jumps(data: Trajectories) -> list[str]:
    """Systems that start with a jump: many files begin with a rest pose before the motion."""
    speed = np.linalg.norm(np.nan_to_num(data.states[..., 3:]), axis=3).max(1)
    rest = speed[:, 1:].max(1, initial=0.0)
    found = (speed[:, 0] > JUMP * rest) & (rest > 0)
    return [data.system_label(int(system)) for system in np.flatnonzero(found)]


def _names(paths: Sequence[Path]) -> list[str]:
    """The files' names without their ending, with the folder where two are the same."""
    if not paths:
        raise InputError("there is no file to read. Expected at least one BVH file. Give its path.")
    seen: set[Path] = set()
    for path in paths:
        if path.resolve() in seen:
            raise InputError(
                f"the file {path} is given twice. Expected each file once: the model would be "
                f"tested on its training data. Leave one out."
            )
        seen.add(path.resolve())
    stems = [path.stem for path in paths]
    if len(set(stems)) == len(stems):
        return stems
    return [f"{path.resolve().parent.name}/{path.stem}" for path in paths]


def _split(files: int, shares: Sequence[float], seed: int) -> list[str]:
    """The split of each file, drawn at random: neighbouring trials are often alike."""
    given = np.array(shares, dtype=float)
    if given.shape != (3,) or not (given >= 0).all() or abs(given.sum() - 1) > 1e-6:
        text = ",".join(f"{share:g}" for share in given.ravel())
        raise InputError(
            f"the splits are {text}. Expected three shares from 0 to 1, for training, validation "
            f"and test, that add up to 1. Use 0.7,0.15,0.15, for instance."
        )
    used = [k for k in range(3) if given[k]]
    if files < len(used):
        names = ", ".join(BLOCKS[k] for k in used)
        raise InputError(
            f"{files} file{'s' * (files > 1)} cannot be shared among {len(used)} splits ({names}). "
            f"Expected at least one for each, as no trial may be in two. Give more files, or fewer "
            f"splits, such as --splits 1,0,0."
        )
    sizes = np.diff(np.round(np.cumsum(given[used]) * files), prepend=0).astype(int)
    while sizes.min() < 1:
        sizes[sizes.argmin()] += 1
        sizes[sizes.argmax()] -= 1
    parts = np.repeat([BLOCKS[k] for k in used], sizes)
    return [str(part) for part in np.random.default_rng(seed).permutation(parts)]


def _same_skeleton(first: Path, one: Trial, path: Path, other: Trial) -> None:
    """Refuse files whose joints differ; the lengths of their bones may."""
    pairs = zip(one.joints, other.joints, strict=False)
    for number, (a, b) in enumerate(pairs):
        if (a.name, a.parent) != (b.name, b.parent):
            below = [
                trial.joints[j.parent].name for trial, j in ((one, a), (other, b)) if j.parent >= 0
            ]
            where = f" below {' and '.join(dict.fromkeys(below))}" if below else ""
            raise InputError(
                f'{path} has another skeleton than {first}: joint {number + 1} is "{b.name}" '
                f'instead of "{a.name}"{where}. Expected the same joints in the same order in all '
                f"files. Import the files of each skeleton by themselves."
            )
    if len(one.joints) != len(other.joints):
        raise InputError(
            f"{path} has {len(other.joints)} joints, but {first} has {len(one.joints)}. Expected "
            f"the same joints in all files. Import the files of each skeleton by themselves."
        )


def _same_rate(first: Path, one: Trial, path: Path, other: Trial) -> None:
    here, there = (float(np.diff(trial.times[:2])[0]) for trial in (one, other))
    if abs(here - there) > TOLERANCE * here:
        raise InputError(
            f"{path} has {1 / there:.4g} frames per second, but {first} has {1 / here:.4g}. "
            f"Expected one rate for all files. Give --rate, the rate that all are reduced to."
        )
