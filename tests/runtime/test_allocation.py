"""Freed memory stays in the process where the C library allows it, and while there is room."""

import ctypes
import platform

import pytest

from pgode.runtime import allocation


class Library:
    """Notes what it is asked for."""

    def __init__(self, answer: int = 1) -> None:
        self.answer = answer
        self.asked: list[tuple[int, ...]] = []

    def mallopt(self, option: int, value: int) -> int:
        self.asked.append((option, value))
        return self.answer

    def malloc_trim(self, pad: int) -> int:
        self.asked.append((pad,))
        return 1


@pytest.fixture(autouse=True)
def as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocation, "_most_held", None)
    monkeypatch.setattr(allocation.sys, "platform", "linux")


def test_a_process_that_holds_little_keeps_all(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library()
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    assert allocation.keep_freed_memory() is True
    allocation.give_back_if_scarce()
    assert library.asked == [(-3, 32 << 20), (-1, -1), (-4, 0)]


def test_a_process_that_holds_much_gives_back_once(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library()
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    monkeypatch.setattr(allocation, "usable_memory", lambda: 6 << 30)
    monkeypatch.setattr(allocation, "_held", lambda: 2 << 30)
    allocation.keep_freed_memory()
    allocation.give_back_if_scarce()
    assert len(library.asked) == 3  # 2 of 8 GB are less than the share
    monkeypatch.setattr(allocation, "_held", lambda: 4 << 30)
    allocation.give_back_if_scarce()
    allocation.give_back_if_scarce()
    assert library.asked[3:] == [(-4, 65536), (0,)]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has these knobs")
def test_glibc_takes_all_settings_and_gives_back(monkeypatch: pytest.MonkeyPatch) -> None:
    assert allocation.keep_freed_memory() is True
    monkeypatch.setattr(allocation, "_most_held", 0.0)
    allocation.give_back_if_scarce()
    assert allocation._most_held is None


def test_a_library_that_refuses_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: Library(answer=0))
    assert allocation.keep_freed_memory() is False


@pytest.mark.parametrize("found", [OSError("no such library"), object()])
def test_other_libraries_are_left_alone(found: object, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> object:
        if isinstance(found, OSError):
            raise found
        return found

    monkeypatch.setattr(ctypes, "CDLL", load)
    assert allocation.keep_freed_memory() is False
    allocation.give_back_if_scarce()


def test_other_systems_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocation.sys, "platform", "darwin")
    monkeypatch.setattr(ctypes, "CDLL", lambda name: pytest.fail("looked for a library"))
    assert allocation.keep_freed_memory() is False
