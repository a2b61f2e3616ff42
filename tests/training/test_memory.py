"""Freed memory stays in the process where the C library allows it."""

import ctypes
import platform

import pytest

from pgode.training import memory


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has these knobs")
def test_glibc_takes_both_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    assert memory.keep_freed_memory() is True


def test_a_library_that_refuses_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing:
        @staticmethod
        def mallopt(option: int, value: int) -> int:
            return 0

    monkeypatch.setattr(memory.sys, "platform", "linux")
    monkeypatch.setattr(ctypes, "CDLL", lambda name: Refusing())
    assert memory.keep_freed_memory() is False


@pytest.mark.parametrize("found", [OSError("no such library"), object()])
def test_other_libraries_are_left_alone(found: object, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> object:
        if isinstance(found, OSError):
            raise found
        return found

    monkeypatch.setattr(memory.sys, "platform", "linux")
    monkeypatch.setattr(ctypes, "CDLL", load)
    assert memory.keep_freed_memory() is False


def test_other_systems_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory.sys, "platform", "darwin")
    monkeypatch.setattr(ctypes, "CDLL", lambda name: pytest.fail("looked for a library"))
    assert memory.keep_freed_memory() is False
