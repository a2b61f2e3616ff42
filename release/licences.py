"""`python -m release.licences`: under which licences pgode and all that it installs stand.

Writes a table for people, build/licences.md, and a bill of materials for machines (CycloneDX 1.6),
build/sbom.cdx.json. Both describe the environment that this runs in, from the metadata of its
packages, and what the repository itself carries of others.
"""

import argparse
import hashlib
import json
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
UNKNOWN = "unknown"
EXTRAS = ("md", "tables", "track", "export", "ray", "tune")
"""Extras that people install to use pgode. `dev` and `docs` are for those who change it."""

# What packages write into their metadata, by its SPDX name. A classifier such as "BSD License" does
# not say which of the BSD licences it is, so it is kept as it is.
SPDX = {
    "apache 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "bsd 2-clause license": "BSD-2-Clause",
    "3-clause bsd license": "BSD-3-Clause",
    "bsd 3-clause license": "BSD-3-Clause",
    "lgplv2.1+": "LGPL-2.1-or-later",
    "python software foundation license": "PSF-2.0",
}
STATED_ELSEWHERE = {"cuda-toolkit": "LicenseRef-NVIDIA-Proprietary"}
"""Packages whose metadata state none: this one is empty, and those of CUDA that it names do."""
EXPRESSION = re.compile(
    r"[A-Za-z0-9.+-]+-[0-9][A-Za-z0-9.+-]*|MIT|Zlib|MIT-CMU|.+ (AND|OR|WITH) .+"
)


@dataclass(frozen=True)
class Component:
    """One piece of software under a licence of its own."""

    name: str
    version: str
    licence: str
    kind: str
    "Why it is there: runtime, the name of an extra, or carried."

    sha256: str = ""
    "Of the file, if it is carried in the repository."


def licence_of(described: Mapping[str, str], classifiers: Iterable[str] = ()) -> str:
    """The licence that a package's metadata states, as an SPDX expression where it can be told.

    Newer packages state an expression. Older ones have a free text, which may be the whole licence,
    and classifiers; a short text is more exact than a classifier.
    """
    if expression := described.get("License-Expression"):
        return expression
    text = (described.get("License") or "").strip()
    first = text.splitlines()[0].strip() if text else ""
    named = [line.split(" :: ")[-1] for line in classifiers if line.startswith("License ::")]
    stated = [text, *named, first] if "\n" not in text else [first, *named]
    for words in stated:
        if words.lower() in SPDX:
            return SPDX[words.lower()]
        if EXPRESSION.fullmatch(words):
            return words
    if named:
        return " and ".join(named)
    return text if text and "\n" not in text else UNKNOWN


@cache
def installed(name: str) -> Component | None:
    """What this environment has of a package; None if it is absent, as on another platform."""
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None
    kinds = ("License-Expression", "License")
    described = {key: found.metadata[key] for key in kinds if key in found.metadata}
    licence = licence_of(described, found.metadata.get_all("Classifier") or [])
    if licence == UNKNOWN:
        licence = STATED_ELSEWHERE.get(canonicalize_name(found.name), UNKNOWN)
    return Component(found.name, found.version, licence, "")


def project() -> dict[str, Any]:
    """What pyproject.toml says of pgode: the metadata of an editable install may be older."""
    described: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return described


def _extra(name: str) -> list[str]:
    requirements: list[str] = project()["optional-dependencies"][name]
    return requirements


def closure(requirements: Iterable[str]) -> dict[str, Component]:
    """These packages as far as they are installed here, with all that they require in turn.

    Not all that lies in the environment: tests and people put other things there.
    """
    found: dict[str, Component] = {}
    waiting = [(Requirement(line), frozenset({""})) for line in requirements]
    seen = set()
    while waiting:
        needed, asked = waiting.pop()
        if needed.marker and not any(needed.marker.evaluate({"extra": e}) for e in asked):
            continue
        key, extras = canonicalize_name(needed.name), frozenset({"", *needed.extras})
        component = installed(needed.name)
        if component is None or (key, extras) in seen:
            continue
        seen.add((key, extras))
        found[key] = component
        waiting += [(Requirement(line), extras) for line in metadata.requires(needed.name) or ()]
    return found


