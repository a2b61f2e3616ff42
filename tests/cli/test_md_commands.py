"""`pgode import md` and `pgode export-md`: a simulation in, a forecast out, bad input refused."""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

mdtraj = pytest.importorskip("mdtraj")

from tests.data.files import molecular_dynamics as made  # noqa: E402

import pgode  # noqa: E402
from pgode.batches.normaliser import Normaliser  # noqa: E402
from pgode.cli.app import run_command  # noqa: E402
from pgode.data.files import read  # noqa: E402
from pgode.models import build_model, model_config  # noqa: E402
from pgode.runs.forecasts import forecast_future  # noqa: E402

IMPORT = "import md --trajectory run.xtc --topology top.pdb -o new/mine.nc --frames 6"
Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulation and files that are none."""
    folder = tmp_path_factory.mktemp("md")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        fill(folder)
    return folder


@pytest.fixture
def place(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of them, made the current folder."""
    shutil.copytree(files, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def fill(folder: Path) -> None:
    made.save(folder, "run.xtc")
    made.save(folder, "run.dcd")
    made.save(folder, "run.pdb", frames=3)
    made.simulation(1).atom_slice(range(33)).save("dry.pdb")
    content = Path("run.xtc").read_bytes()
    Path("half.xtc").write_bytes(content[: len(content) // 2])
    Path("half.dcd").write_bytes(Path("run.dcd").read_bytes()[:9000])
    Path("notes.txt").write_text("nothing to see\n")
    Path("text.pdb").write_text("nothing to see\n")
    Path("folder.dcd").mkdir()
    assert run_command([*IMPORT.split()[:-3], "mine.nc", "--frames", "6"]) == 0


def said(capsys: Captured) -> str:
    return " ".join(capsys.readouterr().out.split())


def content(place: Path) -> dict[str, str]:
    files = (path for path in place.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_import_says_what_it_wrote(place: Path, capsys: Captured) -> None:
    capsys.readouterr()
    options = "--atoms heavy --align centred --cutoff 0.5 --update 3 --stride 2 --frame-time 0.5"
    words = [*IMPORT.split()[:-1], "4", *options.split(), "--select", "resSeq 5 to 6"]
    assert run_command(words) == 0
    assert "wrote new/mine.nc: 3 systems (1 train, 1 val, 1 test) of 10 atoms, 4 frames" in said(
        capsys
    )
    data = read("new/mine.nc")
    assert data.graph_rule == pytest.approx((0.5, 3.0))
    np.testing.assert_allclose(data.times[0], [0, 1, 2, 3])


def test_several_runs_of_one_molecule(place: Path) -> None:
    made.save(place, "other.xtc", seed=1)
    assert run_command([*IMPORT.split(), "--trajectory", "other.xtc"]) == 0
    assert read("new/mine.nc").systems == 2 * read("mine.nc").systems


def test_a_forecast_becomes_a_trajectory_of_the_same_atoms(place: Path, capsys: Captured) -> None:
    data = read("mine.nc")
    model = build_model("last-value", model_config("last-value", {}), Normaliser.fit(data)).eval()
    torch.manual_seed(0)
    ahead = forecast_future(
        model, data, 3, np.arange(1.0, 5.0), calibration=None, samples=2, seed=0
    )
    ahead.write("forecast.nc")
    assert str(ahead.dataset["topology"].values) == data.topology
    capsys.readouterr()
    for options, states in [
        ("", ahead.mean),
        ("--topology top.pdb", ahead.mean),
        ("--topology top.pdb --system 1", ahead.mean[1:2]),
        ("--system 2 --sample 1", ahead.samples[1, 2:3]),
    ]:
        line = ["export-md", "forecast.nc", "-o", "out.dcd", "--overwrite", *options.split()]
        assert run_command(line) == 0
        Path("own.pdb").write_text(data.topology)
        found = mdtraj.load("out.dcd", top="own.pdb")
        moves = states.swapaxes(1, 2).reshape(-1, made.PEPTIDE, 3)
        np.testing.assert_allclose(found.xyz, moves, atol=1e-5)
    printed = said(capsys)
    assert "wrote out.dcd: 16 frames of 30 atoms, 4 systems, one after the other" in printed
    assert "wrote out.dcd: 4 frames of 30 atoms, 1 system" in printed


@pytest.mark.parametrize(
    "options, preset",
    [("", "molecules"), ("--preset messages", "messages"), ("--model lstm", "default")],
)
def test_atoms_are_trained_with_their_own_preset(
    place: Path, capsys: Captured, options: str, preset: str
) -> None:
    small = "--horizon 2 --epochs 1 --set window.condition=3 --set model.width=8"
    assert run_command(f"train mine.nc -o run {small} {options}".split()) == 0
    assert ("Using preset molecules: the data describe a molecule" in said(capsys)) == (
        preset == "molecules"
    )
    assert json.loads(Path("run/config.json").read_text())["preset"] == preset
    if not options:
        again = pgode.train("mine.nc", "again", horizon=2, epochs=1, config="run/config.json")
        assert again.config.preset == preset


def test_a_file_that_names_another_model_gets_no_preset_of_ours(place: Path) -> None:
    Path("lstm.yaml").write_text(
        "name: lstm\nwindow: {condition: 3, horizon: 2}\ntraining: {epochs: 1}\n"
    )
    assert run_command(["train", "mine.nc", "-o", "run", "--config", "lstm.yaml"]) == 0
    found = json.loads(Path("run/config.json").read_text())
    assert (found["name"], found["preset"]) == ("lstm", "default")


def test_data_goes_out_as_it_came_in(place: Path) -> None:
    assert run_command(["export-md", "mine.nc", "-o", "back.xtc", "--system", "0"]) == 0
    Path("own.pdb").write_text(read("mine.nc").topology)
    found = mdtraj.load("back.xtc", top="own.pdb")
    came = mdtraj.load("run.xtc", top="top.pdb")[:6].atom_slice(range(made.PEPTIDE))
    # Turned and shifted by the alignment, and nothing else.
    distances = [
        mdtraj.compute_distances(each, [[0, 29], [3, 17]], periodic=False) for each in (found, came)
    ]
    np.testing.assert_allclose(distances[0], distances[1], atol=2e-3)
    np.testing.assert_allclose(found.time, np.arange(6) * made.STEP, atol=1e-6)


BAD = {
    "import md --trajectory gone.xtc --topology top.pdb -o n.nc": "gone.xtc: there is no such file",
    "import md --trajectory run.xtc --topology gone.pdb -o n.nc": "gone.pdb: there is no such file",
    "import md --trajectory half.xtc --topology top.pdb -o n.nc": "half.xtc: it is damaged, cut",
    "import md --trajectory half.dcd --topology top.pdb -o n.nc": "claims 40 frames",
    "import md --trajectory run.xtc --topology dry.pdb -o n.nc": "42 atoms, but the topology dry",
    "import md --trajectory run.pdb --topology dry.pdb -o n.nc": "42 atoms, but the topology dry",
    "import md --trajectory run.xtc --topology text.pdb -o n.nc": "cannot read the topology text",
    "import md --trajectory notes.txt --topology top.pdb -o n.nc": "ending .txt is not known",
    "import md --trajectory run.dcd --topology top.pdb -o n.nc": "Give it in ps, for instance --fr",
    "import md --trajectory run.xtc --topology top.pdb -o n.nc": "40 usable frames, which make 0",
    "import md --trajectory run.xtc --topology top.pdb -o n.csv": "ending .csv is not known",
    "import md --trajectory run.xtc --topology top.pdb": "--output",
    IMPORT + " --select protien": '"protien" does not select',
    IMPORT + " --select water --atoms ca": 'none of the atoms that "ca" keeps',
    IMPORT + " --atoms most": 'no atoms "most"',
    IMPORT + " --align up": 'no align "up"',
    IMPORT + " --splits half": "--splits 'half' is not a list of numbers",
    IMPORT + " --splits 1,1,1": "splits are 1,1,1",
    IMPORT.replace("new/", "notes.txt/"): "Not a directory",
    "import mdd": '"mdd"',
    "export-md gone.nc -o out.dcd": "gone.nc: there is no such file",
    "export-md text.pdb -o out.dcd": "ending .pdb is not known",
    "export-md mine.nc -o out.csv": "ending .csv is not known",
    "export-md mine.nc -o notes.txt/out.dcd": "Not a directory",
    "export-md mine.nc -o folder.dcd": "a folder of that name is in the way",
    "export-md mine.nc -o mine.nc": "it is what the command reads",
    "export-md mine.nc -o out.dcd --system 9": "no system 9",
    "export-md mine.nc -o out.dcd --sample 0": "no sample 0",
    "export-md mine.nc -o out.dcd --topology gone.pdb": "gone.pdb: there is no such file",
    "export-md mine.nc -o out.dcd --topology dry.pdb --select water": "but dry.pdb has 33",
}


def check(error: str, says: str) -> None:
    text = " ".join(error.split())
    assert text.startswith("Error: ") and says in text
    assert "Traceback" not in error and "xdrfile" not in error


@pytest.mark.parametrize("command", BAD)
def test_bad_input_is_one_paragraph_and_changes_nothing(
    command: str, place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = content(place)
    capfd.readouterr()
    assert run_command(command.split()) == 2
    assert content(place) == before
    printed = capfd.readouterr()
    check(printed.err, BAD[command])
    assert printed.out == ""


def test_the_command_itself_says_only_that(place: Path) -> None:
    """As a process of its own: C code of mdtraj prints past Python, and late."""
    for name, code in (("half.dcd", 2), ("run.dcd", 0)):
        words = [*IMPORT.replace("run.xtc", name).split(), "--frame-time", "0.2"]
        done = subprocess.run(
            [sys.executable, "-m", "pgode.cli", *words], capture_output=True, text=True, check=False
        )
        assert done.returncode == code
        if code:
            check(done.stderr, "it is damaged, cut off")
        assert done.stdout.count("\n") == (code == 0)
