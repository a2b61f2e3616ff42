"""`python -m release.install FOLDER`: a new environment for which every file's hash was checked.

Run by `make install-verified` with any Python of 3.11 or newer; it needs nothing else. pip takes
only files that are in constraints-hashed.txt, also the tools that build what comes as source.
"""

import argparse
import json
import platform
import shlex
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from release.locks import CUDA, LOCK, Pin, read_lock, write_lock

ROOT = Path(__file__).parents[1]


class Refused(Exception):
    """What the index serves is not what was recorded. The text says what to do."""


def pip(python: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run pip in the new environment."""
    command = [str(python), "-m", "pip", "--disable-pip-version-check", *words]
    return subprocess.run(
        command, stderr=subprocess.PIPE, stdout=sys.stderr, text=True, check=False
    )


def served_torch(python: Path, version: str, flags: Sequence[str]) -> dict[str, Any]:
    """The file of torch that the index gives to this interpreter, as pip reports it."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        words = ["--quiet", "--dry-run", "--no-deps", "--ignore-installed", "--report", str(report)]
        done = pip(python, "install", *words, *flags, f"torch=={version}")
        if done.returncode:
            raise Refused(f"The index has no torch {version} for this Python.\n{done.stderr}")
        file: dict[str, Any] = json.loads(report.read_text())["install"][0]
    return file


def check_torch(file: dict[str, Any], pin: Pin) -> Pin:
    """The pin with the hash of this build alone, so that pip cannot take another recorded one.

    If the hash is not recorded, say which build it is: pip itself would only call it altered.
    """
    found = file["download_info"]["archive_info"]["hashes"]["sha256"]
    if found in pin.hashes:
        return replace(pin, hashes=(found,))
    name = unquote(file["download_info"]["url"].rpartition("/")[2])
    raise Refused(
        f"The index serves torch as {name} (SHA-256 {found}), and {LOCK} has no such file. Indexes "
        f"serve several builds of torch {pin.version}: the default one with CUDA, others for the "
        "CPU alone or for other accelerators. Recorded are the default index's and the CPU build "
        "of the machine that wrote the file. Either install from such an index "
        "(TORCH_FLAGS='--index-url ...'), or, if you trust this one, record its build with "
        "`make hashes` and look at the change before you use it. Nothing was installed."
    )


def install(python: Path, pins: Iterable[Pin], *words: str) -> None:
    """Install exactly these packages. pip refuses each file whose hash is not theirs."""
    with tempfile.TemporaryDirectory() as folder:
        lock = Path(folder) / "packages.txt"
        write_lock(lock, pins)
        options = ["--quiet", "--no-deps", "--require-hashes", *words]
        done = pip(python, "install", *options, "-r", str(lock))
    if done.returncode == 0:
        return
    if "DO NOT MATCH THE HASHES" in done.stderr:
        raise Refused(
            "The index serves a file that is not one of those recorded: another build of the same "
            f"version, or an altered file. Nothing of it was installed.\n{done.stderr}"
        )
    raise Refused(
        f"pip could not install {LOCK} with Python {platform.python_version()} on "
        f"{platform.system()} {platform.machine()}. The file is for 3.11 to 3.13 on Linux x86_64, "
        f"and the index has to serve its versions. pip says:\n{done.stderr}"
    )


def verified(folder: Path, flags: Sequence[str]) -> str:
    """Make the environment, and say what it holds."""
    pins = read_lock(ROOT / LOCK)
    torch = next(pin for pin in pins if pin.name == "torch")
    venv.create(folder, with_pip=True, clear=True)
    python = folder / "bin/python"
    file = served_torch(python, torch.version, flags)
    build = check_torch(file, torch)
    cuda = [] if "+cpu" in file["metadata"]["version"] else needed_by(file, read_lock(ROOT / CUDA))
    ready = [pin for pin in [*pins, *cuda] if not pin.source and pin is not torch]
    source = [pin for pin in pins if pin.source]
    install(python, [build], "--only-binary", ":all:", *flags)
    install(python, ready, "--only-binary", ":all:")
    install(python, source, "--no-build-isolation")
    for words in (
        ["install", "--quiet", "--no-deps", "--no-build-isolation", str(ROOT)],
        ["check"],
    ):
        done = pip(python, *words)
        if done.returncode:
            raise Refused(f"pip {words[0]} failed in {folder}.\n{done.stderr}")
    name = f"torch {file['metadata']['version']}" + (" with CUDA" if cuda else "")
    return (
        f"{1 + len(ready) + len(source)} packages with checked hashes, {name}, and pgode: {folder}"
    )


def needed_by(file: dict[str, Any], cuda: list[Pin]) -> list[Pin]:
    """All CUDA packages if this build asks for any of them, else none, as on other platforms."""
    asked = " ".join(file["metadata"].get("requires_dist", [])).lower().replace("_", "-")
    return cuda if any(pin.name in asked for pin in cuda) else []


def main() -> int:
    """Install, or say in a few sentences why not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to make the environment")
    parser.add_argument("--flags", default="", help="options for pip's step of torch alone")
    words = parser.parse_args()
    if words.folder.exists() and not (words.folder / "pyvenv.cfg").is_file():
        print(f"{words.folder} exists and is no environment: name another folder.", file=sys.stderr)
        return 2
    try:
        print(verified(words.folder.absolute(), shlex.split(words.flags)))
    except Refused as refusal:
        print(refusal, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
