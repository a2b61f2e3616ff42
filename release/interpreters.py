"""`python -m release.interpreters 3.12 3.13`: run the tests with those Pythons that are here.

`make test-all` calls it. Each version gets an environment of its own, .venv-3.12 beside .venv. A
version that this machine lacks is skipped, with a line that says so.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]


def candidates(version: str) -> Iterator[Path]:
    """Where an interpreter of a version may be: on PATH, under pyenv, or fetched by uv."""
    if found := shutil.which(f"python{version}"):
        yield Path(found)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted(pyenv.glob(f"versions/{version}.*/bin/python{version}"))
    if uv := shutil.which("uv"):
        command = [uv, "python", "find", "--no-project", version]
        told = subprocess.run(command, capture_output=True, text=True, check=False)
        if told.returncode == 0:
            yield Path(told.stdout.strip())


def runs(python: Path, version: str) -> bool:
    """Whether it starts, is of this version, and can make environments.

    pyenv puts a python3.12 on PATH that only says that it is not selected, and Debian's Python
    comes without ensurepip.
    """
    program = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    try:
        command = [str(python), "-c", program]
        told = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return False
    return told.returncode == 0 and told.stdout.strip() == version


def interpreter(version: str) -> Path | None:
    """The first that runs; None if there is none."""
    return next((path for path in candidates(version) if runs(path, version)), None)


def environment(version: str) -> str:
    """The usual environment if it is of this version, else one beside it."""
    usual = ROOT / ".venv/pyvenv.cfg"
    told = usual.read_text() if usual.is_file() else ""
    return ".venv" if f"\nversion = {version}." in told else f".venv-{version}"


def tested(version: str, python: Path, target: str) -> bool:
    """Whether the tests pass with an interpreter."""
    print(f"== Python {version}: {python}", flush=True)
    words = ["--no-print-directory", target, f"VENV={environment(version)}", f"PYTHON={python}"]
    return subprocess.run(["make", *words], cwd=ROOT, check=False).returncode == 0


def main() -> int:
    """Test with every version that is here, go on after a failure, and end with what happened."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("versions", nargs="+", metavar="3.12")
    parser.add_argument("--target", default="test-python", help="the target of make to run")
    words = parser.parse_args()
    found = {version: interpreter(version) for version in words.versions}
    outcome = {}
    for version, python in found.items():
        if python is None:
            outcome[version] = "skipped: no interpreter that starts and has venv and ensurepip"
        else:
            outcome[version] = "passed" if tested(version, python, words.target) else "FAILED"
    for version, result in outcome.items():
        print(f"Python {version}: {result}")
    absent = [version for version, python in found.items() if python is None]
    if absent:
        print(
            f"To test with {' and '.join(absent)}, put python{absent[0]} on PATH, or install it "
            f"with `pyenv install {absent[0]}` or `uv python install {absent[0]}`."
        )
    return 1 if "FAILED" in outcome.values() else 0


if __name__ == "__main__":
    sys.exit(main())