def dependencies() -> list[Component]:
    """Runtime dependencies, then what each extra adds, each package once and in order of name."""
    groups = {"runtime": project()["dependencies"]}
    for extra in EXTRAS:
        groups[f"extra {extra}"] = _extra(extra)
    listed: dict[str, Component] = {}
    for kind, requirements in groups.items():
        for key, component in sorted(closure(requirements).items()):
            listed.setdefault(key, replace(component, kind=kind))
    return list(listed.values())


def carried() -> list[Component]:
    """What the repository holds of others: the molecule player, and what its build has inside."""
    version = re.search(r"^3DMOL := (\S+)$", (ROOT / "Makefile").read_text(), re.M)
    assert version is not None
    script = ROOT / "src/pgode/reports/assets/3Dmol-min.js"
    digest = hashlib.sha256(script.read_bytes()).hexdigest()
    player = Component("3Dmol.js", version[1], "BSD-3-Clause", "carried", digest)
    # From 3Dmol's LICENSE and the dependencies of its package; their versions are not stated there.
    inside = {
        "GLmol": "MIT",
        "three.js": "MIT",
        "jQuery": "MIT",
        "iobuffer": "MIT",
        "netcdfjs": "MIT",
        "pako": "MIT AND Zlib",
        "upng-js": "MIT",
    }
    parts = [Component(name, "", licence, "in 3Dmol.js") for name, licence in inside.items()]
    return [player, *parts]


def table(components: list[Component]) -> str:
    """The list as a page."""
    pgode = project()
    rows = [f"| {c.name} | {c.version} | {c.licence} | {c.kind} |" for c in components]
    return (
        f"# Licences\n\npgode {pgode['version']} is under the {pgode['license']} licence. "
        "It installs or carries the following, as stated in the metadata of each package.\n\n"
        "| name | version | licence | why it is there |\n|---|---|---|---|\n"
        + "\n".join(rows)
        + "\n"
    )


def bill(components: list[Component]) -> dict[str, object]:
    """The list as a CycloneDX document. No date and no serial number: same set, same file."""
    pgode = Component("pgode", project()["version"], project()["license"], "")
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", **_entry(pgode)}},
        "components": [{"type": "library", **_entry(component)} for component in components],
    }


def _entry(component: Component) -> dict[str, object]:
    kind, name = (
        ("npm", component.name) if "3Dmol" in component.name + component.kind else ("pypi", "")
    )
    name = name.lower().removesuffix(".js") if kind == "npm" else canonicalize_name(component.name)
    entry: dict[str, object] = {"name": component.name}
    if component.version:
        entry |= {"version": component.version, "purl": f"pkg:{kind}/{name}@{component.version}"}
    if component.licence == UNKNOWN:
        return entry
    if " " in component.licence and EXPRESSION.fullmatch(component.licence):
        entry["licenses"] = [{"expression": component.licence}]
    else:
        key = "id" if EXPRESSION.fullmatch(component.licence) else "name"
        entry["licenses"] = [{"license": {key: component.licence}}]
    if component.sha256:
        entry["hashes"] = [{"alg": "SHA-256", "content": component.sha256}]
    if component.kind:
        entry["properties"] = [{"name": "pgode:why", "value": component.kind}]
    return entry


def main() -> int:
    """Write both files, and fail if a licence is not known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "build", help="folder to write to")
    folder = parser.parse_args().output
    components = [*dependencies(), *carried()]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "licences.md").write_text(table(components), encoding="utf-8")
    text = json.dumps(bill(components), indent=2)
    (folder / "sbom.cdx.json").write_text(text + "\n", encoding="utf-8")
    print(f"{len(components)} components in {folder}: licences.md, sbom.cdx.json")
    direct = [*project()["dependencies"], *(r for e in EXTRAS for r in _extra(e))]
    if absent := [line for line in direct if installed(Requirement(line).name) is None]:
        print(f"Not installed here, so not listed: {', '.join(absent)}.", file=sys.stderr)
    unknown = [component.name for component in components if component.licence == UNKNOWN]
    if unknown:
        print(f"No licence is stated by: {', '.join(unknown)}.", file=sys.stderr)
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
