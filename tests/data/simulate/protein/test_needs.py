"""Samples, replicas and water that memory cannot hold are refused before anything is simulated."""

from pathlib import Path

import pytest

from pgode.cli.app import run_command
from pgode.data.molecules import Preparation
from pgode.data.simulate.protein import ProteinSettings, Source, check_memory, from_sequence
from pgode.data.simulate.protein.peptide import peptide_pdb
from pgode.runtime.errors import InputError

PEPTIDE = from_sequence("AAAAAAAA")


def check(source: Source = PEPTIDE, atoms: str = "all", **options) -> None:
    settings = ProteinSettings(source.name, source.hash, **options)
    check_memory(source, settings, Preparation(atoms))  # type: ignore[arg-type]


def test_samples_and_frames_count_and_chosen_atoms_with_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = {"train": 1000, "val": 0, "test": 0, "ood": 0, "frames": 1000, "implicit": True}
    monkeypatch.setenv("PGODE_MEMORY", "4GB")
    with pytest.raises(InputError) as caught:
        check(**sizes)
    assert "simulating 1000 samples of AAAAAAAA with 1000 frames needs about" in str(caught.value)
    assert "GB of memory, but 4 GB are free" in str(caught.value)
    check(atoms="ca", **sizes)
    monkeypatch.setenv("PGODE_MEMORY", "500MB")
    with pytest.raises(InputError, match="needs about"):
        check(atoms="ca", **sizes)
    check(**{**sizes, "train": 10})


def test_replicas_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGODE_MEMORY", "4GB")
    check(implicit=True, replicas=2)
    with pytest.raises(InputError, match="simulating 100000 replicas of 20 samples of AAAAAAAA"):
        check(implicit=True, replicas=100_000)


def test_water_around_an_atom_far_away_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = peptide_pdb("AA").splitlines()
    last = max(k for k, line in enumerate(lines) if line.startswith("ATOM"))
    lines[last] = f"{lines[last][:30]}{9999.0:8.2f}{lines[last][38:]}"
    far = Source("far.pdb", "\n".join(lines) + "\n")
    monkeypatch.setenv("PGODE_MEMORY", "64GB")
    with pytest.raises(InputError, match=r"the water around far\.pdb, .* needs about .* TB"):
        check(far)
    check(far, implicit=True)
    check()


def test_the_command_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    line = "simulate protein --sequence AAA -o new.nc --train 1000000 --frames 1000000"
    assert run_command(line.split()) == 2
    assert "are free for this process" in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == []
