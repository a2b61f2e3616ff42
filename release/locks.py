"""The files of pinned packages with hashes, which pip reads with --require-hashes."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

LOCK = "constraints-hashed.txt"
CUDA = "constraints-hashed-cuda.txt"

HEADS = {
    LOCK: """\
# Written by `make hashes` from constraints.txt: all packages of pgode, its extras and its tests,
# with the SHA-256 of every file for CPython 3.11 to 3.13 on Linux x86-64. `make install-verified`
# installs it.
""",
    CUDA: """\
# Written by `make hashes`: what torch needs besides constraints-hashed.txt in the build of the
# default index, the one with CUDA. Builds for the CPU alone need none of it.
""",
}
SOURCE = "# Source only: built with the tools above, without fetching others."
ENTRY = re.compile(r"^([\w.-]+)==(\S+)((?: \\\n {4}--hash=sha256:[0-9a-f]{64})+)$", re.M)


@dataclass(frozen=True)
class Pin:
    """One package at one version."""

    name: str
    version: str
    hashes: tuple[str, ...]
    source: bool = False
    "Whether the index has no built file of it, so that pip builds it."

    def __str__(self) -> str:
        return " \\\n    ".join(
            [f"{self.name}=={self.version}", *(f"--hash=sha256:{h}" for h in self.hashes)]
        )


def write_lock(path: Path, pins: Iterable[Pin]) -> None:
    """Write packages in order of name, those that have to be built last."""
    ordered = sorted(pins, key=lambda pin: (pin.source, pin.name))
    built = [str(pin) for pin in ordered if not pin.source]
    source = [str(pin) for pin in ordered if pin.source]
    lines = [HEADS.get(path.name, "") + "\n".join(built)]
    lines += [SOURCE, *source] if source else []
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_lock(path: Path) -> list[Pin]:
    """The packages of a file that `write_lock` wrote."""
    text = path.read_text(encoding="utf-8")
    boundary = text.find(SOURCE)
    return [
        Pin(
            found[1],
            found[2],
            tuple(re.findall(r"sha256:([0-9a-f]{64})", found[3])),
            source=0 <= boundary < found.start(),
        )
        for found in ENTRY.finditer(text)
    ]
