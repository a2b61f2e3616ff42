"""How the atoms of a molecule err together, so that a sampled forecast is one of its structures.

Calibrated ranges of single coordinates say nothing of each other: drawn one by one they tear bonds
apart. Atoms that are bonded err alike, and which do so is the same in all systems of one molecule.
So samples take the order of their values from residuals of whole validation systems, turned with
the molecule, and the values from quantiles, with a spread for each atom and frame.
"""

import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from jaxtyping import Float

from pgode.data.superposition import rotations
from pgode.evaluation.predictions import Predictions
from pgode.runtime.errors import InputError
from pgode.runtime.files import replacing

LEAST, MOST = 10, 8_000_000
"""Fewer systems would come up again and again; more numbers are not kept."""
FEW = 10
"""Of fewer samples the order says too little: they are taken from as many as there are fields."""
LEVELS = np.concatenate([[0.005, 0.01], np.arange(0.025, 0.98, 0.025), [0.99, 0.995]])
FILE = "residuals.npz"

Fields = Float[np.ndarray, "member atom frame 3"]


@dataclass(frozen=True)
class Together:
    """Residuals of whole systems (members) at `frames` after the last observed one."""

    frames: Float[np.ndarray, " frame"]
    fields: Fields

    @classmethod
    def fit(cls, validation: Predictions) -> "Together | None":
        """From forecasts of the validation split; None if it is no molecule, or of few systems."""
        split = _by_system(validation.mean, validation.reference)
        if split is None or not validation.known.all():
            return None
        mean, structure = split
        times = validation.times.reshape(*mean.shape[:3])
        fields = (validation.truth - validation.mean).reshape(mean.shape)
        members = min(len(fields), MOST // fields[0].size)
        if members < LEAST or not (times == times[:1, :1]).all():
            return None
        turned = np.einsum("safi,sij->safj", fields, _turns(mean, structure))
        return cls(times[0, 0], turned[:members].astype(np.float16).astype(np.float64))

    @classmethod
    def read(cls, folder: Path) -> "Together | None":
        """From a run folder, if it has any."""
        path = folder / FILE
        if not path.exists():
            return None
        try:
            with path.open("rb") as file:
                kept = np.load(file, allow_pickle=False)
                frames, fields = kept["frames"], kept["fields"].astype(np.float64)
            if fields.shape[2:] != (*frames.shape, 3) or not np.isfinite(fields).all():
                raise ValueError(f"fields of shape {fields.shape}, or not all finite")
            return cls(frames, fields)
        except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
            raise InputError(
                f"cannot read {path}: {error}. Expected the residuals that training wrote. Restore "
                f"the file, or remove it: samples are then drawn for each coordinate alone."
            ) from None

    def write(self, folder: Path) -> None:
        """Into a run folder, in one step."""
        with replacing(folder / FILE) as temporary, temporary.open("wb") as file:
            fields = self.fields.astype(np.float16)
            np.savez_compressed(file, frames=self.frames, fields=fields)

    @cached_property
    def _spread(self) -> Float[np.ndarray, "atom frame 3"]:
        found = np.sqrt((self.fields**2).mean(0))
        return np.asarray(np.where(found > 0, found, 1.0))

    @cached_property
    def _quantiles(self) -> Float[np.ndarray, "frame level"]:
        """Of residuals in units of their spread, at LEVELS."""
        return np.asarray(np.quantile(self.fields / self._spread, LEVELS, axis=(0, 1, 3)).T)

    def samples(
        self,
        mean: Float[np.ndarray, "object frame 3"],
        times: Float[np.ndarray, "object frame"],
        structure: Float[np.ndarray, "object axis"] | None,
        count: int,
        seed: int,
    ) -> Float[np.ndarray, "sample object frame 3"] | None:
        """Sampled forecasts of systems of this molecule; None if they are of another."""
        members, atoms = self.fields.shape[:2]
        split = _by_system(mean, structure)
        if split is None or split[0].shape[1] != atoms:
            return None
        means, reference = split
        random = np.random.default_rng(seed)
        drawn = count if count >= FEW else max(count, members)
        found = np.empty((count, *means.shape))
        for system, turn in enumerate(_turns(means, reference)):
            when = times[system * atoms]
            chosen = np.concatenate(
                [random.permutation(members) for _ in range(-(-drawn // members))]
            )[:drawn]
            order = _at(self.fields[chosen], self.frames, when, 2).argsort(0).argsort(0)
            # One position within the ranks for all of a sample: it moves as a whole.
            ranks = ((order + random.random((drawn, 1, 1, 1))) / drawn)[:count]
            noise = np.empty(ranks.shape)
            for k, row in enumerate(_at(self._quantiles, self.frames, when, 0)):
                noise[:, :, k] = np.interp(ranks[:, :, k], LEVELS, row)
            found[:, system] = noise * _at(self._spread, self.frames, when, 1) @ turn.T
        return np.asarray((means + found).reshape(count, *mean.shape))


def _by_system(
    mean: Float[np.ndarray, "object frame feature"],
    structure: Float[np.ndarray, "object axis"] | None,
) -> tuple[Float[np.ndarray, "system atom frame 3"], Float[np.ndarray, "atom 3"]] | None:
    """Forecasts of each system, and the mean structure; None if they are of no known molecule."""
    if structure is None or structure.shape[1] != 3 or mean.shape[2] != 3 or not len(mean):
        return None
    again = np.flatnonzero((structure[1:] == structure[0]).all(1))
    atoms = int(again[0]) + 1 if len(again) else len(structure)
    if len(mean) % atoms:
        return None
    several = structure.reshape(-1, atoms, 3)
    if not (several == several[0]).all():
        return None
    return mean.reshape(len(several), atoms, *mean.shape[1:]), several[0]


def _turns(
    mean: Float[np.ndarray, "system atom frame 3"], structure: Float[np.ndarray, "atom 3"]
) -> Float[np.ndarray, "system 3 3"]:
    """What turns each system's first forecast frame onto the mean structure, from the right."""
    return rotations(mean[:, None, :, 0], structure[None, None])[:, 0]


def _at(
    values: np.ndarray, frames: Float[np.ndarray, " frame"], times: np.ndarray, axis: int
) -> np.ndarray:
    """Values along an axis of frames, interpolated to other times; the ends go on."""
    place = np.interp(times, frames, np.arange(len(frames)))
    left = np.minimum(place.astype(np.int64), max(len(frames) - 2, 0))
    right = np.minimum(left + 1, len(frames) - 1)
    shape = [1] * values.ndim
    shape[axis] = len(times)
    share = (place - left).reshape(shape)
    low, high = np.take(values, left, axis), np.take(values, right, axis)
    return np.asarray(low * (1 - share) + high * share)
