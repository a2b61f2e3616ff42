"""Data and forecasts of molecules, exported for other tools."""

import resource
import warnings
from pathlib import Path

import numpy as np
import pytest

mdtraj = pytest.importorskip("mdtraj")

from tests.data.files import molecular_dynamics as made  # noqa: E402
from tests.data.files.test_md import read  # noqa: E402

from pgode.data.files import md, md_export  # noqa: E402
from pgode.data.molecules import Preparation  # noqa: E402
from pgode.runtime.errors import InputError, WriteError  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Warning. The 'netCDF4'")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return made.save(tmp_path, "run.trr", boxed=False)


@pytest.mark.parametrize("ending", md_export.ENDINGS)
def test_what_is_read_and_written_is_what_mdtraj_finds(ending: str, tmp_path: Path) -> None:
    data = read(made.save(tmp_path, "run.trr"))
    output = tmp_path / "new" / f"out{ending}"
    assert md_export.write(data.dataset, None, output) == 24
    assert [path.name for path in output.parent.iterdir()] == [output.name]
    (tmp_path / "own.pdb").write_text(data.topology)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = mdtraj.load(str(output), top=str(tmp_path / "own.pdb"))
    moves = data.states.swapaxes(1, 2).reshape(-1, made.PEPTIDE, 3)
    np.testing.assert_allclose(found.xyz, moves, atol=1e-3)
    if ending in md.WITH_TIMES:
        np.testing.assert_allclose(found.time, data.times.ravel(), atol=1e-6)


def test_one_system_is_written_with_the_atoms_of_a_topology_that_has_water(tmp_path: Path) -> None:
    path = made.save(tmp_path, "run.trr")
    for choice in ("all", "heavy", "ca"):
        data = read(path, Preparation(choice))
        output = tmp_path / f"{choice}.pdb"
        assert md_export.write(data.dataset, tmp_path / "top.pdb", output, system=1) == 6
        found = mdtraj.load(str(output))
        np.testing.assert_allclose(found.xyz, data.states[1].swapaxes(0, 1), atol=1e-3)
        assert [atom.residue.resSeq for atom in found.topology.atoms][-1] == 7
    bare = data.dataset.drop_vars("topology")
    assert md_export.write(bare, tmp_path / "top.pdb", tmp_path / "bare.dcd") == 24


def test_more_systems_than_fit_are_written_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = read(made.save(tmp_path, "run.trr")).dataset
    all_of_them = md_export.PER_ATOM * data["times"].size * data.sizes["object"]
    monkeypatch.setenv("PGODE_MEMORY", f"{all_of_them // 2}")
    output = tmp_path / "out.dcd"
    with pytest.raises(InputError, match=r"4 systems .* needs about .* --system"):
        md_export.write(data, None, output)
    assert not output.exists()
    assert md_export.write(data, None, output, system=1) == 6


@pytest.mark.parametrize("ending", [".dcd", ".xtc", ".trr", ".nc"])
def test_a_full_disk_is_noticed_where_mdtraj_does_not(ending: str, tmp_path: Path) -> None:
    data = read(made.save(tmp_path, "run.trr")).dataset
    output = tmp_path / "new" / f"out{ending}"
    md_export.write(data, None, output)
    before = output.read_bytes()
    for limit in (len(before) - 1, len(before) * 3 // 4):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        try:
            with pytest.raises(WriteError, match="What was there before is unchanged"):
                md_export.write(data, None, output, overwrite=True)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        assert output.read_bytes() == before
        assert [path.name for path in output.parent.iterdir()] == [output.name]


def test_export_refuses_what_it_cannot_write(run: Path, tmp_path: Path) -> None:
    data = read(run).dataset
    out = tmp_path / "out.dcd"
    other = made.simulation(1).atom_slice(range(25))
    other.save(str(tmp_path / "other.pdb"))
    swapped = (tmp_path / "top.pdb").read_text().replace("  N   ALA", "  O9  ALA")
    (tmp_path / "swapped.pdb").write_text(swapped.replace("          N ", "          O "))
    missing = data.copy(deep=True)
    missing["states"][0, 3, 2, 1] = np.nan
    for options, message in [
        ({"system": 4}, "no system 4. Expected one from 0 to 3"),
        ({"sample": 0}, "no sample 0: it has none"),
        ({"topology": tmp_path / "other.pdb"}, r"has 30 atoms, but .* has 25, .*25 \(all\)"),
        ({"topology": tmp_path / "swapped.pdb"}, "atom 0 is ALA5-N in .* but ALA5-O9"),
        ({"data": data.drop_vars("topology")}, "does not say which atoms its 30 objects are"),
        ({"data": missing}, "system 0 of .* has no position of object 3 at time 0.4"),
        ({"data": data.isel(feature=[0, 1])}, "has 2 positions in units of nm"),
        ({"output": tmp_path / "out.csv"}, "ending .csv is not known"),
        ({"output": run / "out.dcd"}, "cannot write .*Not a directory"),
    ]:
        given = {"data": data, "topology": None, "output": out, **options}
        with pytest.raises(InputError, match=message):
            md_export.write(**given)
    assert not out.exists() and not [path for path in tmp_path.iterdir() if ".part" in path.name]
