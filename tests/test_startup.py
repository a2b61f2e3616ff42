"""Starting is quick: nothing heavy is imported before it is needed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("torch", "numba", "xarray", "numpy", "pandas", "matplotlib", "scipy", "pydantic", "zarr")

RUN = """
import sys
from pathlib import Path
from pgode.cli.app import run_command
code = run_command(sys.argv[1:])
print("imported:", *sys.modules)
sys.exit(code)
"""


def modules_after(program: str, *words: str) -> tuple[set[str], str]:
    """Names of what is imported once a program has run, and what it printed before that."""
    command = [sys.executable, "-c", program, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    printed, _, names = done.stdout.rpartition("imported:")
    return {name.partition(".")[0] for name in names.split()}, printed


def test_importing_the_package_imports_nothing_heavy() -> None:
    found, _ = modules_after("import sys, pgode; dir(pgode); print('imported:', *sys.modules)")
    assert "pgode" in found
    assert found.isdisjoint({*HEAVY, "rich", "cyclopts"})


def test_data_and_errors_need_no_torch() -> None:
    program = "import sys, pgode; pgode.Trajectories, pgode.InputError, pgode.read, pgode.simulate"
    found, _ = modules_after(f"{program}, pgode.from_pyg; print('imported:', *sys.modules)")
    assert "xarray" in found
    assert "torch" not in found


COMMANDS = (
    *("simulate", "train", "evaluate", "forecast", "report", "laws", "info", "check"),
    *("models", "reproduce", "robustness", "import", "export", "export-md", "tune"),
)


@pytest.mark.parametrize("words", [["--help"], ["train", "--help"], ["--version"]], ids=" ".join)
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    found, printed = modules_after(RUN, *words)
    assert found.isdisjoint(HEAVY)
    if words == ["--help"]:
        assert all(command in printed for command in COMMANDS)
    if words[0] == "train":
        assert all(option in printed for option in ("--resume", "--set", "--preset", "--horizon"))


@pytest.mark.parametrize("words", [["--help"], ["train", "--help"]], ids=" ".join)
def test_help_is_there_at_once(words: list[str]) -> None:
    """The promise is half a second. Processor time, since other work may share the machine."""
    command = [sys.executable, "-m", "pgode.cli", *words]
    before = os.times()
    subprocess.run(command, capture_output=True, check=True)
    after = os.times()
    took = after.children_user + after.children_system
    assert took - before.children_user - before.children_system < 2


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    import pgode

    with pytest.raises(AttributeError, match="no attribute 'forcast'"):
        _ = pgode.forcast
    assert set(dir(pgode)) == set(pgode.__all__)
    assert all(getattr(pgode, name) is not None for name in pgode.__all__)


def test_large_pages_are_asked_for_where_the_kernel_wants_to_be_asked():
    show = "import os, pgode; print(os.environ.get('THP_MEM_ALLOC_ENABLE'))"
    kernel = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    wanted = kernel.exists() and "[madvise]" in kernel.read_text()
    plain = {key: value for key, value in os.environ.items() if key != "THP_MEM_ALLOC_ENABLE"}
    for given, expected in (({}, "1" if wanted else "None"), ({"THP_MEM_ALLOC_ENABLE": "0"}, "0")):
        words = [sys.executable, "-c", show]
        done = subprocess.run(words, env=plain | given, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == expected
