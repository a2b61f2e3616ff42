"""A folder of small good files of every kind, which the attack then spoils."""

import json
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
from tests.covid_reports import write_reports
from tests.data.files.mocap import bodies

OLD_RUN = Path(__file__).parents[1] / "runs/format1"

SIMULATE = "--objects 3 --frames 18 --train 8 --val 4 --test 4 --ood 3 --seed 1"
TINY = (
    "--set window.condition=6 --set window.horizon=6 --set training.batch=4 "
    "--set training.threads=1 --processes 1"
)
NETWORK = f"--preset messages --set model.width=8 --set model.dynamics.prototypes=2 {TINY}"
LAWS = f"--set model.dynamics.prototypes=1 --set model.dynamics.ensemble=2 {TINY}"

COMMANDS = (
    f"simulate springs -o springs.nc {SIMULATE}",
    f"simulate springs -o springs.zarr {SIMULATE}",
    "simulate springs -o five.nc --objects 5 --frames 24 --train 12 --val 2 --test 2 --ood 2",
    "import table tracks.csv -o tracks.nc --features x,y --velocities --system match",
    f"train springs.nc -o run --epochs 1 {NETWORK}",
    f"train springs.nc -o other --epochs 1 --seed 5 {NETWORK}",
    f"train tracks.nc -o tracked --model gru --epochs 1 --set model.width=8 {TINY}",
    "forecast run springs.nc -o ahead.nc --until 4 --samples 3",
)
"""A network that samples and is calibrated, a second one, and a run on a table."""
FIND_LAWS = f"train five.nc -o lawful {LAWS}"


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Work in a folder, as commands with relative paths do."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def build(folder: Path, quick: bool = False) -> None:
    """Make the good files, once for a whole attack. The quick part takes the laws that are shipped.

    Commands run in this process, which has to be one of its own: compiled kernels start threads,
    and a process with threads cannot be forked safely.
    """
    from pgode.cli.app import run_command
    from pgode.runs.folder import PRETRAINED

    folder.mkdir(parents=True)
    with inside(folder):
        _tables()
        if quick:
            shutil.copytree(PRETRAINED / "springs-10", "lawful")
        for command in COMMANDS if quick else (*COMMANDS, FIND_LAWS):
            if run_command(command.split()) != 0:
                raise RuntimeError(f"the attack cannot start, because this failed: pgode {command}")
        _half()
        _archive()
        _texts()
        bodies.trials(Path(), 4)
        write_reports(Path("reports"), 3)
        shutil.copytree(OLD_RUN, "old")
        _molecule()


def _half() -> None:
    """A run that was stopped after the first of two epochs, so that it can be resumed."""
    from pgode.runs import api
    from pgode.runs.training import TrainingStopped
    from pgode.training.display import Display

    class Stop(Display):
        def epoch(self, *_: object) -> None:
            os.kill(os.getpid(), signal.SIGINT)

    settings = {"model.width": 8, "training.batch": 4, "training.threads": 1}
    settings |= {"window.condition": 6, "window.horizon": 6, "model.dynamics.prototypes": 2}
    with suppress(TrainingStopped):
        api.train(
            "springs.nc",
            "half",
            preset="messages",
            epochs=2,
            processes=1,
            settings=settings,
            display=Stop(),
        )


def _tables() -> None:
    random = np.random.default_rng(0)
    rows = [
        f"{match},{name},{t},{x:.4f},{y:.4f}"
        for match in range(6)
        for name in ("ann", "bob", "cem")
        for t, (x, y) in enumerate(random.normal(size=(20, 2)).cumsum(0))
    ]
    Path("tracks.csv").write_text("\n".join(["match,object,time,x,y", *rows, ""]))
    series = [f"{t},{a:.3f},{b:.3f},{c:.3f}" for t, (a, b, c) in enumerate(random.random((60, 3)))]
    Path("wide.csv").write_text("\n".join(["time,a,b,c", *series, ""]))
    Path("adjacency.csv").write_text("0,1,0\n1,0,1\n0,1,0\n")


def _archive() -> None:
    from pgode.data import files

    data = files.read("springs.nc")
    edges = np.broadcast_to(1 - np.eye(data.objects), (data.systems, data.objects, data.objects))
    np.savez(
        "springs.npz",
        states=data.states,
        times=data.times,
        edges=edges,
        feature_names=np.array(["qx", "qy", "vx", "vy"]),
        split=data.split,
    )
    import pandas

    pandas.read_csv("tracks.csv").to_parquet("tracks.parquet")


def _texts() -> None:
    Path("config.yaml").write_text("training: {epochs: 1}\n")
    Path("space.yaml").write_text("model.width: [8, 16]\n")
    Path("notes.txt").write_text("nothing to see\n")
    Path("precious").mkdir()
    Path("precious/thesis.txt").write_text("three years of work\n")
    shutil.copytree("precious", "precious.zarr")
    Path("result.json").write_text(json.dumps({"mine": True}))


def _molecule() -> None:
    """Needs mdtraj, as the commands about molecules do; without it these attacks are refusals."""
    try:
        from tests.data.files import molecular_dynamics
    except ImportError:
        return
    from pgode.cli.app import run_command

    molecular_dynamics.save(Path(), "dynamics.dcd", frames=60)
    command = "import md --trajectory dynamics.dcd --topology top.pdb -o atoms.nc --frames 12"
    run_command([*command.split(), "--frame-time", "0.2"])
