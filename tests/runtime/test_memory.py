"""Memory that the process may use, from the machine, limits and settings."""

import resource
import subprocess
import sys

import pytest

from pgode.runtime import memory
from pgode.runtime.errors import InputError


def test_the_machine_says_how_much_is_free(monkeypatch):
    monkeypatch.delenv("PGODE_MEMORY", raising=False)
    assert 10**6 < memory.usable_memory() < 2**62
    assert memory.room_for_data() <= memory.usable_memory() // 6 + 2**30


@pytest.mark.parametrize(
    "text, size",
    [("4GB", 4e9), ("500 MB", 5e8), ("1.5g", 1.5e9), ("2000", 2000), ("3TiB", 3e12), ("20kB", 2e4)],
)
def test_the_user_may_say_how_much_to_plan_with(monkeypatch, text, size):
    monkeypatch.setenv("PGODE_MEMORY", text)
    assert memory.usable_memory() == size
    monkeypatch.setenv("PGODE_MEMORY_SHARE", "0.5")
    assert memory.room_for_data() == size / 2


@pytest.mark.parametrize("text", ["much", "-4GB", "4 apples", "0"])
def test_an_amount_that_is_none_is_refused(monkeypatch, text):
    monkeypatch.setenv("PGODE_MEMORY", text)
    with pytest.raises(InputError, match=r"PGODE_MEMORY .* such as 4GB"):
        memory.usable_memory()


@pytest.mark.parametrize("text", ["half", "-1", "2"])
def test_a_share_that_is_none_is_refused(monkeypatch, text):
    monkeypatch.setenv("PGODE_MEMORY_SHARE", text)
    with pytest.raises(InputError, match=r"PGODE_MEMORY_SHARE .* from 0 .* to 1"):
        memory.room_for_data()


def test_what_does_not_fit_is_refused_with_both_amounts(monkeypatch):
    monkeypatch.setenv("PGODE_MEMORY", "2GB")
    memory.refuse_beyond_memory(1.9e9, "the work", "Do less.")
    said = r"the work needs about 2\.5 GB .* 2 GB are free.*Do less\."
    with pytest.raises(InputError, match=said):
        memory.refuse_beyond_memory(2.5e9, "the work", "Do less.")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are those of Linux")
def test_limits_of_the_process_count():
    code = "from pgode.runtime.memory import usable_memory as f; print(f())"
    limit = lambda: resource.setrlimit(resource.RLIMIT_DATA, (10**9, 10**9))  # noqa: E731
    done = subprocess.run([sys.executable, "-c", code], preexec_fn=limit, capture_output=True)
    assert 10**8 < int(done.stdout) < 10**9


def test_limits_of_a_control_group_count(tmp_path, monkeypatch):
    group = tmp_path / "a" / "b"
    group.mkdir(parents=True)
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "a" / "memory.max").write_text("4000000000\n")
    (tmp_path / "a" / "memory.stat").write_text("anon 1000000000\nfile 2500000000\n")
    (group / "memory.max").write_text("max\n")
    original = memory._text
    monkeypatch.setattr(
        memory, "_text", lambda p: "0::/a/b\n" if str(p) == "/proc/self/cgroup" else original(p)
    )
    assert list(memory._group_limits(tmp_path)) == [3_000_000_000]
