"""Tests with other Pythons: those that run are used, and those that do not are named."""

import sys
from pathlib import Path

import pytest
from release import interpreters

HERE = "{}.{}".format(*sys.version_info)


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose PATH and pyenv hold only what a test puts there."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    return tmp_path


def test_this_python_is_found_on_the_path(nothing_else: Path) -> None:
    (nothing_else / "bin").mkdir()
    (nothing_else / f"bin/python{HERE}").symlink_to(sys.executable)
    assert interpreters.interpreter(HERE) == nothing_else / f"bin/python{HERE}"


def test_one_that_is_on_the_path_but_does_not_start_is_passed_over(nothing_else: Path) -> None:
    script(nothing_else / f"bin/python{HERE}", "#!/bin/sh\necho 'not selected' >&2\nexit 127\n")
    assert interpreters.interpreter(HERE) is None
    real = nothing_else / f"pyenv/versions/{HERE}.9/bin/python{HERE}"
    script(real, f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    assert interpreters.interpreter(HERE) == real


def test_one_of_another_version_is_passed_over(nothing_else: Path) -> None:
    script(nothing_else / "bin/python3.99", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    assert interpreters.interpreter("3.99") is None


def test_what_was_skipped_is_said_and_is_no_failure(
    nothing_else: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["interpreters", "3.98", "3.99"])
    assert interpreters.main() == 0
    told = capsys.readouterr().out
    assert "Python 3.98: skipped: no interpreter" in told
    assert "To test with 3.98 and 3.99, put python3.98 on PATH" in told


def test_a_failure_ends_in_failure_and_the_other_versions_are_tested_all_the_same(
    nothing_else: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A `make` that fails for one environment stands for the hour that the tests would take."""
    script(nothing_else / "bin/make", "#!/bin/sh\ncase $3 in *3.98) exit 2;; esac\nexit 0\n")
    monkeypatch.setattr(
        interpreters, "interpreter", lambda version: Path("/usr/bin/python" + version)
    )
    monkeypatch.setattr("sys.argv", ["interpreters", "3.98", "3.99", "--target", "lint"])
    assert interpreters.main() == 1
    told = capsys.readouterr().out
    assert "Python 3.98: FAILED" in told and "Python 3.99: passed" in told
