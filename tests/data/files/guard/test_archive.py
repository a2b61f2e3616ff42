"""Numpy archives whose headers claim what they do not hold."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tests.plain_trajectories import build

from pgode.data import files
from pgode.runtime.errors import InputError


def header(shape: object, dtype: str = "<f8", fortran: bool = False) -> bytes:
    text = f"{{'descr': '{dtype}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    raw = io.BytesIO()
    np.lib.format.write_array_header_1_0(raw, {"descr": "<f8", "fortran_order": False, "shape": ()})
    body = text.ljust(117).encode() + b"\n"
    return raw.getvalue()[:8] + len(body).to_bytes(2, "little") + body


def archive(path: Path, states: bytes, method: int = zipfile.ZIP_DEFLATED) -> Path:
    made = build()
    plain = {"times": made.times, "edges": np.zeros((made.systems, made.objects, made.objects))}
    np.savez(path, **plain)
    with zipfile.ZipFile(path, "a", method) as opened:
        opened.writestr("states.npy", states)
    return path


@pytest.mark.parametrize(
    "states, said",
    [
        (header("(1000000000000, 1000, 1000, 4)"), "claims 32000000000000000000 bytes"),
        (header("(-1, 4, 4, 4)"), "claims"),
        (header("(2, 2, 2, 2)") + bytes(8), "claims 128 bytes"),
        (header("(1, 1, 1, 1)", "|O") + bytes(8), "Python objects"),
        (header("(1000000000, 1, 1, 1)", "<U0"), "claims 0 bytes"),
        (b"no array", "damaged"),
        (b"", "damaged"),
    ],
)
def test_headers_are_compared_with_what_is_there(tmp_path: Path, states: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        files.read(archive(tmp_path / "data.npz", states))


def test_a_bomb_is_refused_by_what_it_unpacks_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgode.data.files.guard.claims.FREE", 2**22)
    path = tmp_path / "data.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as opened:
        block = bytes(2**20)
        with opened.open("states.npy", "w") as member:
            for _ in range(20):
                member.write(block)
    with pytest.raises(InputError, match="would hold 21 MB, but takes"):
        files.read(path)


def test_other_ways_of_packing_are_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "data.npz", header("(1, 1, 1, 1)") + bytes(8), zipfile.ZIP_BZIP2)
    with pytest.raises(InputError, match="packed in a way"):
        files.read(path)


def test_a_changed_name_or_length_in_the_index_leaves_no_array_out(tmp_path: Path) -> None:
    made = build()
    path = tmp_path / "data.npz"
    np.savez(
        path,
        states=made.states,
        times=made.times,
        edges=np.zeros((made.systems, made.objects, made.objects)),
        split=np.array(["test"] * made.systems),
        present=made.present,
    )
    content = path.read_bytes()
    index = content.rindex(b"split.npy")
    for place, byte in ((index + 2, 0), (index - 14, 60), (index - 16, 60)):
        changed = bytearray(content)
        changed[place] = byte
        path.write_bytes(bytes(changed))
        with pytest.raises(InputError, match="damaged"):
            files.read(path)


def test_arrays_in_the_order_of_fortran_are_read(tmp_path: Path) -> None:
    made = build()
    edges = np.zeros((made.systems, made.objects, made.objects))
    names = np.array(made.features)
    for order in "CF":
        states = np.asarray(made.states, order=order)
        path = tmp_path / f"{order}.npz"
        np.savez(path, states=states, times=made.times, edges=edges, feature_names=names)
    assert files.read(tmp_path / "F.npz").hash == files.read(tmp_path / "C.npz").hash
