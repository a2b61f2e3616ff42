"""Whatever is wrong with what a user gave: one paragraph, exit code 2, nothing half-written."""

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from tests.trained_runs import CONDITION, FRAMES, data_file, springs, trained

from pgode.cli.app import run_command
from pgode.data import files
from pgode.data.trajectories import Trajectories

NAMES = np.array(["qx", "qy", "vx", "vy"])


@dataclass(frozen=True)
class Case:
    """A command line, and words of the message it must give."""

    name: str
    command: str
    says: tuple[str, ...]
    real: bool = False  # also run as a process of its own


def case(name: str, command: str, *says: str, real: bool = False) -> Case:
    return Case(name, command, says, real)


RUN_FOLDER = "Expected a folder that pgode train wrote"
RUN_FILE = "Expected the file that pgode train wrote there. Restore it, or train again"
ADVICE = "See pgode --help, or --help after a command."

CASES = [
    # Files that cannot be read.
    case("missing", "info gone.nc", "gone.nc: there is no such file", "Check the path", real=True),
    case("missing for training", "train gone.nc -o new", "gone.nc", "Expected trajectories in one"),
    case("missing for a forecast", "forecast run gone.nc -o new/f.nc", "gone.nc", "no such file"),
    case("ending", "train notes.txt -o new", "ending .txt is not known", "Expected one of .nc"),
    case("truncated", "info half.nc", "half.nc: it is damaged, incomplete", "copy it again"),
    case("text", "train text.nc -o new", "text.nc", "not .nc data", "Expected data written by"),
    case("empty", "info empty.nc", "empty.nc: it is damaged", "Write or copy it again"),
    case("folder", "info folder.nc", "folder.nc: it is a folder", "Expected a file"),
    case("foreign", "info foreign.nc", "no variable states", "Expected a file written by pgode"),
    # Arrays that are not trajectories.
    case("no states", "train nostates.npz -o new", 'no array "states"', "Add the array"),
    case("misspelt", "info misspelt.npz", '"feature_name"', 'Expected the name "feature_names"'),
    case("dimensions", "train flat.npz -o new", "states in flat.npz has shape", "Expected (system"),
    case("fewer times", "info clock.npz", "times in clock.npz has shape", "time 18", "Reorder"),
    case("pickled", "info pickled.npz", '"split"', "never unpickled", "Expected numbers or"),
    case("half archive", "info half.npz", "half.npz: it is damaged", "Expected data written by"),
    case("NaN", "train nan.npz -o new", "system 2, object 1", "time 0.3", '"vx" is NaN', "Mark"),
    case("infinite", "forecast run inf.npz -o f.nc", "system 0, object 2", '"qy" is infinite'),
    case("unsorted", "train unsorted.npz -o new", "system 0", "goes back in time", "Sort the"),
    case("repeated", "info repeated.npz", "repeats the time at index 5", "drop repeats"),
    case("edges", "train edges.nc -o new", "system 0", "from object 3", "edges.nc", "Expected"),
    case("self edge", "train self.nc -o new", "from object 0 to object 0", "self.nc", "Remove it"),
    case("split word", "info words.npz", 'system 0 in words.npz has the split "testing"', "train"),
    case("no training", "train untrained.nc -o new", 'split "train"', "test", "add systems for"),
    # Data that a model cannot take.
    case("names", "forecast run renamed.npz -o f.nc", "px, py", "qx, qy, vx, vy", "Rename or"),
    case("names to score", "evaluate run --data renamed.npz", "renamed.npz has the features px"),
    case("features", "forecast run narrow.npz -o f.nc", "qx, qy, but", "Expected the same names"),
    case("attributes", "evaluate run --data attribute.nc", "weight, length", "edge attributes"),
    case("condition", "forecast run short.npz -o f.nc", "5 frames, fewer than the condition of 6"),
    case("a table", "forecast run table.csv -o f.nc", "not trained on one", "pgode import table"),
    case("no ending", "forecast run folder -o f.nc", "(none) is not known", ".csv", "Convert"),
    case("condition to score", "evaluate run --data short.npz", "at most 5 frames", "sees 6"),
    case("condition to train", "train short.npz -o new", "fewer than the condition of 12", "Give"),
    case("nothing ahead", "train six.npz -o new --set window.condition=6", "after the condition"),
    # Settings.
    case(
        "key",
        "train springs.nc -o new --config key.yaml",
        '"training.epoch"',
        'mean "training.epochs"?',
    ),
    case(
        "key to set",
        "train springs.nc -o new --set model.prototype=3",
        'unknown setting "model.prototype". Did you mean "model.dynamics.prototypes"?',
        real=True,
    ),
    case("inner key", "train springs.nc -o new --set model.solver.stp=1", '"model.solver.step"?'),
    case("group", "train springs.nc -o new --set trainig.epochs=1", '"training.epochs"?'),
    case("value", "train springs.nc -o new --config value.yaml", '"training.batch" is -4', "--set"),
    case("value to set", "train springs.nc -o new --set model.width=wide", "'wide'", "integer"),
    case("epochs", "train springs.nc -o new --epochs 0", "--set training.epochs=...", "or equal"),
    case("no value", "train springs.nc -o new --set model.width", "not of the form key=value"),
    case("no key", "train springs.nc -o new --set =3", "--set =3", "--set model.width=64"),
    case("YAML to set", "train springs.nc -o new --set model.width=[", "--set model.width=[", "YA"),
    case("YAML", "train springs.nc -o new --config broken.yaml", "broken.yaml is not valid YAML"),
    case("no mapping", "train springs.nc -o new --config list.yaml", "holds list", "Expected gro"),
    case("no config", "train springs.nc -o new --config no.yaml", "config no.yaml", "Correct the"),
    case("model", "train springs.nc -o new --model pgdoe", '"pgdoe"', 'Did you mean "pgode"?'),
    case("preset", "train springs.nc -o new --preset papr", '"papr"', 'Did you mean "paper"?'),
    case("solver", "train springs.nc -o new --set model.solver.method=rk5", 'mean "rk4"?'),
    case("huge seed", f"train springs.nc -o new --seed {10**30}", '"training.seed"', "less than"),
    # Runs to go on from.
    case(
        "from and resume", "train --resume run --from run", "takes no others", "only --resume RUN"
    ),
    case("from nothing", "train springs.nc -o new --from nowhere", "nowhere does not", RUN_FOLDER),
    case(
        "from other features", "train renamed.npz -o new --from run", "features px, py", "trained"
    ),
    case(
        "from other edges", "train attribute.nc -o new --from run", "weight, length", "trained on"
    ),
    case(
        "from, other model", "train springs.nc -o new --from run --model lstm", "Leave out --model"
    ),
    case("from, preset", "train springs.nc -o new --from run --preset paper", "Leave out --preset"),
    case(
        "from, other width",
        "train springs.nc -o new --from run --set model.width=64",
        "do not fit a model with another model.width",
        "start a new run without --from",
        real=True,
    ),
    case("scales of nothing", "train springs.nc -o new --refit-scales", "is no run to go on from"),
    # Run folders.
    case("no run", "evaluate nowhere", "nowhere does not exist", RUN_FOLDER, "Check the path"),
    case("not a run", "forecast folder springs.nc -o f.nc", "folder is not a run folder", "config"),
    case("a file as run", "evaluate notes.txt", "notes.txt is not a run folder", RUN_FOLDER),
    case("no weights", "evaluate unfinished", "has no trained weights yet", "--resume unfinished"),
    case("checkpoint", "evaluate damaged", "damaged/checkpoints/best.safetensors", "train again"),
    case("log", "info cut", "line 4 of cut/metrics.jsonl", "Expected one epoch", "remove the line"),
    case("other weights", "evaluate wider", "do not fit the model its config", "Restore config"),
    case("broken config", "info unreadable", "cannot read unreadable/config.json", RUN_FILE),
    case("foreign config", "info foreign", "foreign/config.json", 'unknown setting "layers"'),
    case("normaliser", "evaluate unscaled", "unscaled/normaliser.json", RUN_FILE),
    case(
        "calibration",
        "evaluate blind",
        "blind/calibration.json: its quantiles",
        RUN_FILE,
    ),
    case("there already", "train springs.nc -o run", "run holds a run already", "--resume run"),
    case("data gone", "evaluate moved", "old.nc, which no longer exists", "--data FILE"),
    # Going on with a run.
    case("other seed", "train --resume run --seed 3", "takes no others", "Start a new run"),
    case("other model", "train --resume run --model last-value", "--resume continues a run"),
    case("other epochs", "train --resume run --epochs 9", "with its settings", "Expected only"),
    case("other settings", "train --resume run --set model.width=9", "takes no others"),
    case("other data", "train other.nc --resume run", "other.nc is not what run was trained on"),
    case("resume nothing", "train --resume folder", "folder is not a run folder", RUN_FOLDER),
    case("resume damaged", "train springs.nc --resume damaged", "cannot read the checkpoint"),
    # Places that cannot be written.
    case("under a file", "train springs.nc -o notes.txt/run", "Not a directory", "another output"),
    case("a file there", "train springs.nc -o notes.txt", "cannot write notes.txt", "Expected a f"),
    case("forecast place", "forecast run springs.nc -o notes.txt/f.nc", "notes.txt/f.nc", "Choose"),
    case("simulation place", "simulate springs -o notes.txt/d/s.nc", "notes.txt/d/s.nc: Not a dir"),
    case("JSON place", "evaluate run --json notes.txt/e.json", "cannot write notes.txt/e.json"),
    case("folder in the way", "forecast run springs.nc -o folder.nc", "folder.nc", "Change the"),
    case("folder for data", "simulate springs -o folder.nc", "a folder of that name is in the way"),
    case("folder for JSON", "evaluate run --json folder", "cannot write folder: a folder of that"),
    case("folder for a report", "report run -o folder", "in the way", "Choose another output path"),
    case("simulation ending", "simulate springs -o s.csv", "ending .csv", ".nc, .zarr", real=True),
    case("forecast ending", "forecast run springs.nc -o f.xlsx", "f.xlsx", "ending in .nc", ".csv"),
    case("table ending", "forecast run springs.nc -o f.nc --table", "f.nc", "in .csv or .parquet"),
    case("samples in a table", "forecast run springs.nc -o f.csv --samples 3", "holds no samples"),
    # Options.
    case("command", "trian springs.nc", '"trian"', ADVICE),
    case("option", "train springs.nc -o new --epoch 3", "--epoch", ADVICE),
    case("no output", "simulate springs", "--output", ADVICE),
    case("no number", "forecast run springs.nc -o f.nc --until soon", "--until", '"soon"', ADVICE),
    case("no data", "train -o new", "needs a data file and an output folder", "pgode train DATA"),
    case("no folder", "train springs.nc", "Expected: pgode train DATA -o RUN", "--resume RUN"),
    case("until 0", "forecast run springs.nc -o f.nc --until 0", "frame 0", "at least 1", "Leave"),
    case("until before", "forecast run springs.nc -o f.nc --until -3", "until frame -3"),
    case("no such split", "forecast run springs.nc -o f.nc --split tset", '"tset"', "ood, test"),
    case("both", "forecast run springs.nc -o f.nc --until 3 --times 0.5", "Leave one out"),
    case("early", "forecast run springs.nc -o f.nc --times -0.5,1", "[-0.5, 1.0]", "each above 0"),
    case("times", "forecast run springs.nc -o f.nc --times 1,0.5", "do not increase", "Sort them"),
    case("same times", "forecast run springs.nc -o f.nc --times 1,1", "later than the one before"),
    case("time words", "forecast run springs.nc -o f.nc --times soon", "--times 0.5,1.0"),
    case("endless", "forecast run springs.nc -o f.nc --times inf", "Expected finite times"),
    case("samples", "forecast run springs.nc -o f.nc --samples -1", "-1 samples", "0 or more"),
    case("samples to score", "evaluate run --samples -2", "cannot draw -2 samples", "Correct them"),
    case("draws", "evaluate run --seed -1", "seed -1", "Expected 0 or more samples, and a seed"),
    case("examples", "report run --examples -1 -o r.html", "-1 systems", "Correct --examples"),
    case("too far", "evaluate run --horizons 6,40", "horizons [6, 40]", "18 frames", "1 to 12"),
    case("horizon 0", "evaluate run --horizons 0,6", "--horizons 0,6", "--horizons 12,24,36"),
    case("horizon words", "evaluate run --horizons six", "--horizons six is not a list of whole"),
    case("split", "evaluate run --split testing", '"testing"', "train, val, test, ood", "Choose"),
    # Simulations.
    case("system", "simulate sprngs -o s.nc", '"sprngs"', 'Did you mean "springs"?'),
    case("integrator", "simulate springs -o s.nc --integrator verlet", '"velocity-verlet"'),
    case("objects", "simulate springs -o s.nc --objects 0", "objects is 0", "at least 1"),
    case("frames", "simulate springs -o s.nc --frames 1", "frames is 1", "at least 2", "Give"),
    case("count", "simulate springs -o s.nc --test -5", "test is -5", "at least 0"),
    case("simulation seed", "simulate springs -o s.nc --seed -1", "seed is -1", "0 to 4294967295"),
    case(
        "nothing",
        "simulate springs -o s.nc --train 0 --val 0 --test 0 --ood 0",
        "nothing to simulate",
    ),
]


