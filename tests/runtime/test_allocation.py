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
    monkeypatch.setattr(allocation, "_available", None)
    monkeypatch.setattr(allocation.sys, "platform", "linux")


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    """Of a process that holds 2 of 8 GB."""
    found = Library()
    monkeypatch.setattr(ctypes, "CDLL", lambda name: found)
    monkeypatch.setattr(allocation, "usable_memory", lambda: 6 << 30)
    monkeypatch.setattr(allocation, "_held", lambda: 2 << 30)
    return found


KEPT = [(-3, 32 << 20), (-1, -1), (-4, 0)]
GIVEN_BACK = [(-4, 65536), (-1, 64 << 20)]


def test_a_process_that_holds_little_keeps_all_until_the_end(library: Library) -> None:
    with allocation.freed_memory_kept():
        allocation.give_back_if_scarce()
        assert library.asked == KEPT
    assert library.asked[3:] == GIVEN_BACK
    allocation.give_back_if_scarce()
    assert library.asked[5:] == []


def test_what_is_held_at_the_end_is_given_back(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    with allocation.freed_memory_kept():
        monkeypatch.setattr(allocation, "_held", lambda: 3 << 30)
    assert library.asked[3:] == [*GIVEN_BACK, (0,)]


def test_the_inner_of_two_leaves_the_end_to_the_outer(library: Library) -> None:
    with allocation.freed_memory_kept():
        with allocation.freed_memory_kept():
            pass
        assert library.asked == KEPT * 2
    assert library.asked[6:] == GIVEN_BACK


@pytest.mark.parametrize("what, size", [("_held", 4 << 30), ("usable_memory", 1 << 30)])
def test_a_process_that_holds_much_or_leaves_little_gives_back_once(
    library: Library, what: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with allocation.freed_memory_kept():
        monkeypatch.setattr(allocation, what, lambda: size)
        allocation.give_back_if_scarce()
        allocation.give_back_if_scarce()
        assert library.asked[3:] == [*GIVEN_BACK, (0,)]


def test_a_process_that_holds_little_helps_nobody(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    with allocation.freed_memory_kept():
        monkeypatch.setattr(allocation, "_held", lambda: 100 << 20)
        monkeypatch.setattr(allocation, "usable_memory", lambda: pytest.fail("looked"))
        allocation.give_back_if_scarce()
        assert library.asked == KEPT


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has these knobs")
def test_glibc_takes_all_settings_and_gives_back(monkeypatch: pytest.MonkeyPatch) -> None:
    with allocation.freed_memory_kept():
        assert allocation._available is not None
        monkeypatch.setattr(allocation, "_available", 1.0)
        allocation.give_back_if_scarce()
        assert allocation._available is None


def _keeps() -> bool:
    with allocation.freed_memory_kept():
        return allocation._available is not None


def test_a_library_that_refuses_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: Library(answer=0))
    assert not _keeps()


@pytest.mark.parametrize("found", [OSError("no such library"), object()])
def test_other_libraries_are_left_alone(found: object, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> object:
        if isinstance(found, OSError):
            raise found
        return found

    monkeypatch.setattr(ctypes, "CDLL", load)
    assert not _keeps()
    allocation.give_back_if_scarce()


def test_other_systems_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocation.sys, "platform", "darwin")
    monkeypatch.setattr(ctypes, "CDLL", lambda name: pytest.fail("looked for a library"))
    assert not _keeps()
