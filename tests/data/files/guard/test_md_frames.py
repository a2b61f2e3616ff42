"""Files of molecular dynamics that lead elsewhere, or whose headers claim what is not there."""

import gzip
import struct
from pathlib import Path

import pytest

pytest.importorskip("mdtraj")

import h5py
from tests.data.files.molecular_dynamics import save

from pgode.data.files.guard.md_frames import BrokenError, extent_of
from pgode.data.files.md_files import check_trajectory, read_frames, read_topology
from pgode.runtime.errors import InputError

ATOMS = 42


@pytest.mark.parametrize("ending", [".xtc", ".trr", ".dcd"])
def test_atoms_and_frames_are_counted_as_mdtraj_counts_them(tmp_path: Path, ending: str) -> None:
    path = save(tmp_path, f"run{ending}", frames=3)
    assert extent_of(path) == (ATOMS, 3)
    assert read_topology(tmp_path / "top.pdb").n_atoms == ATOMS


@pytest.mark.parametrize(
    "ending, place, order",
    [(".xtc", 4, ">"), (".xtc", 52, ">"), (".xtc", 88, ">"), (".trr", 64, ">"), (".dcd", 268, "<")],
)
@pytest.mark.parametrize("value", [2**31 - 1, -1, -(2**31), 0])
def test_a_header_that_claims_billions_of_atoms_or_bytes_is_refused(
    tmp_path: Path, ending: str, place: int, order: str, value: int
) -> None:
    path = save(tmp_path, f"run{ending}", frames=3)
    content = bytearray(path.read_bytes())
    if ending != ".xtc" or place < 88:
        assert struct.unpack_from(f"{order}i", content, place) == (ATOMS,)
    struct.pack_into(f"{order}i", content, place, value)
    path.write_bytes(bytes(content))
    with pytest.raises(BrokenError):
        extent_of(path)
    topology = read_topology(tmp_path / "top.pdb")
    with pytest.raises(InputError, match="damaged, cut off"):
        read_frames(path, topology, [0], 1, tmp_path / "top.pdb")


def test_files_that_name_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "list.stk").write_text("/etc/passwd\n")
    with pytest.raises(InputError, match="name other files"):
        check_trajectory(tmp_path / "list.stk")
    with h5py.File(tmp_path / "run.h5", "w") as file:
        file["coordinates"] = h5py.ExternalLink("elsewhere.h5", "/coordinates")
    with pytest.raises(InputError, match="/coordinates is another file"):
        check_trajectory(tmp_path / "run.h5")


def test_a_packed_topology_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgode.data.files.guard.claims.FREE", 2**20)
    (tmp_path / "top.pdb.gz").write_bytes(gzip.compress(b"ATOM  \n" * 2**19))
    with pytest.raises(InputError, match="would hold"):
        read_topology(tmp_path / "top.pdb.gz")
