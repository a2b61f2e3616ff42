"""Files of motion capture and molecular dynamics: any change is read or refused with a sentence."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data.files.fuzz.mutation import attempt, changes

from pgode.data.files.mocap.bvh import read_bvh

SKELETON = """HIERARCHY
ROOT Hips
{
  OFFSET 0.0 0.0 0.0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Spine
  {
    OFFSET 0.0 5.0 0.0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0.0 3.0 0.0
    }
  }
}
MOTION
Frames: 3
Frame Time: 0.01
0 1 2 3 4 5 6 7 8
0 1 2 3 4 5 6 7 9
0 1 2 3 4 5 6 7 1
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@given(change=changes())
def test_a_changed_skeleton_is_read_or_refused(
    folder: Path, change: Callable[[bytes], bytes]
) -> None:
    path = folder / "changed.bvh"
    path.write_bytes(change(SKELETON.encode()))
    attempt(lambda: read_bvh(path))


@given(content=st.binary(max_size=200))
def test_any_bytes_are_no_skeleton(folder: Path, content: bytes) -> None:
    path = folder / "bytes.bvh"
    path.write_bytes(content)
    attempt(lambda: read_bvh(path))


@pytest.mark.parametrize("ending", [".xtc", ".trr", ".dcd", ".nc", ".gro", ".xyz", ".pdb"])
@given(change=changes())
def test_a_changed_trajectory_is_read_or_refused(
    folder: Path, ending: str, change: Callable[[bytes], bytes]
) -> None:
    pytest.importorskip("mdtraj")
    from tests.data.files.molecular_dynamics import save

    from pgode.data.files.md_files import quiet, read_frames, read_topology

    good, path = folder / f"good{ending}", folder / f"changed{ending}"
    if not good.exists():
        with quiet():
            save(folder, good.name, frames=3)
    topology = read_topology(folder / "top.pdb")
    path.write_bytes(change(good.read_bytes()))
    attempt(lambda: read_frames(path, topology, [0, 1, 2], 1, folder / "top.pdb"))


@given(change=changes())
def test_a_changed_topology_is_read_or_refused(
    folder: Path, change: Callable[[bytes], bytes]
) -> None:
    pytest.importorskip("mdtraj")
    from tests.data.files.molecular_dynamics import save

    from pgode.data.files.md_files import read_topology

    if not (folder / "top.pdb").exists():
        save(folder, "good.xtc", frames=3)
    path = folder / "changed.pdb"
    path.write_bytes(change((folder / "top.pdb").read_bytes()))
    attempt(lambda: read_topology(path))
