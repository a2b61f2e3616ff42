"""The form of a stored calibration and of stored joint residuals."""

import math
import zipfile
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Self

import numpy as np
from jaxtyping import Float
from pydantic import Field, model_validator

from pgode.evaluation.uncertainty.levels import LEVELS
from pgode.runtime.stored.schema import (
    NotNegative,
    Positive,
    Stored,
    check_increasing,
    check_lengths,
    parsed,
)

FIX = (
    "Restore the file from a copy, or calibrate again: remove it and continue the run with pgode "
    "train --resume."
)
MAX_BYTES = 2**25
"""Of the arrays of an archive of residuals when unpacked: more than any that training writes."""


class StoredCalibration(Stored):
    """The entries of `pgode.evaluation.uncertainty.calibration.Calibration`."""

    levels: list[float]
    frames: Annotated[list[NotNegative], Field(min_length=1)]
    quantiles: list[list[list[float]]]
    spread: list[list[Positive]]

    @model_validator(mode="after")
    def _belong_together(self) -> Self:
        if self.levels != LEVELS.tolist():
            raise ValueError(
                f"its quantiles are of other levels than this version reads. Expected "
                f"{len(LEVELS)} levels from {LEVELS[0]} to {LEVELS[-1]}."
            )
        check_increasing("frames", self.frames)
        check_lengths("frames", len(self.frames), {"quantiles": self.quantiles})
        check_lengths("frames", len(self.frames), {"spread": self.spread})
        features = len(self.spread[0])
        for frame, (rows, spread) in enumerate(zip(self.quantiles, self.spread, strict=True)):
            names = f"quantiles.{frame}", f"spread.{frame}"
            check_lengths("spread.0", features, {names[0]: rows, names[1]: spread})
            for feature, row in enumerate(rows):
                self._check_quantiles(f"{names[0]}.{feature}", row)
        return self

    def _check_quantiles(self, name: str, row: list[float]) -> None:
        check_lengths("levels", len(self.levels), {name: row})
        if row != sorted(row):
            raise ValueError(
                f'the entry "{name}" has a quantile below that of a lower level. Expected '
                f"quantiles that do not decrease."
            )


def checked_calibration(content: Any, where: str, features: int | None) -> dict[str, Any]:
    """The entries of a stored calibration, for a model of this many features if that is known."""
    form = parsed(StoredCalibration, content, where, FIX)
    if features is not None:
        parsed(_Features, {"own": len(form.spread[0]), "wanted": features}, where, FIX)
    found: dict[str, Any] = content
    return found


class _Features(Stored):
    own: int
    wanted: int

    @model_validator(mode="after")
    def _same(self) -> Self:
        if self.own != self.wanted:
            raise ValueError(
                f"it has quantiles of {self.own} features. Expected {self.wanted}, as the run has."
            )
        return self


def read_residuals(
    file: BinaryIO,
) -> tuple[Float[np.ndarray, " frame"], Float[np.ndarray, "member object frame 3"]]:
    """The arrays of an archive of residuals; a ValueError says what is wrong with them.

    Sizes are compared with what the archive holds before anything is unpacked.
    """
    with zipfile.ZipFile(file) as archive:
        frames, fields = (_array(archive, f"{name}.npy") for name in ("frames", "fields"))
    if frames.ndim != 1 or fields.ndim != 4 or fields.shape[2:] != (*frames.shape, 3):
        raise ValueError(
            f"fields of shape {fields.shape} and frames of shape {frames.shape} do not belong "
            f"together"
        )
    if not fields.size or not np.isfinite(fields).all():
        raise ValueError("fields are empty, or not all finite")
    if not np.isfinite(frames).all() or frames[0] < 0 or (np.diff(frames) <= 0).any():
        raise ValueError("frames do not increase, or are not finite")
    return frames, fields


def _array(archive: zipfile.ZipFile, name: str) -> Float[np.ndarray, "..."]:
    held = archive.getinfo(name).file_size
    if held > MAX_BYTES:
        raise ValueError(f"{name} has {held:,} bytes, more than the {MAX_BYTES:,} that are read")
    with archive.open(name) as member:
        version = np.lib.format.read_magic(member)
        if version != (1, 0):
            raise ValueError(f"{name} has the version {version} of numpy's format, not (1, 0)")
        shape, _, kind = np.lib.format.read_array_header_1_0(member)
    if kind.kind != "f" or math.prod(shape) * kind.itemsize > held:
        raise ValueError(
            f"{name} has {kind} of shape {shape}, which its {held:,} bytes cannot hold"
        )
    with archive.open(name) as member:
        found = np.lib.format.read_array(member, allow_pickle=False)
    return np.asarray(found, dtype=np.float64)


def archive_problem(error: Exception, path: Path) -> str:
    """What is wrong with an archive of residuals, in words."""
    detail = f"it lacks {error}" if isinstance(error, KeyError) else str(error).rstrip(".")
    return (
        f"cannot read {path}: {detail or type(error).__name__}. Expected the residuals that "
        f"training wrote. Restore the file, or remove it (then pgode verify "
        f"{path.parent} --accept): coordinates are then sampled independently."
    )
