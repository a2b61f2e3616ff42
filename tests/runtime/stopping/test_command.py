"""A signal to a command is never lost and never a traceback, wherever the main thread is."""

import hashlib
import os
import signal
import subprocess
import sys
import time
import weakref
from pathlib import Path

import pytest
from tests.stopped_programs import ending_of

from pgode.runtime.files import replacing
from pgode.runtime.signals import stop_on_signal, stop_requested
from pgode.runtime.stopping import command, kept
from pgode.runtime.stopping.command import Charge

SENT = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
FOREVER = 10**9


def send(number: int = signal.SIGINT) -> None:
    os.kill(os.getpid(), number)


def unstoppable() -> None:
    """A call into C that no handler interrupts."""
    hashlib.pbkdf2_hmac("sha256", b"", b"", FOREVER)


@pytest.mark.parametrize("number, code", SENT)
def test_each_signal_has_its_exit_code_and_a_sentence(number: int, code: int, tmp_path: Path):
    def program(charge: Charge) -> int:
        send(number)
        return 0

    ending = ending_of(program, tmp_path)
    assert (ending.code, ending.left) == (code, ())
    assert ending.said == "Stopped: nothing was written; the same command starts anew.\n"


def test_a_signal_in_a_callback_that_drops_exceptions_is_not_lost(tmp_path: Path):
    class Thing:
        def __del__(self) -> None:
            send()

    def in_a_callback(charge: Charge) -> int:
        thing = type("Plain", (), {})()
        reference = weakref.ref(thing, lambda _: send())
        del thing
        return 0 if reference() is None else 1

    def in_a_finaliser(charge: Charge) -> int:
        Thing()
        return 0

    def in_an_open_handler(charge: Charge) -> int:
        try:
            send()
        except BaseException:
            return 0
        return 0

    for program in (in_a_callback, in_a_finaliser, in_an_open_handler):
        ending = ending_of(program, tmp_path)
        assert ending.code == 130, program.__name__
        assert ending.said.count("\n") == 1


def test_a_call_into_c_does_not_hold_a_stop_up(tmp_path: Path):
    def program(charge: Charge) -> int:
        pid = os.fork()
        if pid == 0:
            time.sleep(0.2)
            os.kill(os.getppid(), signal.SIGTERM)
            os._exit(0)
        unstoppable()
        return 0

    ending = ending_of(program, tmp_path)
    assert ending.code == 143
    assert ending.said.startswith("Stopped")


def test_work_in_steps_ends_by_itself(tmp_path: Path):
    def program(charge: Charge) -> int:
        with stop_on_signal() as stop:
            assert not stop and not stop_requested()
            send(signal.SIGTERM)
            assert stop and stop.signal == signal.SIGTERM and stop_requested()
        (tmp_path / "saved").touch()
        charge.say()
        return charge.exit_code

    ending = ending_of(program, tmp_path)
    assert ending.code == 143
    assert (tmp_path / "saved").exists()
    assert ending.said.count("Stopped") == 1


def test_steps_that_do_not_end_are_ended(tmp_path: Path):
    def program(charge: Charge) -> int:
        with stop_on_signal():
            send()
            unstoppable()
        return 0

    assert ending_of(program, tmp_path, grace=0.2).code == 130


def test_a_second_signal_ends_at_once(tmp_path: Path):
    def program(charge: Charge) -> int:
        with stop_on_signal():
            send()
            time.sleep(2 * command.SAME)
            send(signal.SIGTERM)
            unstoppable()
        return 0

    assert ending_of(program, tmp_path, grace=10_000).code == 130  # that of the first


def test_steps_that_begin_after_a_signal_do_nothing(tmp_path: Path):
    def program(charge: Charge) -> int:
        with stop_on_signal():
            send()
        with stop_on_signal():
            (tmp_path / "begun").touch()
        return 0

    assert ending_of(program, tmp_path).code == 130
    assert not (tmp_path / "begun").exists()


@pytest.mark.parametrize("folder", [False, True], ids=["file", "folder"])
def test_a_stop_removes_what_is_half_written_and_keeps_the_old(folder: bool, tmp_path: Path):
    target = tmp_path / "target"

    def write(path: Path, text: str) -> None:
        if folder:
            path.mkdir()
        (path / "inner" if folder else path).write_text(text)

    write(target, "old")

    def program(charge: Charge) -> int:
        with replacing(target) as temporary:
            write(temporary, "new")
            send()
        return 0

    ending = ending_of(program, tmp_path)
    assert (ending.code, ending.left) == (130, ())
    assert (target / "inner" if folder else target).read_text() == "old"


def test_a_stop_within_a_commit_comes_after_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The old folder is away for a moment; there is never none."""
    target = tmp_path / "target"
    target.mkdir()
    real = Path.rename

    def renamed(self: Path, to: Path) -> Path:
        done = real(self, to)
        send(signal.SIGTERM)
        return done

    def program(charge: Charge) -> int:
        monkeypatch.setattr("pgode.runtime.files.exchanged", lambda *_: False)  # As elsewhere.
        monkeypatch.setattr(Path, "rename", renamed)
        with replacing(target) as temporary:
            temporary.mkdir()
            (temporary / "new").touch()
        return 0

    ending = ending_of(program, tmp_path)
    assert (ending.code, ending.left) == (143, ())
    assert (target / "new").exists()
    assert ending.said == f"Stopped: {target} is complete and kept; the rest was not.\n"


def test_children_end_with_the_command_also_deaf_ones(tmp_path: Path):
    deaf = (
        "import signal,time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(999)"
    )

    def program(charge: Charge) -> int:
        with subprocess.Popen([sys.executable, "-c", deaf], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            (tmp_path / "pid").write_text(str(process.pid))
            send()
        return 0

    assert ending_of(program, tmp_path).code == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_signal_that_is_ignored_stays_so(tmp_path: Path):
    """As under nohup."""
    program = (
        "import os, signal; signal.signal(signal.SIGHUP, signal.SIG_IGN);"
        "from pgode.runtime.stopping.first import note_signals; note_signals();"
        "from pgode.runtime.stopping.command import take_charge; charge = take_charge();"
        "os.kill(os.getpid(), signal.SIGHUP); charge.end(7)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 7


def test_importing_pgode_leaves_signals_alone():
    program = (
        "import signal; before = [signal.getsignal(n) for n in (1, 2, 15)];"
        "import pgode, pgode.cli, pgode.cli.app; pgode.InputError;"
        "assert before == [signal.getsignal(n) for n in (1, 2, 15)]"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_sentence_names_few_files_and_none_that_is_unfinished(tmp_path: Path):
    kept.begin()
    for name in ("a", "b", "c", "d", "e.part"):
        (tmp_path / name).touch()
        kept.written(tmp_path / name)
    kept.written(tmp_path / "gone")
    a, b, c = (tmp_path / name for name in "abc")
    assert (
        kept.sentence()
        == f"Stopped: {a}, {b}, {c} and 1 more are complete and kept; the rest was not."
    )
    kept.on_stop(lambda: "Stopped: said.")
    assert kept.sentence() == "Stopped: said."
    kept.begin()
    assert "nothing was written" in kept.sentence()
