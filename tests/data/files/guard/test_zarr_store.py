"""Zarr folders that lead elsewhere, would run code, or claim too much are refused."""

import json
import os
import zlib
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest
from tests.plain_trajectories import build

from pgode.data import files
from pgode.data.files.guard.zarr_chunks import PACKED, check_chunk
from pgode.runtime.errors import InputError


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.zarr"
    files.write(build(), path)
    return path


def change(path: Path, **entries: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | entries))


def test_links_out_of_the_folder_are_refused(data: Path) -> None:
    secret = data.with_name("secret")
    secret.write_bytes(b"secret")
    (data / "states" / "9.9.9.9").symlink_to(secret)
    with pytest.raises(InputError, match=r"9\.9\.9\.9 is a link"):
        files.read(data)


def test_a_fifo_among_the_chunks_is_refused(data: Path) -> None:
    chunk = data / "states" / "0.0.0.0"
    chunk.unlink()
    os.mkfifo(chunk)
    with pytest.raises(InputError, match="no regular file"):
        files.read(data)


@pytest.mark.parametrize(
    "entries, said",
    [
        ({"filters": [{"id": "pickle", "protocol": 5}]}, "the codec 'pickle'"),
        ({"compressor": {"id": "msgpack2"}}, "the codec 'msgpack2'"),
        ({"compressor": {"id": "https://x/codec"}}, "the codec 'https://x/codec'"),
        ({"compressor": "zlib"}, "not .zarr data|the codec"),
        ({"filters": [{"id": "delta", "dtype": "<U999999"}]}, "values of '<U999999'"),
        ({"shape": [2**20, 2**20, 2**20, 4]}, "would hold"),
        ({"chunks": [2**20, 2**20, 2**20, 4]}, "one chunk of it would hold"),
        ({"dtype": "<U9999999"}, "one chunk of it would hold"),
        ({"shape": "many"}, "its shape is 'many'"),
        ({"shape": [3.5, 1, 1, 1]}, "its shape is"),
    ],
)
def test_settings_that_run_code_or_claim_too_much_are_refused(
    data: Path, entries: dict[str, Any], said: str
) -> None:
    change(data / "states" / ".zarray", **entries)
    with pytest.raises(InputError, match=said):
        files.read(data)


def test_a_chunk_that_unpacks_to_too_much_is_refused_without_being_unpacked(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgode.data.files.guard.zarr_chunks.FREE", 2**20)
    packer = zlib.compressobj(9)
    block = bytes(2**20)
    packed = b"".join(packer.compress(block) for _ in range(20)) + packer.flush()
    (data / "states" / "0.0.0.0").write_bytes(packed)
    with pytest.raises(InputError, match="unpacks to"):
        files.read(data)


@pytest.mark.parametrize("name", PACKED)
def test_what_a_chunk_unpacks_to_is_known_before(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgode.data.files.guard.zarr_chunks.MOST", {})
    content = np.arange(5000).tobytes()
    path = tmp_path / "chunk"
    path.write_bytes(numcodecs.get_codec({"id": name}).encode(content))
    held = path.stat().st_size
    check_chunk(path, held, name, len(content))
    with pytest.raises(InputError, match=f"at most {len(content) - 1}"):
        check_chunk(path, held, name, len(content) - 1)


def test_metadata_beside_the_arrays_are_not_believed(data: Path) -> None:
    # Consolidated metadata repeat those of the arrays, and nothing keeps them the same.
    whole = json.loads((data / ".zmetadata").read_text())
    whole["metadata"]["states/.zarray"]["shape"] = [2**40, 1, 1, 1]
    (data / ".zmetadata").write_text(json.dumps(whole))
    assert files.read(data).hash == build().hash
