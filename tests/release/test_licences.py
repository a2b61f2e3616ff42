"""Every package that pgode installs has a licence that is known, and both lists name it."""

import hashlib
import json
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from release import licences
from release.licences import UNKNOWN, bill, carried, dependencies, licence_of, project

ROOT = Path(__file__).parents[2]


def test_every_runtime_dependency_has_a_known_licence() -> None:
    found = {canonicalize_name(c.name): c for c in dependencies() if c.kind == "runtime"}
    asked = {canonicalize_name(Requirement(line).name) for line in project()["dependencies"]}
    assert asked <= set(found)
    assert [name for name, each in found.items() if each.licence == UNKNOWN] == []


def test_no_runtime_dependency_asks_others_to_open_their_source() -> None:
    strong = [c.name for c in dependencies() if c.kind == "runtime" and "GPL" in c.licence]
    assert strong == []


@pytest.mark.parametrize(
    "described, classifiers, licence",
    [
        ({"License-Expression": "MIT OR Apache-2.0", "License": "MIT"}, [], "MIT OR Apache-2.0"),
        ({"License": "Apache 2.0"}, [], "Apache-2.0"),
        ({"License": "BSD 3-Clause License\n\nCopyright ..."}, [], "BSD-3-Clause"),
        (
            {"License": "Copyright (c)\nAll rights"},
            ["License :: OSI Approved :: MIT License"],
            "MIT",
        ),
        ({"License": "BSD"}, ["License :: OSI Approved :: BSD License"], "BSD License"),
        ({"License": "LGPLv2.1+"}, [], "LGPL-2.1-or-later"),
        ({"License": "A licence of our own"}, [], "A licence of our own"),
        ({"License": "Copyright (c)\nAll rights reserved"}, [], UNKNOWN),
        ({}, [], UNKNOWN),
    ],
)
def test_licence_is_told_from_what_packages_state(
    described: dict[str, str], classifiers: list[str], licence: str
) -> None:
    assert licence_of(described, classifiers) == licence


def test_both_lists_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["licences", "--output", str(tmp_path / "build")])
    assert licences.main() == 0
    assert "licences.md, sbom.cdx.json" in capsys.readouterr().out
    written = json.loads((tmp_path / "build/sbom.cdx.json").read_text())
    assert (written["bomFormat"], written["specVersion"]) == ("CycloneDX", "1.6")
    names = [component["name"] for component in written["components"]]
    assert {"torch", "numpy", "3Dmol.js", "pako"} <= set(names)
    assert len(names) == len(set(names))
    table = (tmp_path / "build/licences.md").read_text()
    assert "| 3Dmol.js | 2.5.5 | BSD-3-Clause | carried |" in table
    assert all(f"| {name} |" in table for name in names)


def test_the_carried_script_is_known_by_its_hash() -> None:
    player = bill(carried())["components"][0]
    script = (ROOT / "src/pgode/reports/assets/3Dmol-min.js").read_bytes()
    assert player["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(script).hexdigest()}]
    assert player["purl"] == "pkg:npm/3dmol@2.5.5"
