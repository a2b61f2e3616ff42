"""Molecular dynamics, run for real: a tripeptide in implicit solvent, and once in water."""

import json
import shutil
import sys
from dataclasses import replace

import numpy as np
import pytest

from pgode.cli.app import run_command
from pgode.data import files
from pgode.data.molecules import Preparation
from pgode.data.simulate.protein import (
    RANGES,
    ProteinSettings,
    collect,
    collect_replicas,
    from_sequence,
    simulate_samples,
)
from pgode.data.simulate.protein import branches as running
from pgode.data.simulate.protein.forces import solvate
from pgode.data.simulate.protein.sampler import Sampler, unjumped
from pgode.data.simulate.protein.samples import Samples
from pgode.runtime.errors import InputError
from pgode.runtime.signals import StopRequest

SOURCE = from_sequence("GAG")
SMALL = ProteinSettings(
    "GAG",
    SOURCE.hash,
    implicit=True,
    train=3,
    val=1,
    test=1,
    ood=1,
    frames=5,
    frame_time=0.04,
    settle=0.04,
    equilibrate=0.4,
    separate=0.2,
    branch=2,
    replicas=2,
    condition=2,
    horizon=3,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("md") / "gag.samples"
    simulate_samples(SOURCE, SMALL, place, jobs=2)
    return place


def test_every_split_has_its_samples_with_parameters_from_its_ranges(folder):
    data = collect(Samples(folder), Preparation())
    assert data.split.tolist() == ["train"] * 3 + ["val", "test", "ood"]
    assert data.states.shape == (6, data.objects, 5, 3) and np.isfinite(data.states).all()
    np.testing.assert_allclose(data.times[0], [0, 0.04, 0.08, 0.12, 0.16])
    assert data.dataset["parameter"].values.tolist() == ["temperature", "friction"]
    assert data.dataset["parameter_units"].values.tolist() == ["K", "1/ps"]
    inside = [
        all(
            RANGES.inner[name][0] <= value <= RANGES.inner[name][1]
            for name, value in zip(SMALL.parameters, row, strict=True)
        )
        for row in data.parameters
    ]
    assert all(inside[:5])
    said = json.loads(data.dataset.attrs["generator_settings"])
    assert said["solvent"] == "implicit (OBC2); pressure has no meaning"
    assert said["preparation"]["align"] == "superposed"


def test_molecules_move_as_molecules_do(folder):
    data = collect(Samples(folder), Preparation(align="raw"))
    frames = data.states.swapaxes(1, 2)
    steps = np.linalg.norm(np.diff(frames, axis=1), axis=-1)
    assert 1e-3 < steps.mean() < 0.05  # nm in 0.04 ps: thermal, neither frozen nor exploding
    pairs = np.linalg.norm(frames[:, :, 0] - frames[:, :, 1], axis=-1)
    assert pairs.std() < 0.01  # a bond keeps its length


def test_the_same_settings_give_the_same_numbers_whatever_the_jobs_and_stops(folder, tmp_path):
    samples = Samples(tmp_path / "again")
    samples.claim(SMALL, SOURCE)
    shutil.copy(folder / "equilibrated.npz", samples.folder)
    for name in ("system.xml", "molecule.pdb"):
        shutil.copy(folder / name, samples.folder)
    solvated, _ = samples.required_solvated()
    stopped = StopRequest()
    branch = next(each for each in SMALL.branches() if each.split == "train")
    sampler = Sampler(solvated, SMALL)
    keep = Samples.keep

    def kept_then_stop(self, split, index, sample):
        keep(self, split, index, sample)
        stopped.signal = 15

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Samples, "keep", kept_then_stop)
        assert not running.finish_branch(samples, branch, sampler, stopped)
    assert samples.finished() == 1
    assert branch in running.missing(samples)
    simulate_samples(SOURCE, SMALL, samples.folder, jobs=1)
    first, second = (collect(each, Preparation()) for each in (Samples(folder), samples))
    assert first.hash == second.hash


@pytest.mark.parametrize("implicit", [True, False])
def test_solvating_and_equilibrating_are_reproducible(implicit):
    settings = replace(SMALL, implicit=implicit, equilibrate=0.04)
    made = [solvate(SOURCE, settings) for _ in range(2)]
    assert made[0].system == made[1].system
    np.testing.assert_array_equal(made[0].positions, made[1].positions)
    if implicit:  # In water this takes a while, and the next tests do it anyway.
        ends = [Sampler(each, settings).equilibrated() for each in made]
        np.testing.assert_array_equal(ends[0].positions, ends[1].positions)


def test_samples_of_other_settings_are_refused(folder):
    with pytest.raises(InputError, match=r"another simulation: seed 0 \(now 1\)"):
        simulate_samples(SOURCE, replace(SMALL, seed=1), folder)


