"""What an output says, without what differs between two equal runs: seconds, logs, headers."""

import hashlib
import json
from pathlib import Path
from typing import Any

from tests.attack.files import is_leftover

from pgode.runtime.stored.sealed import SEAL

PASSING = ("tensorboard", "manifest", "metrics.csv")
"""Logs, and what is made of the other files."""
CLOCK = {"seconds", "training", "time", "date", "memory_gb", SEAL}
"""Keys of results that tell when and how fast, and the checksum over these."""


def fingerprint(path: Path) -> dict[str, str]:
    """A hash for every file of an output, which is a file or a folder; empty if it is not there."""
    if path.is_file():
        return {path.name: _digest(path)}
    return {
        str(each.relative_to(path)): _digest(each)
        for each in sorted(path.rglob("*"))
        if each.is_file()
        and not each.name.endswith(".lock")
        and not is_leftover(str(each.relative_to(path)))  # Counted by itself.
        and not any(part.startswith(PASSING) for part in each.relative_to(path).parts)
    }


def _digest(path: Path) -> str:
    return hashlib.sha256(_essence(path)).hexdigest()


def _essence(path: Path) -> bytes:
    data = path.read_bytes()
    try:
        if path.suffix == ".jsonl":
            rows = [_without_clock(json.loads(line)) for line in data.splitlines()]
            return json.dumps(rows).encode()
        if path.suffix == ".json":
            return json.dumps(_without_clock(json.loads(data))).encode()
        if path.suffix == ".safetensors":
            return data[8 + int.from_bytes(data[:8], "little") :]
    except ValueError:
        return data  # Damaged, so it differs from every good one.
    if path.suffix == ".html":  # It shows seconds and dates; half a page is what must not be.
        return b"a whole page" if data.rstrip().endswith(b"</html>") else data
    return data


def _without_clock(content: Any) -> Any:
    if isinstance(content, dict):
        return {k: _without_clock(v) for k, v in content.items() if k not in CLOCK}
    if isinstance(content, list):
        return [_without_clock(each) for each in content]
    return content
