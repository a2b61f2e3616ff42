"""Tables that unpack to, or claim, far more than their size are refused."""

import gzip
from pathlib import Path

import pytest

from pgode.data.files.table import read_frame
from pgode.runtime.errors import InputError


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgode.data.files.guard.claims.FREE", 2**20)
    monkeypatch.setattr("pgode.data.files.guard.tables.parquet.FREE", 2**20)
    monkeypatch.setattr("pgode.data.files.table.reading.delimited.UNPACKED", 2**20)


def test_packed_text_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"object,time,x\n" + b"0,0,0\n" * 2**19))
    with pytest.raises(InputError, match=r"unpacks to more than 1\.05 MB"):
        read_frame(path)


def test_a_line_without_an_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgode.data.files.table.reading.delimited.LINE", 2**21)
    path = tmp_path / "long.csv"
    path.write_bytes(b"object,time,x\n0,0,0\n" + b"1" * 2**22 + b"\n0,1,0\n")
    with pytest.raises(InputError, match="a line of more than 2 MB"):
        read_frame(path)
    path.write_bytes(b"object,time,x\n" + b"0,0,0\n" * 2**19)
    assert len(read_frame(path)) == 2**19


def test_a_table_beyond_memory_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGODE_MEMORY", "1MB")
    path = tmp_path / "large.csv"
    path.write_bytes(b"object,time,x\n" + b"0,0,0\n" * 2**17)
    with pytest.raises(InputError, match="needs about"):
        read_frame(path)


@pytest.mark.parametrize("kind", ["rows", "text"])
def test_a_parquet_file_of_one_repeated_value_is_refused(tmp_path: Path, kind: str) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "bomb.parquet"
    if kind == "rows":
        table = arrow.table({"x": arrow.array([1.0]).take(arrow.array([0] * 2**20))})
    else:
        table = arrow.table({"x": ["x" * 3000] * 5000})
    parquet.write_table(table, path)
    with pytest.raises(InputError, match="would hold"):
        read_frame(path)
