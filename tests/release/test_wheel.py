"""The built package works alone: whole, in an empty environment, far from its source."""

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import pgode

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/pgode"

# One process for all commands: each alone would import torch again.
USE = """
import json, sys
from pathlib import Path
from pgode.cli.app import run_command

for words in sys.argv[1:]:
    if code := run_command(words.split()):
        sys.exit(code)
modules = [m for m in list(sys.modules.values()) if m.__name__.partition(".")[0] == "pgode"]
files = [str(m.__file__) for m in modules]
Path("used.json").write_text(json.dumps({"files": files, "path": sys.path}))
"""
SMALL = (
    "--set model.width=8 --set model.dynamics.prototypes=2 --set window.condition=6 "
    "--set window.horizon=6 --set training.epochs=1"
)
COMMANDS = (
    "simulate springs -o data.nc --objects 3 --frames 18 --train 6 --val 2 --test 2 --ood 2",
    f"train data.nc -o run --preset messages {SMALL}",
    "forecast run data.nc -o forecast.nc",
    "report run",
    "info charged-10",
)


def run(*words: str, folder: Path) -> None:
    """Run without what would lead Python back to the source."""
    hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    environment = {key: value for key, value in os.environ.items() if key not in hidden}
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def files_of(*folders: str) -> set[str]:
    """Files of the repository, as its archive names them, without what running leaves behind."""
    return {
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".part"
    }


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The source archive, and the wheel that is built from it rather than from the repository."""
    folder = tmp_path_factory.mktemp("built")
    build = (sys.executable, "-m", "hatchling", "build", "-d", str(folder))
    run(*build, "-t", "sdist", folder=ROOT)
    (source,) = folder.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        archive.extractall(folder, filter="data")
    run(*build, "-t", "wheel", folder=folder / source.name.removesuffix(".tar.gz"))
    (wheel,) = folder.glob("*.whl")
    return source, wheel


@pytest.fixture
def environment(archives: tuple[Path, Path], tmp_path: Path) -> Path:
    """An environment that has the wheel, and the packages it needs from this one's.

    Python reads no .pth file of a folder that another .pth file names, so the editable install of
    the repository does not come along.
    """
    folder = tmp_path / "environment"
    venv.create(folder, with_pip=False)
    python = folder / "bin/python"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(python))
    install = ("install", "--quiet", "--no-deps", "--no-index", "--no-compile", str(archives[1]))
    run(*pip, *install, folder=tmp_path)
    (installed,) = folder.glob("lib/python*/site-packages/pgode")
    paths = sysconfig.get_paths()
    needed = dict.fromkeys([paths["purelib"], paths["platlib"]])
    (installed.parent / "needed.pth").write_text("\n".join(needed) + "\n")
    return folder


def test_source_archive_has_all_that_tests_and_releases_need(archives: tuple[Path, Path]) -> None:
    with tarfile.open(archives[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    kept = {name for name in names if not name.endswith((".nc", ".pyc"))}
    expected = files_of("src", "tests", "benchmarks", "docs", "release")
    single = {"Makefile", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "PKG-INFO"}
    assert {name for name in expected if not name.endswith((".nc", ".pyc"))} - kept == set()
    assert single | {"constraints.txt", "constraints-hashed.txt"} <= kept
    assert [name for name in names if ".venv" in name or "__pycache__" in name] == []


def test_wheel_has_the_package_with_its_data_and_nothing_else(archives: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(archives[1]) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
        (described,) = [name for name in wheel.namelist() if name.endswith("/METADATA")]
        metadata = wheel.read(described).decode()
    assert names == {name.removeprefix("src/") for name in files_of("src/pgode")}
    for part in ("runs/pretrained/charged-10/model.safetensors", "reports/assets/report.html"):
        assert f"pgode/{part}" in names
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert metadata.count("\nRequires-Dist: ") >= len(dependencies)
    assert f"\nVersion: {pgode.__version__}\n" in metadata


def test_wheel_works_alone_in_an_empty_environment(environment: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    run(str(environment / "bin/pgode"), "--version", folder=empty)
    run(str(environment / "bin/python"), "-I", "-c", USE, *COMMANDS, folder=empty)
    used = json.loads((empty / "used.json").read_text())
    assert len(used["files"]) > 100
    assert [file for file in used["files"] if not Path(file).is_relative_to(environment)] == []
    assert [path for path in used["path"] if Path(path).is_relative_to(PACKAGE.parent)] == []
    assert "</html>" in (empty / "run/report.html").read_text(encoding="utf-8")
    assert (empty / "forecast.nc").stat().st_size > 10_000
