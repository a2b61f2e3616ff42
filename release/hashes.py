"""`python -m release.hashes`: write constraints-hashed.txt: the pinned set with its hashes.

pip resolves the set of constraints.txt without installing it and reports which files it would take.
Each version then gets the hashes of all its files that fit CPython 3.11 to 3.13 on Linux x86-64, as
the index lists them, and the hash of the very file that pip chose.

torch exists in several builds of one version. Hashes of a build that was recorded before are kept,
and what only the build of the default index needs, several GB of CUDA libraries, goes to a file of
its own, constraints-hashed-cuda.txt.
"""

import argparse
import html
import json
import os
import re
import ssl
import subprocess
import sys
import tempfile
import tomllib
import urllib.request
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name, parse_wheel_filename

from release.locks import CUDA, LOCK, Pin, read_lock, write_lock

ROOT = Path(__file__).parents[1]
PYTHONS = ("cp311", "cp312", "cp313")
ACCEPTED = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"
WITHOUT = ("docs",)
"""Extras that are left out: nobody needs a verified copy of what writes the pages."""


def pip(*words: str, **variables: str) -> str:
    """What pip prints, under the settings of this machine and these variables."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *words]
    environment = {**os.environ, **variables}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        sys.exit(f"pip {words[0]} failed:\n{done.stderr}")
    return done.stdout


def requirements() -> list[str]:
    """torch as it is pinned, what pgode and its extras need, and what builds it."""
    described = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = described["project"]["optional-dependencies"]
    needed = [*described["project"]["dependencies"], *described["build-system"]["requires"]]
    return needed + [line for name in extras if name not in WITHOUT for line in extras[name]]


def resolved(**variables: str) -> dict[str, dict[str, Any]]:
    """The files that pip would install into an empty environment, by name of package."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        constraints = str(ROOT / "constraints.txt")
        words = ["--dry-run", "--ignore-installed", "--report", str(report), "-c", constraints]
        pip("install", "--quiet", *words, *requirements(), **variables)
        files = json.loads(report.read_text())["install"]
    return {canonicalize_name(file["metadata"]["name"]): file for file in files}


def setting(name: str) -> str:
    """A setting of pip, from the environment or its files; empty if it has none."""
    if value := os.environ.get("PIP_" + name.upper().replace("-", "_")):
        return value
    settings = dict(line.partition("=")[::2] for line in pip("config", "list").splitlines())
    return settings.get(f"global.{name}", "").strip("'")


def index_address() -> str:
    """The index that pip is set to use; pip itself knows which one that is without any setting."""
    if address := setting("index-url"):
        return address
    program = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


LINK = re.compile(r"#sha256=([0-9a-f]{64})\"[^>]*>\s*([^<\s]+)\s*</a>")


def listed(address: str, certificates: str, name: str) -> dict[str, str]:
    """Hashes of a package's files in the index, by name of file; none if it does not answer.

    Indexes answer in JSON or, the older ones, with a page of links that end in a hash.
    """
    asked = urllib.request.Request(f"{address.rstrip('/')}/{name}/", headers={"Accept": ACCEPTED})
    trusted = ssl.create_default_context(cafile=certificates or None)
    try:
        with urllib.request.urlopen(asked, timeout=60, context=trusted) as answer:
            text, kind = answer.read().decode(), answer.headers.get_content_type()
    except (OSError, ValueError):
        return {}
    if not kind.endswith("json"):
        return {html.unescape(name): digest for digest, name in LINK.findall(text)}
    files = {file["filename"]: file["hashes"].get("sha256") for file in json.loads(text)["files"]}
    return {name: digest for name, digest in files.items() if digest}


def fits(filename: str, version: str) -> bool:
    """Whether a file is a build of this version for one of PYTHONS on Linux x86-64, or for all."""
    if not (filename.endswith(".whl") and f"-{version}-" in filename):
        return False
    return any(
        (tag.platform == "any" or (tag.platform.endswith("x86_64") and "linux" in tag.platform))
        and (
            tag.interpreter in ("py3", *PYTHONS)
            or (tag.abi == "abi3" and tag.interpreter.startswith("cp3"))
        )
        and not tag.abi.endswith("t")
        for tag in parse_wheel_filename(filename)[3]
    )


def pinned(name: str, file: dict[str, Any], others: dict[str, str]) -> Pin:
    """A package at the version that pip chose, with the hashes of all files that fit it."""
    version = str(file["metadata"]["version"]).partition("+")[0]
    chosen = file["download_info"]
    hashes = {chosen["archive_info"]["hashes"]["sha256"]}
    source = not chosen["url"].partition("#")[0].endswith(".whl")
    for filename, digest in others.items():
        if fits(filename, version) or (source and same_source(filename, version)):
            hashes.add(digest)
    return Pin(name, version, tuple(sorted(hashes)), source)


def same_source(filename: str, version: str) -> bool:
    """Whether a file is the source of this version."""
    return filename.endswith(f"-{version}.tar.gz")


def with_builds_known_before(pins: Iterable[Pin], before: Iterable[Pin]) -> list[Pin]:
    """Keep hashes of other builds of torch: one machine's settings show only one of them."""
    known = {(pin.name, pin.version): pin.hashes for pin in before if pin.name == "torch"}
    return [
        Pin(
            p.name,
            p.version,
            tuple(sorted({*p.hashes, *known.get((p.name, p.version), ())})),
            p.source,
        )
        for p in pins
    ]


def main() -> int:
    """Resolve twice, since a machine may take torch from elsewhere, and write both files."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    here = resolved()
    with tempfile.TemporaryDirectory() as empty:
        default = resolved(PIP_FIND_LINKS=empty)
    address, certificates = index_address(), setting("cert")

    def pin(item: tuple[str, dict[str, Any]]) -> Pin:
        return pinned(*item, listed(address, certificates, item[0]))

    only_default = {name: file for name, file in default.items() if name not in here}
    with ThreadPoolExecutor(4) as pool:
        pins = list(pool.map(pin, sorted(here.items())))
        cuda = list(pool.map(pin, sorted(only_default.items())))
    before = read_lock(ROOT / LOCK) if (ROOT / LOCK).exists() else []
    pins = with_builds_known_before(pins, before)
    write_lock(ROOT / LOCK, pins)
    if cuda:
        write_lock(ROOT / CUDA, cuda)
    for path, found in ((LOCK, pins), (CUDA, cuda)):
        print(f"{path}: {len(found)} packages, {sum(len(p.hashes) for p in found)} hashes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
