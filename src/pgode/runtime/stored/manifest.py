"""The manifest of a run folder: size and SHA-256 of each of its files.

Files change together with it in a way that no kill can spoil. Before some of them are replaced the
manifest says that they are changing, so that it vouches for them no longer; once they are replaced
it lists them again. A process that is killed in between leaves files that are whole (each is
replaced in one step) and that their own checks have to vouch for: checkpoints have a checksum
within, all others a schema.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from pydantic import field_validator

from pgode.runtime.errors import InputError
from pgode.runtime.locks import locked
from pgode.runtime.reading import Limits, decoded, mapping, open_file, parse_json, read_bytes
from pgode.runtime.stored.schema import Count, Hash, Stored, parsed
from pgode.runtime.stored.sealed import unsealed, write_sealed

MANIFEST = "manifest.json"
FORMAT = 1
LIMITS = Limits(size=2**20, nodes=10_000)
RUN_FILES = (
    "config.json",
    "normaliser.json",
    "data.json",
    "calibration.json",
    "residuals.npz",
    "noise_floor.json",
    "metrics.jsonl",
    "metrics.csv",
    "model.safetensors",
    "checkpoints/*.safetensors",
)
"""What a manifest lists of a folder."""


class FileRecord(Stored):
    """What a file was when it was written."""

    sha256: Hash
    size: Count


class _Content(Stored):
    format: Literal[1]
    files: dict[str, FileRecord]
    changing: list[str]

    @field_validator("files", "changing")
    @classmethod
    def _inside(cls, names: Any) -> Any:
        """Only files of the folder itself: a manifest may come from a stranger."""
        for name in names:
            place = PurePosixPath(name)
            if place.is_absolute() or ".." in place.parts or "\\" in name or ":" in name:
                raise ValueError(f"it lists {name!r}. Expected files of the run folder alone.")
        return names


@dataclass(frozen=True)
class Manifest:
    """Files by their path within the folder, and those that are changing."""

    files: Mapping[str, FileRecord] = field(default_factory=dict)
    changing: frozenset[str] = frozenset()

    def vouches_for(self, name: str) -> bool:
        """Whether the file must be as it is listed."""
        return name not in self.changing

    @classmethod
    def of(cls, folder: Path) -> "Manifest":
        """The files of a folder as they are now."""
        return cls(_records(folder, run_files(folder)))

    @classmethod
    def read(cls, folder: Path) -> "Manifest | None":
        """The manifest of a folder; None if it has none, as runs of earlier versions."""
        path = folder / MANIFEST
        if not path.exists():
            return None
        return _parsed(read_bytes(path, "", LIMITS.size), folder)

    def write(self, folder: Path) -> None:
        """Replace the manifest of a folder in one step."""
        files = {name: self.files[name].model_dump() for name in sorted(self.files)}
        write_sealed(
            folder / MANIFEST,
            {"format": FORMAT, "files": files, "changing": sorted(self.changing)},
        )


@lru_cache(maxsize=8)
def _parsed(content: bytes, folder: Path) -> Manifest:
    """The manifest with these bytes: opening a run reads it once for each file."""
    path = folder / MANIFEST
    fix = (
        f"Restore it from a copy; or have the files of the run checked by their form alone and "
        f"listed anew: pgode verify {folder} --accept."
    )
    entries = parse_json(decoded(content, str(path)), str(path), LIMITS)
    entries = unsealed(mapping(entries, path, "", "the manifest of a run"), path, fix)
    form = parsed(_Content, entries, str(path), fix)
    return Manifest(form.files, frozenset(form.changing))


def run_files(folder: Path) -> list[str]:
    """Files of a run that are in a folder, by their path within it."""
    found = (path for pattern in RUN_FILES for path in folder.glob(pattern) if path.is_file())
    return sorted(path.relative_to(folder).as_posix() for path in found)


def fingerprint(path: Path) -> FileRecord:
    """Size and SHA-256 of a file, whatever its size in a small amount of memory."""
    found, size = hashlib.sha256(), 0
    with open_file(path) as file:
        while block := file.read(2**20):
            found.update(block)
            size += len(block)
    return FileRecord(sha256=found.hexdigest(), size=size)


def announce(folder: Path, coming: Mapping[str, Path], changing: Iterable[str]) -> None:
    """Write the first manifest of a folder, before the file that makes it a run is renamed.

    `coming` are such files, by name, where they are now. So there is no run without a manifest.
    """
    records = {name: fingerprint(path) for name, path in coming.items()}
    Manifest({**Manifest.of(folder).files, **records}, frozenset(changing)).write(folder)


@contextmanager
def changes(folder: Path, *names: str, adopt: bool = False) -> Iterator[None]:
    """Files of a folder may be replaced, added or removed within the block.

    A folder without a manifest, a run of an earlier version, gets none by this, unless it is to
    `adopt` one.
    """
    with locked(folder / MANIFEST):
        before = Manifest.read(folder)
        announced = before is not None and before.changing.issuperset(names)
        if before is None and adopt:
            before = Manifest.of(folder)
        if before is not None and not announced:
            replace(before, changing=before.changing | set(names)).write(folder)
    if before is None:
        yield
        return
    try:
        yield
    except BaseException:
        with suppress(InputError, OSError):  # The first problem is the one to tell.
            if (folder / MANIFEST).exists():  # The folder may have been moved or removed.
                _settle(folder, names)
        raise
    _settle(folder, names)


def _settle(folder: Path, names: Iterable[str]) -> None:
    """List files as they are now."""
    with locked(folder / MANIFEST):
        listed = Manifest.read(folder) or Manifest.of(folder)
        others = {name: record for name, record in listed.files.items() if name not in names}
        now = _records(folder, (name for name in names if (folder / name).is_file()))
        Manifest({**others, **now}, listed.changing.difference(names)).write(folder)


def _records(folder: Path, names: Iterable[str]) -> dict[str, FileRecord]:
    return {name: fingerprint(folder / name) for name in names}
