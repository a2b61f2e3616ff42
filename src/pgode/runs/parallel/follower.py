"""A process that trains a share of another's batches: `python -m pgode.runs.parallel.follower`.

The leading process sends settings, scales and state, so that a follower needs nothing of the run
folder: it may be on another machine, and reads only the data.
"""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from pgode.batches.normaliser import Normaliser
from pgode.batches.parallel.peers import LostProcessError, Peers
from pgode.data import files
from pgode.data.trajectories import Trajectories
from pgode.models import build_model, model_config
from pgode.runs.exchange.conforming import conformed
from pgode.runs.parallel.windows import held_out_windows, training_windows
from pgode.runtime.errors import InputError
from pgode.runtime.processes import worker_exit_code
from pgode.training import RunConfig, Trainer
from pgode.training.display import Display
from pgode.training.parallel.launch import (
    device_of,
    launched,
    launched_peers,
    started_peers,
    starter,
)
from pgode.training.parallel.team import ALONE, Team, Together

SHARED = ".shared-data.nc"
"""The data of a run whose data are not in a file, while several processes train."""


@contextmanager
def team_of(
    folder: Path,
    config: RunConfig,
    normaliser: Normaliser,
    data: Trajectories,
    source: str,
    device: torch.device,
    *,
    goes_on: bool,
) -> Iterator[Team]:
    """The processes that train a run, this one as the one that leads.

    `goes_on` is whether the run goes on from another one, whose kind of data it reads.
    """
    processes = config.training.processes or 1
    if launched() is None and processes == 1:
        yield ALONE
        return
    with _file_of(data, source, folder) as file, _peers(processes) as peers:
        run = {
            "config": config.model_dump(mode="json"),
            "normaliser": normaliser.to_json(),
            "data": str(file),
            "hash": data.hash,
            "folder": str(folder),
            "device": device.type,
            "goes_on": goes_on,
        }
        peers.tell("run", json.dumps(run))
        try:
            yield Together(peers)
        except LostProcessError as error:
            raise LostProcessError(_complaint(peers) or str(error)) from None


def follow(peers: Peers, data: Path | None = None) -> bool:
    """Train along; False if training was stopped before its end."""
    try:
        run: dict[str, Any] = json.loads(peers.told("run"))
        config = RunConfig.model_validate(run["config"])
        normaliser = Normaliser.from_json(run["normaliser"])
        given = _same_data(data or Path(run["data"]), run["hash"])
        trajectories = conformed(given, normaliser, "the data") if run["goes_on"] else given
        torch.manual_seed(config.training.seed)
        model = build_model(config.name, model_config(config.name, config.model), normaliser)
        windows = (
            training_windows(trajectories, normaliser, config),
            held_out_windows(trajectories, normaliser, config),
        )
        folder, device = Path(run["folder"]), device_of(peers.rank, run["device"])
        trainer = Trainer(model, *windows, config, folder, Together(peers), device)
    except InputError as error:
        peers.tell(f"failed/{peers.rank}", str(error))
        raise
    torch.set_num_threads(1)
    return trainer.fit(Display())


def follow_launched(data: Path | None) -> bool:
    """Train along with the process of rank 0 that torchrun started."""
    with launched_peers() as peers:
        return follow(peers, data)


@contextmanager
def _peers(processes: int) -> Iterator[Peers]:
    """The others; each process has one thread while they train."""
    threads = torch.get_num_threads()
    with launched_peers() if launched() else started_peers(processes) as peers:
        torch.set_num_threads(1)
        try:
            yield peers
        finally:
            torch.set_num_threads(threads)


@contextmanager
def _file_of(data: Trajectories, source: str, folder: Path) -> Iterator[Path]:
    """A file with the data, for the other processes."""
    if source:
        yield Path(source).absolute()
        return
    file = folder.absolute() / SHARED
    files.write_own(data, file)
    try:
        yield file
    finally:
        file.unlink(missing_ok=True)


def _same_data(path: Path, expected: str) -> Trajectories:
    data = files.read_again(path)
    if data.hash != expected:
        raise InputError(
            f"{path} on {os.uname().nodename} is not the data of the leading process: its hash is "
            f"{data.hash[:12]}, that of the run {expected[:12]}. Expected the same file on every "
            f"machine. Copy it there, or name it by a path that all machines share."
        )
    return data


def _complaint(peers: Peers) -> str | None:
    """What a process said before it ended."""
    for rank in range(1, peers.size):
        try:
            if peers.store.check([f"pgode/failed/{rank}"]):
                return bytes(peers.store.get(f"pgode/failed/{rank}")).decode()
        except RuntimeError:  # The store was with the process that is gone.
            return None
    return None


def main() -> int:
    """Follow the process that started this one."""

    def work() -> bool:
        with starter() as peers:
            return follow(peers)

    return worker_exit_code(work)


if __name__ == "__main__":
    sys.exit(main())