def archive(path: Path, **changes: object) -> None:
    """Springs as a numpy archive, with some arrays replaced, left out (None) or added."""
    data = springs()
    edges = np.broadcast_to(1 - np.eye(data.objects), (data.systems, data.objects, data.objects))
    arrays = {
        "states": data.states,
        "times": data.times,
        "edges": edges,
        "feature_names": NAMES,
        "split": data.split,
        **changes,
    }
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})


def with_value(value: float, place: tuple[int, ...]) -> np.ndarray:
    states = springs().states.copy()
    states[place] = value
    return states


def with_times(index: int, source: int) -> np.ndarray:
    times = springs().times.copy()
    times[:, index] = times[:, source]
    return times


def make_archives() -> None:
    data = springs()
    archive(Path("nostates.npz"), states=None)
    archive(Path("misspelt.npz"), feature_names=None, feature_name=NAMES)
    archive(Path("flat.npz"), states=data.states[0])
    archive(Path("clock.npz"), times=data.times[:, :-1])
    archive(Path("pickled.npz"), split=data.split.astype(object))
    archive(Path("nan.npz"), states=with_value(np.nan, (2, 1, 3, 2)))
    archive(Path("inf.npz"), states=with_value(np.inf, (0, 2, 4, 1)))
    archive(Path("unsorted.npz"), times=with_times(5, 3))
    archive(Path("repeated.npz"), times=with_times(5, 4))
    archive(Path("words.npz"), split=np.full(data.systems, "testing"))
    archive(Path("renamed.npz"), feature_names=np.array(["px", "py", "vx", "vy"]))
    archive(Path("narrow.npz"), states=data.states[..., :2], feature_names=NAMES[:2])
    archive(Path("short.npz"), states=data.states[:, :, :5], times=data.times[:, :5])
    archive(Path("six.npz"), states=data.states[:, :, :6], times=data.times[:, :6])
    archive(Path("half.npz"))
    whole = Path("half.npz").read_bytes()
    Path("half.npz").write_bytes(whole[: len(whole) // 2])


def make_datasets() -> None:
    data = springs()
    files.write(data, "springs.nc")
    files.write(data.select(data.split == "test"), "untrained.nc")
    files.write(data.select(np.arange(data.systems)[::-1]), "other.nc")
    whole = Path("springs.nc").read_bytes()
    Path("half.nc").write_bytes(whole[: len(whole) // 2])
    Path("text.nc").write_text("qx qy vx vy\n1 2 3 4\n")
    Path("empty.nc").touch()
    Path("notes.txt").write_text("nothing to see\n")
    Path("table.csv").write_text("id,t,qx\na,0,1\n")
    Path("folder.nc").mkdir()
    Path("folder").mkdir()
    Path("folder/file").touch()
    xr.Dataset({"a": ("x", [1.0])}).to_netcdf("foreign.nc", engine="h5netcdf")
    for name, variable, value in (("edges", "edge_sender", 3), ("self", "edge_sender", 0)):
        edited = data.dataset.drop_attrs().copy(deep=True)
        edited["edge_receiver"][0] = 0
        edited[variable][0] = value
        edited.to_netcdf(f"{name}.nc", engine="h5netcdf")
    wide = data.dataset.isel(edge_attribute=[0, 0]).assign_coords(
        edge_attribute=["weight", "length"]
    )
    files.write(Trajectories.from_dataset(wide), "attribute.nc")


def make_runs() -> None:
    shutil.copytree(trained().folder, "run")
    edit(Path("run/data.json"), source="springs.nc")
    for name in ("unfinished", "damaged", "wider", "unscaled", "blind", "moved", "cut"):
        shutil.copytree("run", name)
    shutil.rmtree("unfinished/checkpoints")
    for weights in Path("damaged/checkpoints").iterdir():
        weights.write_bytes(weights.read_bytes()[:-100])
    settings = json.loads(Path("wider/config.json").read_text())["model"]
    edit(Path("wider/config.json"), model={**settings, "width": 9})
    Path("unscaled/normaliser.json").write_text('{"features": ["qx"]}')
    Path("blind/calibration.json").write_text('{"levels": []}')
    edit(Path("moved/data.json"), source="old.nc", relative="../old.nc")
    with Path("cut/metrics.jsonl").open("a") as log:
        log.write('{"epoch": 4, "tra\n')
    Path("unreadable").mkdir()
    Path("unreadable/config.json").write_text('{"name": "pgo')
    Path("foreign").mkdir()
    Path("foreign/config.json").write_text('{"layers": 3}')


def edit(path: Path, **changes: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def make_configs() -> None:
    Path("key.yaml").write_text("training:\n  epoch: 3\n")
    Path("value.yaml").write_text("training: {batch: -4}\n")
    Path("broken.yaml").write_text("training: {batch: 4\nmodel\n")
    Path("list.yaml").write_text("- training\n- model\n")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with every kind of bad file in it, and a good run and data set."""
    folder = tmp_path_factory.mktemp("place")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for make in (make_datasets, make_archives, make_runs, make_configs):
            make()
        yield folder


def content(folder: Path) -> dict[str, str]:
    """Every path below a folder with a hash of what it holds."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file()
        else "folder"
        for path in sorted(folder.rglob("*"))
    }


def check(message: str, expected: Case) -> None:
    assert message.startswith("Error: ")
    assert "Traceback" not in message
    lines = message.strip().splitlines()
    assert lines[1:] in ([], [ADVICE])  # one paragraph
    assert len(lines[0]) < 600
    for words in expected.says:
        assert words in message


def test_there_are_enough_cases_and_each_has_its_own_name() -> None:
    assert len({each.name for each in CASES}) == len(CASES) >= 25
    assert sum(each.real for each in CASES) == 4


@pytest.mark.parametrize("expected", CASES, ids=lambda each: each.name)
def test_bad_input_is_one_paragraph_and_changes_nothing(
    expected: Case, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = content(place)
    assert run_command(expected.command.split()) == 2
    assert content(place) == before
    check(capsys.readouterr().err, expected)


@pytest.mark.parametrize("expected", [e for e in CASES if e.real], ids=lambda each: each.name)
def test_the_command_itself_says_the_same(expected: Case, place: Path) -> None:
    before = content(place)
    command = [sys.executable, "-m", "pgode.cli", *expected.command.split()]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert content(place) == before
    check(done.stderr, expected)


def test_what_the_cases_start_from_is_good(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """So that a case fails for its own reason: the same commands work on good input."""
    assert (springs().frames, trained().config.window.condition) == (FRAMES, CONDITION)
    assert data_file().is_file()
    before = content(place)
    assert run_command(["forecast", "run", "springs.nc", "-o", "ahead/f.nc", "--samples", "2"]) == 0
    archive(Path("good.npz"))
    assert run_command(["forecast", "run", "good.npz", "-o", "ahead/g.nc", "--samples", "0"]) == 0
    assert sorted(path.name for path in Path("ahead").iterdir()) == ["f.nc", "g.nc"]
    shutil.rmtree("ahead")
    Path("good.npz").unlink()
    assert content(place) == before
    assert "wrote ahead/g.nc" in capsys.readouterr().out
