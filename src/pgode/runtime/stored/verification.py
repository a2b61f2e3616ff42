"""What a check of stored files found, file by file."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

State = Literal["as written", "own checksum", "form only", "no checksum", "wrong"]
"""Of a file: as it was written, by its SHA-256; by a checksum within it; only of the right form;
of a kind whose form is not checked, and without a checksum; or not to be used."""


@dataclass(frozen=True)
class FileCheck:
    """One file, and what was found about it."""

    name: str
    size: int | None
    sha256: str | None
    state: State
    problem: str = ""
    """What is wrong, in a paragraph; empty if nothing is."""


@dataclass(frozen=True)
class Verification:
    """A run, a data file or a forecast that was checked."""

    path: str
    kind: Literal["run", "data", "forecast"]
    files: tuple[FileCheck, ...]
    notes: tuple[str, ...] = ()
    """What a user should know and need not worry about."""

    @property
    def problems(self) -> list[str]:
        """What is wrong, one paragraph each."""
        return [each.problem for each in self.files if each.problem]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "path": self.path,
            "kind": self.kind,
            "verified": not self.problems,
            "files": [asdict(each) for each in self.files],
            "notes": list(self.notes),
        }
