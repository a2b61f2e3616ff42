"""Promises about the project as a whole: architecture, version, size of files, no local paths."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import pgode

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
TEXT = {".py", ".md", ".toml", ".yml", ".yaml", ".txt", ".cff", ".js", ".css", ".html", ".json", ""}

# In pieces, so that this file does not find itself.
LOCAL = re.compile(r"\.\./" + r"shared|(?<![\w./-])/(work|tmp|home|root|opt|mnt|Users)" + r"/")


def described() -> dict[str, str]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def texts() -> Iterator[Path]:
    # In a work tree beside the repository, .git is a file that names the repository's place.
    files = [path for path in ROOT.iterdir() if path.is_file() and path.name != ".git"]
    for folder in ("src", "tests", "docs", "benchmarks", "release", ".ci"):
        files += [path for path in (ROOT / folder).rglob("*") if path.is_file()]
    return (path for path in files if path.suffix in TEXT and "__pycache__" not in path.parts)


def test_rooms_import_only_what_the_architecture_allows() -> None:
    # A process of its own: import-linter sets up logging and reads the folder it is started in.
    command = "from importlinter.cli import lint_imports_command as run; run()"
    checked = subprocess.run(
        [sys.executable, "-c", command, "--no-cache", "--no-logo"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert " 0 broken" in checked.stdout


def test_every_benchmark_can_be_imported() -> None:
    """No type checker reads them, and what they import may be renamed."""
    names = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py"))
    imports = "\n".join(f"import benchmarks.{name}" for name in names)
    done = subprocess.run(
        [sys.executable, "-c", imports], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_package_has_the_version_of_its_description() -> None:
    assert pgode.__version__ == described()["version"]


def test_newest_release_in_the_changelog_is_this_version() -> None:
    releases = re.findall(r"^## \[(\d+\.\d+\.\d+)\]", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert releases[0] == described()["version"]


def test_citation_names_this_version() -> None:
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert cited is not None
    assert cited[1] == described()["version"]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_source_file_can_be_read_in_one_sitting(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 350


FOLDERS = sorted({path.parent for path in SOURCES})


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_folder_can_be_taken_in_at_a_glance(folder: Path) -> None:
    """The commands are a flat list of one file each."""
    assert len(list(folder.glob("*.py"))) <= 13 or folder.name == "cli"


def test_nothing_lies_loose_beside_the_rooms() -> None:
    loose = [path.name for path in (ROOT / "src/pgode").iterdir() if path.is_file()]
    assert sorted(loose) == ["__init__.py", "__main__.py", "py.typed"]


def test_no_module_is_a_drawer_for_what_has_no_place() -> None:
    drawers = {"utils", "util", "helpers", "misc", "common"}
    assert [path for path in SOURCES if drawers & {path.stem, *path.relative_to(ROOT).parts}] == []


def test_no_file_depends_on_a_place_on_someones_machine() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in texts()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if LOCAL.search(line)
    ]
    assert found == []


def test_package_says_that_it_is_typed() -> None:
    assert (ROOT / "src/pgode/py.typed").is_file()
