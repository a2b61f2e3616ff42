"""Joint residuals of all objects of a system, so that a sampled forecast is a plausible state.

Calibrated ranges of single coordinates ignore correlations: sampled one by one they tear bonds
apart. Bonded atoms have correlated errors, shared by all systems of a molecule; the same holds for
the objects of any systems that share a reference. So samples take the order of their values from
residuals of whole validation systems, rotated with the system, and the values from quantiles, with
a spread for each object and frame.
"""

import io
import struct
import zipfile
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from jaxtyping import Float

from pgode.data.superposition import rotations
from pgode.evaluation.predictions import Predictions
from pgode.evaluation.uncertainty.levels import LEVELS
from pgode.evaluation.uncertainty.stored import archive_problem, read_residuals
from pgode.runtime.errors import InputError
from pgode.runtime.files import write_bytes
from pgode.runtime.stored.checking import is_present, read_listed

MIN_SYSTEMS = 10
"""Smallest number of validation systems: residuals of fewer would repeat among the samples."""
MAX_VALUES = 8_000_000
"""Largest number of residuals stored; bounds the size of the file."""
FEW_SAMPLES = 10
"""With fewer samples their ranks would be too coarse; ranks among all members are used instead."""
RESIDUALS_FILE = "residuals.npz"
UNREADABLE = (
    *(OSError, ValueError, EOFError, KeyError, TypeError, SyntaxError, NotImplementedError),
    *(RuntimeError, zipfile.BadZipFile, zlib.error, struct.error),
)
"""Exceptions of zipfile and numpy for a file that is no archive of arrays."""


