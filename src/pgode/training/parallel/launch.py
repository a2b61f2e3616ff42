"""Bringing processes together: those started here, or those that torchrun started."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import IO

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import Store, TCPStore
from torch.distributed.rendezvous import rendezvous

from pgode.batches.devices import chosen_device
from pgode.batches.parallel.peers import PAUSE, LostProcessError, Peers
from pgode.runtime.errors import InputError
from pgode.runtime.processes import WORKER
from pgode.runtime.stopping import leftovers
from pgode.runtime.stopping.command import undisturbed

FOLLOWER = "pgode.runs.parallel.follower"
"""The module that a started process runs."""
PLACE = "PGODE_MEETING_POINT"
"""Environment variable with the place of the store of the process that started this one."""
SILENCE = timedelta(minutes=10)
"""Longest wait for a process that does not answer; one that ended is noticed at once."""
GRACE = 10.0
"""Seconds that a process has to end by itself."""


def launched() -> tuple[int, int] | None:
    """Rank and number of the processes that torchrun (or a like of it) started; None if none did.

    A single process is not launched: it trains alone.
    """
    said = os.environ.get("WORLD_SIZE", "1")
    if not (said.isdecimal() and os.environ.get("RANK", "0").isdecimal()):
        raise InputError(
            f'WORLD_SIZE is "{said}" and RANK is "{os.environ.get("RANK", "")}". Expected numbers, '
            f"as torchrun sets them. Unset them, or start with torchrun -m pgode train ..."
        )
    if PLACE in os.environ or int(said) < 2:
        return None
    missing = [name for name in ("RANK", "MASTER_ADDR", "MASTER_PORT") if name not in os.environ]
    if missing:
        raise InputError(
            f"WORLD_SIZE is {said}, so this is one of several processes, but "
            f"{' and '.join(missing)} are not set and they cannot find each other. Expected the "
            f"environment that torchrun makes. Start them with torchrun -m pgode train ..., or "
            f"unset WORLD_SIZE."
        )
    return int(os.environ["RANK"]), int(said)


def device_of(rank: int, kind: str) -> torch.device:
    """The device of a process: with CUDA, each of a machine's processes has a card of its own."""
    if kind != "cuda":
        return chosen_device(kind)
    cards = max(torch.cuda.device_count(), 1)
    device = chosen_device(f"cuda:{int(os.environ.get('LOCAL_RANK', rank)) % cards}")
    torch.cuda.set_device(device)
    return device


@contextmanager
def launched_peers() -> Iterator[Peers]:
    """Join the processes that torchrun started."""
    store, rank, size = next(iter(rendezvous("env://")))
    with _joined(store, rank, size) as peers:
        yield peers


@contextmanager
def started_peers(size: int, module: str = FOLLOWER) -> Iterator[Peers]:
    """Start `size` - 1 processes on this machine and join them, as the one that leads.

    They end with the block, whatever ends it.
    """
    store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    children = [_Child(rank, size, store.port, module) for rank in range(1, size)]
    try:
        for child in children:
            child.wait_until_ready(store)
        with _local_network(), _joined(store, 0, size) as peers:
            yield peers
    except LostProcessError as error:
        ended = [child for child in children if child.has_ended()]
        raise LostProcessError(ended[0].obituary() if ended else str(error)) from None
    finally:
        for child in children:
            child.end()


@contextmanager
def starter() -> Iterator[Peers]:
    """Join the process that started this one."""
    host, port = os.environ[PLACE].rsplit(":", 1)
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    store = TCPStore(host, int(port), is_master=False, wait_for_workers=False)
    store.set(f"pgode/ready/{rank}", "")
    with _local_network(), _joined(store, rank, size) as peers:
        yield peers


@contextmanager
def _joined(store: Store, rank: int, size: int) -> Iterator[Peers]:
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    try:
        dist.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=SILENCE)
    except RuntimeError as error:
        raise LostProcessError(
            f"process {rank + 1} of {size} cannot reach the others: {error}. Expected all of them "
            f"to start within {SILENCE}. See what the others printed, and start again."
        ) from None
    try:
        yield Peers(store, rank, size)
    finally:
        dist.destroy_process_group()


@contextmanager
def _local_network() -> Iterator[None]:
    """Processes of one machine meet on its loopback, whatever the machine's name resolves to."""
    name = "GLOO_SOCKET_IFNAME"
    if name in os.environ or not sys.platform.startswith("linux"):
        yield
        return
    os.environ[name] = "lo"
    try:
        yield
    finally:
        os.environ.pop(name, None)


class _Child:
    """A process that was started here, and what it printed."""

    def __init__(self, rank: int, size: int, port: int, module: str) -> None:
        self.rank, self.size = rank, size
        self.log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        environment = {
            **os.environ,
            **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
            PLACE: f"127.0.0.1:{port}",
            "RANK": str(rank),
            "WORLD_SIZE": str(size),
        }
        # A session of its own: an interrupt from the keyboard reaches only the leading process,
        # and all stop after the same step.
        with undisturbed():
            self.process = leftovers.child(
                subprocess.Popen(
                    [sys.executable, "-m", WORKER, module],
                    stdin=subprocess.DEVNULL,
                    stdout=self.log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    env=environment,
                )
            )

    def wait_until_ready(self, store: Store) -> None:
        """Until it has loaded its modules; an error if it ends before."""
        while not store.check([f"pgode/ready/{self.rank}"]):
            if self.process.poll() is not None:
                raise LostProcessError(self.obituary())
            time.sleep(PAUSE)

    def has_ended(self) -> bool:
        """Whether it ended other than as it should; it has a moment to do so."""
        try:
            return self.process.wait(1.0) != 0
        except subprocess.TimeoutExpired:
            return False

    def obituary(self) -> str:
        """How it ended, and the last thing it said."""
        code = self.process.poll() or 0
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        self.log.seek(0)
        lines = self.log.read().decode(errors="replace").strip().splitlines()
        said = f': "{lines[-1].removeprefix("Error: ")}"' if lines and code > 0 else ""
        return (
            f"process {self.rank + 1} of {self.size} {how}{said}. Expected all to train until the "
            f"end. The run is saved as of the last step; continue it with --resume, with any "
            f"number of processes."
        )

    def end(self) -> None:
        """Wait a little; then stop it."""
        for stop in (self.process.terminate, self.process.kill):
            try:
                self.process.wait(GRACE)
            except subprocess.TimeoutExpired:
                stop()
        self.process.wait()
        self.log.close()