def test_a_damaged_sample_is_named_and_made_again_once_removed(folder, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    expected = collect(Samples(folder), Preparation()).hash
    broken = copy / "train-0001.npz"
    broken.write_bytes(broken.read_bytes()[:100])
    with pytest.raises(InputError, match=r"train-0001\.npz.*Remove this file"):
        collect(Samples(copy), Preparation())
    broken.unlink()
    simulate_samples(SOURCE, SMALL, copy)
    assert collect(Samples(copy), Preparation()).hash == expected


def test_replicas_share_their_condition_and_then_part(folder):
    data = collect_replicas(Samples(folder), Preparation(align="raw"))
    assert data is not None and data.systems == 6 and data.frames == 5
    said = json.loads(data.dataset.attrs["generator_settings"])
    assert said["replica_of"] == ["test 0"] * 3 + ["ood 0"] * 3
    for first in (0, 3):
        group = data.states[first : first + 3]
        np.testing.assert_allclose(group[1:, :, :2], group[:1, :, :2].repeat(2, 0))
        apart = [np.abs(group[1] - group[k])[:, 2:].mean((0, 2)) for k in (0, 2)]
        assert all((gap > 1e-4).all() and gap[-1] > gap[0] for gap in apart)
    itself = collect(Samples(folder), Preparation(align="raw"))
    np.testing.assert_allclose(data.states[0], itself.states[4])


def test_without_replicas_there_is_no_file_of_them(folder, tmp_path):
    plain = replace(SMALL, replicas=0, train=1, val=0, test=0, ood=0)
    assert collect_replicas(simulate_samples(SOURCE, plain, tmp_path / "p"), Preparation()) is None


def test_replicas_and_samples_can_be_added_later_and_come_out_as_if_asked_for_at_once(
    folder, tmp_path
):
    less = replace(SMALL, replicas=0, train=1, horizon=1)
    simulate_samples(SOURCE, less, tmp_path / "grown")
    grown = simulate_samples(SOURCE, SMALL, tmp_path / "grown")
    for made in (collect, collect_replicas):
        assert made(grown, Preparation()).hash == made(Samples(folder), Preparation()).hash
    written = {path: path.stat().st_mtime_ns for path in grown.folder.glob("*.npz")}
    fewer = simulate_samples(SOURCE, replace(SMALL, replicas=1, test=0), grown.folder)
    futures = collect_replicas(fewer, Preparation())
    assert futures is not None and futures.systems == 2
    assert {path: path.stat().st_mtime_ns for path in written} == written
    longer = simulate_samples(SOURCE, replace(SMALL, condition=1, horizon=4), grown.folder)
    assert collect(longer, Preparation()).states.shape[0] == 6
    again = collect_replicas(longer, Preparation(align="raw"))
    assert again is not None and again.frames == 5
    np.testing.assert_array_equal(again.states[0, :, 0], again.states[1, :, 0])
    assert (again.states[0, :, 1:] != again.states[1, :, 1:]).all((0, 2)).all()


def test_ray_gives_the_same_numbers(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    ray = pytest.importorskip("ray")
    settings = replace(SMALL, train=1, val=0, ood=0, replicas=0)
    here = simulate_samples(SOURCE, settings, tmp_path / "here")
    try:
        there = simulate_samples(SOURCE, settings, tmp_path / "ray", jobs=2, engine="ray")
    finally:
        ray.shutdown()
    assert collect(here, Preparation()).hash == collect(there, Preparation()).hash


def test_a_branch_that_fails_says_why_and_keeps_the_others(tmp_path):
    settings = replace(SMALL, train=1, val=1, test=0, ood=0)
    samples = simulate_samples(SOURCE, settings, tmp_path / "x")
    (samples.folder / "val-0000.npz").unlink()
    (samples.folder / "val-0000-start.npz").write_bytes(b"no archive")
    with pytest.raises(InputError, match=r"1 of 2 branches.*1 of 2 samples.*val-0000-start\.npz"):
        simulate_samples(SOURCE, settings, samples.folder)


def test_in_water_there_is_a_box_and_a_pressure(tmp_path):
    source = from_sequence("GG")
    settings = ProteinSettings(
        *("GG", source.hash),
        **{"train": 1, "val": 0, "test": 0, "ood": 0, "frames": 3, "settle": 0.2},
        **{"equilibrate": 0.4, "separate": 0.1},
    )
    data = collect(simulate_samples(source, settings, tmp_path / "w"), Preparation(align="raw"))
    assert data.dataset["parameter"].values.tolist() == list(RANGES.names)
    said = json.loads(data.dataset.attrs["generator_settings"])
    assert said["solvent"] == "TIP3P" and said["atoms_with_solvent"] > 500
    assert data.objects == 17
    assert np.abs(np.diff(data.states, axis=2)).max() < 0.3


def test_samples_with_replicas_are_spread_over_the_split_and_their_branches_come_first():
    settings = replace(SMALL, train=60, test=50, ood=8, branch=25, replicas=2, replicated=10)
    assert settings.replicated_of("test") == tuple(range(0, 50, 5))
    assert settings.replicated_of("ood") == tuple(range(8))
    assert settings.replicated_of("train") == ()
    assert [settings.replicas_of("test", k) for k in (0, 1, 5)] == [2, 0, 2]
    names = [branch.name for branch in settings.branches()]
    assert set(names[:2]) == {"test-0000", "test-0025"} and len(names) == 7


def test_out_of_distribution_is_so_without_pressure_too():
    for index in range(200):
        drawn = SMALL.ranges.draw(SMALL.stream("ood", index), ood=True)
        assert not SMALL.ranges.inside(drawn)


def test_one_folder_is_for_one_command_at_a_time(folder):
    import fcntl

    with (folder / ".simulating.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="another command is simulating in"):
            simulate_samples(SOURCE, SMALL, folder)


def test_samples_of_another_version_are_refused(folder, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    settings = json.loads((copy / "settings.json").read_text())
    (copy / "settings.json").write_text(json.dumps({**settings, "openmm": "8.0"}))
    (copy / "train-0002.npz").unlink()
    with pytest.raises(InputError, match=r"another simulation: openmm 8\.0 \(now "):
        simulate_samples(SOURCE, SMALL, copy)
    (copy / "settings.json").write_text("{")
    with pytest.raises(InputError, match=r"cannot read .*settings\.json"):
        simulate_samples(SOURCE, SMALL, copy)


def test_finished_samples_stay_good_when_openmm_is_newer(folder, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    settings = json.loads((copy / "settings.json").read_text())
    (copy / "settings.json").write_text(json.dumps({**settings, "openmm": "8.0"}))
    kept = simulate_samples(SOURCE, replace(SMALL, train=2), copy)
    assert kept.finished() == 5 and kept.versions()["openmm"] == "8.0"
    with pytest.raises(InputError, match=r"openmm 8\.0 \(now "):
        simulate_samples(SOURCE, replace(SMALL, train=4), copy)


@pytest.mark.parametrize("content", ["{}", "[]", "{", '{"structure": "GAG"}'])
def test_a_folder_that_is_no_simulation_is_refused(tmp_path, capsys, content):
    (tmp_path / "x.samples").mkdir()
    (tmp_path / "x.samples" / "settings.json").write_text(content)
    words = f"simulate protein --sequence GAG --implicit -o {tmp_path / 'x.nc'}"
    assert run_command(words.split()) == 2
    assert "settings.json" in capsys.readouterr().err


def test_a_place_for_samples_that_cannot_be_written_is_refused(tmp_path, capsys):
    (tmp_path / "file").touch()
    words = f"simulate protein --sequence GAG --implicit -o {tmp_path / 'x.nc'} --samples"
    assert run_command([*words.split(), str(tmp_path / "file")]) == 2
    assert "Expected a folder that can be written to" in " ".join(capsys.readouterr().err.split())


def test_a_sample_that_lacks_a_part_is_named(folder, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    np.savez(copy / "test-0000.npz", frames=np.zeros(3))
    with pytest.raises(InputError, match=r"test-0000\.npz.*Remove this file"):
        simulate_samples(SOURCE, SMALL, copy)


def test_numbers_that_are_not_given_are_those_of_the_folder(folder, tmp_path, capsys):
    shutil.copytree(folder, tmp_path / "copy")
    options = "--sequence GAG --implicit --frames 5 --frame-time 0.04"
    settings = json.loads((tmp_path / "copy" / "settings.json").read_text())
    # Lengths that the command has no options for.
    usual = {"settle": 2.0, "equilibrate": 100.0, "separate": 10.0, "branch": 25}
    (tmp_path / "copy" / "settings.json").write_text(json.dumps(settings | usual))
    output = tmp_path / "raw.nc"
    words = f"simulate protein {options} --samples {tmp_path / 'copy'} --align raw -o {output}"
    assert run_command([*words.split(), "--train", "2"]) == 0
    assert files.read(output).systems == 5
    assert files.read(tmp_path / "raw-replicas.nc").systems == 6
    assert "6 systems" in capsys.readouterr().out


def test_without_openmm_the_error_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openmm", None)
    with pytest.raises(InputError, match=r'pip install "pgode\[md\]"'):
        simulate_samples(SOURCE, SMALL, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_jump_by_box_vectors_is_undone():
    box = np.array([[3.0, 0, 0], [1.0, 2.8, 0], [1.0, 0.9, 2.5]])
    before = np.random.default_rng(0).normal(size=(5, 3))
    moved = before + 0.1
    for jump in ([0, 0, 0], [1, 0, 0], [-1, 1, 0], [2, -1, 1]):
        np.testing.assert_allclose(unjumped(moved + np.array(jump) @ box, before, box), moved)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"train": 0, "val": 0, "test": 0, "ood": 0}, "nothing to simulate"),
        ({"frames": 1}, "frames is 1"),
        ({"frame_time": 0.0}, "frame_time is 0.0"),
        ({"seed": -1}, "seed is -1"),
        ({"frame_time": 0.05}, "frame_time is 0.05 ps.*Use 0.048"),
        ({"equilibrate": -1.0}, "equilibrate is -1.0"),
        ({"replicas": 1, "condition": 12, "frames": 12}, "replicas part after 12 frames"),
        ({"replicas": 1, "condition": 2, "horizon": 9}, "at least two futures"),
    ],
)
def test_settings_that_make_no_data_set_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        replace(SMALL, **change)