@dataclass(frozen=True)
class JointResiduals:
    """Residuals of whole systems at `frames` after the last observed one, in the reference's axes.

    A member is one validation system.
    """

    frames: Float[np.ndarray, " frame"]
    fields: Float[np.ndarray, "member object frame 3"]

    @classmethod
    def fit(cls, validation: Predictions) -> "JointResiduals | None":
        """The residuals of the validation split; None without a reference or with few systems."""
        systems = _by_system(validation.mean, validation.reference)
        if systems is None or not validation.known.all():
            return None
        mean, reference = systems
        times = validation.times.reshape(*mean.shape[:3])
        fields = (validation.truth - validation.mean).reshape(mean.shape)
        members = min(len(fields), MAX_VALUES // fields[0].size)
        if members < MIN_SYSTEMS or not (times == times[:1, :1]).all():
            return None
        rotated = np.einsum("sofi,sij->sofj", fields, _onto_reference(mean, reference))
        return cls(times[0, 0], rotated[:members].astype(np.float16).astype(np.float64))

    @classmethod
    def read(cls, folder: Path) -> "JointResiduals | None":
        """The residuals in a run folder; None if it has none."""
        if not is_present(folder, RESIDUALS_FILE):
            return None
        content = read_listed(folder, RESIDUALS_FILE)
        try:
            return cls(*read_residuals(io.BytesIO(content)))
        except UNREADABLE as error:
            raise InputError(archive_problem(error, folder / RESIDUALS_FILE)) from None

    def write(self, folder: Path) -> None:
        """Write into a run folder, in one step."""
        content = io.BytesIO()
        np.savez_compressed(content, frames=self.frames, fields=self.fields.astype(np.float16))
        write_bytes(folder / RESIDUALS_FILE, content.getvalue())

    @cached_property
    def _spread(self) -> Float[np.ndarray, "object frame 3"]:
        spread = np.sqrt((self.fields**2).mean(0))
        return np.asarray(np.where(spread > 0, spread, 1.0))

    @cached_property
    def _quantiles(self) -> Float[np.ndarray, "frame level"]:
        """Quantiles at LEVELS of the residuals in units of their spread."""
        return np.asarray(np.quantile(self.fields / self._spread, LEVELS, axis=(0, 1, 3)).T)

    def suits(
        self,
        mean: Float[np.ndarray, "object frame feature"],
        reference: Float[np.ndarray, "object axis"] | None,
    ) -> bool:
        """Whether these systems have the reference, and the number of objects, of the members."""
        systems = _by_system(mean, reference)
        return systems is not None and systems[0].shape[1] == self.fields.shape[1]

    def samples(
        self,
        mean: Float[np.ndarray, "object frame 3"],
        times: Float[np.ndarray, "object frame"],
        reference: Float[np.ndarray, "object axis"] | None,
        count: int,
        seed: int,
    ) -> Float[np.ndarray, "sample object frame 3"] | None:
        """Sampled forecasts of systems with this reference; None if they have another or none."""
        members, objects = self.fields.shape[:2]
        systems = _by_system(mean, reference)
        if systems is None or systems[0].shape[1] != objects:
            return None
        means, shared = systems
        random = np.random.default_rng(seed)
        drawn = count if count >= FEW_SAMPLES else max(count, members)
        errors = np.empty((count, *means.shape))
        for system, rotation in enumerate(_onto_reference(means, shared)):
            system_times = times[system * objects]
            chosen = np.concatenate(
                [random.permutation(members) for _ in range(-(-drawn // members))]
            )[:drawn]
            fields = _interpolated(self.fields[chosen], self.frames, system_times, 2)
            order = fields.argsort(0).argsort(0)
            # One position within the ranks for the whole sample: all its objects move jointly.
            ranks = ((order + random.random((drawn, 1, 1, 1))) / drawn)[:count]
            noise = np.empty(ranks.shape)
            quantiles = _interpolated(self._quantiles, self.frames, system_times, 0)
            for k, row in enumerate(quantiles):
                noise[:, :, k] = np.interp(ranks[:, :, k], LEVELS, row)
            spread = _interpolated(self._spread, self.frames, system_times, 1)
            errors[:, system] = noise * spread @ rotation.T
        return np.asarray((means + errors).reshape(count, *mean.shape))


def _by_system(
    mean: Float[np.ndarray, "object frame feature"],
    reference: Float[np.ndarray, "object axis"] | None,
) -> tuple[Float[np.ndarray, "system object frame 3"], Float[np.ndarray, "object 3"]] | None:
    """Forecasts of each system, and the reference of one; None if they share none in 3D."""
    if reference is None or reference.shape[1] != 3 or mean.shape[2] != 3 or not len(mean):
        return None
    # The reference of the first object repeats where the next system begins.
    repeats = np.flatnonzero((reference[1:] == reference[0]).all(1))
    objects = int(repeats[0]) + 1 if len(repeats) else len(reference)
    if len(mean) % objects:
        return None
    references = reference.reshape(-1, objects, 3)
    if not (references == references[0]).all():
        return None
    return mean.reshape(len(references), objects, *mean.shape[1:]), references[0]


def _onto_reference(
    mean: Float[np.ndarray, "system object frame 3"], reference: Float[np.ndarray, "object 3"]
) -> Float[np.ndarray, "system 3 3"]:
    """Rotations, applied from the right, of each first forecast frame onto the reference."""
    return rotations(mean[:, None, :, 0], reference[None, None])[:, 0]


def _interpolated(
    values: np.ndarray, frames: Float[np.ndarray, " frame"], times: np.ndarray, axis: int
) -> np.ndarray:
    """Values along an axis of frames, interpolated to other times; constant beyond the ends."""
    place = np.interp(times, frames, np.arange(len(frames)))
    left = np.minimum(place.astype(np.int64), max(len(frames) - 2, 0))
    right = np.minimum(left + 1, len(frames) - 1)
    shape = [1] * values.ndim
    shape[axis] = len(times)
    share = (place - left).reshape(shape)
    low, high = np.take(values, left, axis), np.take(values, right, axis)
    return np.asarray(low * (1 - share) + high * share)
