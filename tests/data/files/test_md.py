"""Molecular dynamics: read, cut, split and made whole."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

mdtraj = pytest.importorskip("mdtraj")

from tests.data.files import molecular_dynamics as made  # noqa: E402

from pgode.data.files import md  # noqa: E402
from pgode.data.files.md_files import read_frames  # noqa: E402
from pgode.data.molecules import Preparation, aligned  # noqa: E402
from pgode.data.trajectories import Trajectories  # noqa: E402
from pgode.runtime.errors import InputError  # noqa: E402

RAW = Preparation(align="raw")
# Of mdtraj itself, where the tests use it directly to make files.
pytestmark = pytest.mark.filterwarnings("ignore:Warning. The 'netCDF4'")


def read(path: Path, preparation: Preparation = RAW, **options) -> Trajectories:
    options = {"frames_per_system": 6, "frame_time": made.STEP, **options}
    topology = options.pop("topology", path.parent / "top.pdb")
    return md.read([path], topology, preparation, **options)


def expected(first: int, frames: int = 6, stride: int = 1, seed: int = 0) -> np.ndarray:
    """The expected states (object, time, 3) of a system that starts at a frame."""
    moves = made.motion(200, seed)[first : first + frames * stride : stride, : made.PEPTIDE]
    mass = [atom.element.mass for atom in made.topology().atoms][: made.PEPTIDE]
    return aligned(moves[None], np.array(mass), "raw")[0].swapaxes(0, 1)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return made.save(tmp_path, "run.trr", boxed=False)


@pytest.mark.parametrize("wrapped", [False, True], ids=["whole", "wrapped"])
@pytest.mark.parametrize(
    "ending, precision",
    [(".xtc", 1e-3), (".pdb", 1e-3), (".dcd", 1e-5), (".trr", 1e-5), (".nc", 1e-5), (".gro", 2e-3)],
)
def test_every_format_gives_the_same_molecule(
    ending: str, precision: float, wrapped: bool, tmp_path: Path
) -> None:
    moves = made.motion(200)[:30]
    path = tmp_path / f"run{ending}"
    simulation = made.simulation(200, wrapped=wrapped)[:30]
    simulation[0].save(str(tmp_path / "top.pdb"))
    simulation.save(str(path))
    data = read(path)
    assert (data.systems, data.objects, data.frames) == (3, made.PEPTIDE, 6)
    assert np.ptp(moves[:, : made.PEPTIDE], axis=(0, 1)).max() > made.BOX  # it does cross the box
    for system, first in enumerate((0, 12, 24)):
        np.testing.assert_allclose(data.states[system], expected(first), atol=2 * precision)
    np.testing.assert_allclose(data.times, np.broadcast_to(np.arange(6) * 0.2, (3, 6)))
    said = json.loads(data.dataset.attrs["generator_settings"])
    assert said["trajectories"][0]["made_whole"] is True


@pytest.mark.parametrize("ending", ["pdb", "gro"])
def test_two_chains_stay_together_when_one_crosses_the_box(tmp_path: Path, ending: str) -> None:
    both = (
        made.topology()
        .subset(range(made.PEPTIDE))
        .join(made.topology().subset(range(made.PEPTIDE)))
    )
    first = made.motion(30)[:, : made.PEPTIDE]
    # The second chain lies beside the first and goes its own way, across the walls. Its beginning
    # and the end of the first, which a file without chains has as one, are half a box apart.
    second = first + [-0.3, 0.5, 0] + np.arange(30)[:, None, None] * [0.02, 0.005, -0.03]
    whole = np.concatenate([first, second], 1)
    simulation = mdtraj.Trajectory(
        (whole % made.BOX).astype(np.float32),
        both,
        unitcell_lengths=np.full((30, 3), made.BOX),
        unitcell_angles=np.full((30, 3), 90.0),
    )
    topology = tmp_path / f"top.{ending}"
    simulation[0].save(str(topology))
    simulation.save(str(tmp_path / "run.dcd"))
    data = read(tmp_path / "run.dcd", topology=topology)
    apart = data.states[..., made.PEPTIDE :, :, :] - data.states[..., : made.PEPTIDE, :, :]
    for system, start in enumerate((0, 12, 24)):
        rows = slice(start, start + 6)
        np.testing.assert_allclose(apart[system], (second - first)[rows].swapaxes(0, 1), atol=1e-4)


def test_a_chain_of_c_alphas_without_bonds_is_made_whole(tmp_path: Path) -> None:
    made.save(tmp_path, "all.trr", frames=30, wrapped=True)
    alpha = mdtraj.load(str(tmp_path / "all.trr"), top=str(tmp_path / "top.pdb"))
    alpha = alpha.atom_slice(alpha.topology.select("name CA"))
    alpha[0].save(str(tmp_path / "top.pdb"))
    alpha.save(str(tmp_path / "ca.trr"))
    data = read(tmp_path / "ca.trr", Preparation(atoms="ca", align="raw"))
    steps = np.linalg.norm(np.diff(data.states, axis=1), axis=-1)
    assert data.objects == 3 and steps.max() < 0.6


def test_a_file_without_a_box_is_left_as_it_is_and_says_so(run: Path) -> None:
    data = read(run)
    said = json.loads(data.dataset.attrs["generator_settings"])
    assert said["trajectories"] == [
        {"name": "run.trr", "frames": 40, "systems": 4, "made_whole": False}
    ]
    assert (said["topology"], said["selection"], said["stride"]) == ("top.pdb", "protein", 1)
    assert data.dataset.attrs["generator"] == "pgode import md"


def test_atoms_are_those_of_the_selection_and_of_the_choice(run: Path) -> None:
    def names(data: Trajectories) -> list[str]:
        lines = [line for line in data.topology.splitlines() if line.startswith("ATOM")]
        return [f"{line[17:20]}{line[22:26].strip()}-{line[12:16].strip()}" for line in lines]

    protein = read(run)
    assert protein.objects == 30 and names(protein)[:3] == ["ALA5-N", "ALA5-H", "ALA5-CA"]
    assert protein.dataset["group"].values[0].tolist() == [0] * 10 + [1] * 10 + [2] * 10
    assert names(read(run, Preparation("ca"))) == ["ALA5-CA", "ALA6-CA", "ALA7-CA"]
    assert read(run, Preparation("heavy")).objects == 15
    assert read(run, selection="all").objects == 42
    water = read(run, selection="water")
    assert water.objects == 12 and water.dataset["group"].values[0, -1] == 3


def test_without_a_protein_all_but_water_is_kept(tmp_path: Path) -> None:
    path = made.save(tmp_path, "run.trr")
    text = (tmp_path / "top.pdb").read_text().replace("ALA", "LIG")
    (tmp_path / "top.pdb").write_text(text)
    data = read(path)
    said = json.loads(data.dataset.attrs["generator_settings"])
    assert (data.objects, said["selection"]) == (30, "not water")


@pytest.mark.parametrize("systems", [5, 6, 13, 40])
def test_splits_are_blocks_in_time_with_a_system_left_out_between(
    systems: int, tmp_path: Path
) -> None:
    path = made.save(tmp_path, "run.trr", frames=3 * systems + 2, boxed=False)
    data = read(path, frames_per_system=3)
    found = mdtraj.load(str(path), top=str(tmp_path / "top.pdb")).xyz[:, : made.PEPTIDE]
    bond = np.linalg.norm(found[:, 1] - found[:, 0], axis=-1)
    starts = [
        int(np.abs(bond - np.linalg.norm(states[1, 0] - states[0, 0])).argmin())
        for states in data.states
    ]
    words = data.split.tolist()
    assert words == sorted(words, key=["train", "val", "test"].index)
    places = {word: [s for s, w in zip(starts, words, strict=True) if w == word] for word in words}
    assert all(np.all(np.diff(place) == 3) for place in places.values())
    assert places["val"][0] - places["train"][-1] == 6  # one system of 3 frames lies between
    assert places["test"][0] - places["val"][-1] == 6
    assert (starts[0], len(starts)) == (0, systems - 2)
    shares = [len(place) / len(starts) for place in places.values()]
    assert np.abs(np.array(shares) - [0.7, 0.15, 0.15]).max() <= 1.2 / len(starts)


def test_a_share_of_nothing_leaves_a_split_out(run: Path) -> None:
    assert read(run, splits=(1, 0, 0)).split.tolist() == ["train"] * 6
    assert read(run, splits=(0.5, 0, 0.5)).split.tolist() == ["train"] * 2 + ["test"] * 3


def test_several_files_are_cut_each_for_itself(tmp_path: Path) -> None:
    paths = [made.save(tmp_path, f"{k}.trr", seed=k, boxed=False) for k in (1, 2)]
    data = md.read(paths, tmp_path / "top.pdb", RAW, frames_per_system=6)
    single = [read(path, frame_time=None) for path in paths]
    np.testing.assert_allclose(data.states, np.concatenate([each.states for each in single]))
    assert data.split.tolist() == [*single[0].split, *single[1].split]


def test_parts_of_one_run_are_refused(tmp_path: Path) -> None:
    whole = made.simulation(80)
    made.save(tmp_path, "run.xtc")  # writes the topology, too
    for name, part in (("a.xtc", whole[:40]), ("b.xtc", whole[40:])):
        part.save(str(tmp_path / name))
    parts = [tmp_path / "b.xtc", tmp_path / "a.xtc"]
    options = {"frames_per_system": 6}
    with pytest.raises(InputError, match=r"b\.xtc continues where .*a\.xtc ends"):
        md.read(parts, tmp_path / "top.pdb", RAW, **options)
    assert md.read(parts, tmp_path / "top.pdb", RAW, **options, splits=(1, 0, 0)).systems == 12


@pytest.mark.parametrize("stride", [3, 7, 150])
def test_a_stride_goes_on_from_one_piece_of_the_file_to_the_next(tmp_path: Path, stride) -> None:
    path = made.save(tmp_path, "long.xtc", 330)
    frames = read_frames(path, made.topology(), np.arange(5), stride, tmp_path / "top.pdb")
    np.testing.assert_allclose(frames.time, made.simulation(330).time[::stride], rtol=1e-5)


def test_a_stride_thins_frames_and_times(tmp_path: Path) -> None:
    path = made.save(tmp_path, "run.trr", frames=200, boxed=False)
    data = read(path, stride=3, frame_time=None, frames_per_system=5)
    np.testing.assert_allclose(data.states[0], expected(0, 5, 3), atol=1e-5)
    np.testing.assert_allclose(data.times[1], np.arange(5) * 0.6, rtol=1e-12)
    twice = read(path, stride=3, frame_time=0.4, frames_per_system=5)
    np.testing.assert_allclose(twice.times, 2 * data.times)


def test_times_of_a_long_run_are_even_despite_single_precision(tmp_path: Path) -> None:
    made.save(tmp_path, "run.trr")
    late = made.simulation(40)
    late.time = 50_000 + late.time
    late.save(str(tmp_path / "run.xtc"))
    stored = mdtraj.load(str(tmp_path / "run.xtc"), top=str(tmp_path / "top.pdb")).time
    assert np.ptp(np.diff(stored)) > 1e-3
    data = read(tmp_path / "run.xtc", frame_time=None)
    np.testing.assert_allclose(data.times[0], np.arange(6) * 0.2, rtol=1e-3)
    np.testing.assert_allclose(np.diff(data.times), np.diff(data.times)[0, 0])


def cut(path: Path, share: float) -> Path:
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    return path


@pytest.mark.parametrize("share", [0.001, 0.5, 0.57, 0.995])
@pytest.mark.parametrize("ending", [".xtc", ".dcd", ".trr", ".pdb", ".nc", ".gro"])
def test_a_trajectory_that_was_cut_off_is_refused(
    ending: str, share: float, tmp_path: Path
) -> None:
    path = cut(made.save(tmp_path, f"run{ending}"), share)
    with pytest.raises(InputError, match=r"run\S+ (has|:|it is).* Expected .*(Copy|Give) "):
        read(path)


def broken_options() -> list[tuple[dict, str]]:
    return [
        ({"selection": "resname XXX"}, '"resname XXX" matches none of the 42 atoms.*ALA, HOH'),
        ({"selection": "name CA and"}, '"name CA and" does not select atoms.*Correct --select'),
        ({"selection": ""}, "does not select"),
        ({"frames_per_system": 9}, "40 usable frames, which make 4 systems of 9.*45.*--frames 8"),
        ({"frames_per_system": 1}, "a system has 1 frames"),
        ({"stride": 0}, "the stride is 0"),
        ({"frame_time": -1.0}, "between frames is -1.0 ps"),
        ({"splits": (0.5, 0.5)}, "splits are 0.5,0.5. Expected three shares"),
        ({"splits": (0.9, 0.9, -0.8)}, "add up to 1"),
    ]


@pytest.mark.parametrize("options, message", broken_options())
def test_options_that_cannot_be_are_refused(options: dict, message: str, run: Path) -> None:
    with pytest.raises(InputError, match=message):
        read(run, **options)


@pytest.mark.parametrize("ending", [".xtc", ".dcd", ".trr", ".pdb", ".nc"])
def test_a_topology_of_other_atoms_is_refused_with_both_numbers(
    ending: str, tmp_path: Path
) -> None:
    path = made.save(tmp_path, f"run{ending}")
    made.simulation(1).atom_slice(range(33)).save(str(tmp_path / "top.pdb"))
    with pytest.raises(InputError, match=r"has 42 atoms, but the topology \S+ has 33"):
        read(path)


def test_other_bad_input_is_refused(run: Path) -> None:
    folder, top = run.parent, run.parent / "top.pdb"
    with pytest.raises(InputError, match="given twice"):
        md.read([run, folder / "." / "run.trr"], top, RAW)
    with pytest.raises(InputError, match="no trajectory"):
        md.read([], top, RAW)
    with pytest.raises(InputError, match=r"gone\.xtc: there is no such file"):
        md.read([folder / "gone.xtc"], top, RAW)
    with pytest.raises(InputError, match=r"gone\.pdb: there is no such file"):
        md.read([run], folder / "gone.pdb", RAW)
    (folder / "notes.txt").write_text("nothing\n")
    (folder / "notes.pdb").write_text("nothing\n")
    with pytest.raises(InputError, match=r"ending \.txt is not known"):
        md.read([folder / "notes.txt"], top, RAW)
    for name in ("notes.pdb", "notes.txt"):
        with pytest.raises(InputError, match=f"cannot read the topology .*{name}"):
            md.read([run], folder / name, RAW)
    dcd = made.save(folder, "run.dcd")
    with pytest.raises(InputError, match=r"does not say when .*\.dcd.*--frame-time 0\.2"):
        read(dcd, frame_time=None)
    back = made.simulation(40)
    back.time[20:] -= 1
    back.save(str(folder / "back.trr"))
    with pytest.raises(InputError, match="goes back in time: frame 20 is at 3 ps"):
        read(folder / "back.trr", frame_time=None)
    lost = made.simulation(40)
    lost.xyz[7, 2] = np.nan
    lost.save(str(folder / "lost.trr"))
    with pytest.raises(InputError, match="no finite position of the atom ALA5-CA in frame 7"):
        read(folder / "lost.trr")


def test_without_mdtraj_the_error_says_how_to_get_it(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mdtraj", None)
    with pytest.raises(InputError, match=r'pip install "pgode\[md\]"'):
        read(run)


@pytest.mark.parametrize("ending", [".xtc", ".trr", ".dcd"])
def test_more_frames_than_memory_holds_are_refused_by_the_headers(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made.save(tmp_path, f"run{ending}", frames=400)
    monkeypatch.setenv("PGODE_MEMORY", "1MB")
    monkeypatch.setattr("pgode.data.files.md.read_frames", None)
    with pytest.raises(InputError) as caught:
        read(path, frame_time=0.2)
    assert (
        f"importing 400 frames of 30 atoms from {path} needs about 1.08 MB of memory, but 1 MB are "
        f"free for this process"
    ) in str(caught.value)
    assert "--stride" in str(caught.value)


def test_frames_are_counted_while_they_are_read_where_no_header_tells_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made.save(tmp_path, "run.pdb", frames=400)
    monkeypatch.setenv("PGODE_MEMORY", "500KB")
    with pytest.raises(InputError, match=r"reading .*run\.pdb needs about 540 kB of memory"):
        read(path, frame_time=0.2)
    monkeypatch.setenv("PGODE_MEMORY", "600KB")
    assert read(path, frame_time=0.2, stride=2).states.shape[1] == 30
