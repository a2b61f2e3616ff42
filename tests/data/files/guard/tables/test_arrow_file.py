"""Arrow files and Parquet pages that unpack to, or claim, far more than their size are refused."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pgode.data.files.guard.tables.parquet import check_parquet
from pgode.data.files.table import read_frame
from pgode.runtime.errors import InputError

arrow = pytest.importorskip("pyarrow")
from pyarrow import feather, ipc, parquet  # noqa: E402

ROWS = 200_000


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgode.data.files.guard.claims.FREE", 2**20)
    monkeypatch.setattr("pgode.data.files.guard.tables.parquet.FREE", 2**20)
    monkeypatch.setattr("pgode.data.files.guard.tables.parquet.BATCH", 2**15)


def _write(path: Path, table: Any, **options: Any) -> Path:
    with ipc.new_file(path, table.schema, options=ipc.IpcWriteOptions(**options)) as file:
        file.write_table(table)
    return path


def _varint(number: int, length: int = 0) -> bytes:
    """A number in the compact protocol, filled up to a length."""
    groups = [number & 127]
    while (number := number >> 7) or len(groups) < length:
        groups.append(number & 127)
    return bytes([*(group | 128 for group in groups[:-1]), groups[-1]])


def _views(count: int, length: int) -> Any:
    """A column of texts that all are the same bytes."""
    buffers = [struct.pack("<i4sii", length, b"xxxx", 0, 0) * count, b"x" * length]
    return arrow.Array.from_buffers(
        arrow.string_view(), count, [None, *map(arrow.py_buffer, buffers)]
    )


def _refused(path: Path, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        read_frame(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_packed_zeros_are_refused_by_their_unpacked_size(tmp_path: Path) -> None:
    path = _write(
        tmp_path / "zeros.feather", arrow.table({"x": np.zeros(ROWS)}), compression="zstd"
    )
    _refused(path, r"would hold 1\.6 MB, but takes .* on disk")


def test_the_sizes_of_all_parts_are_added(tmp_path: Path) -> None:
    path, batch = tmp_path / "parts.arrow", arrow.record_batch({"x": np.zeros(50_000)})
    options = ipc.IpcWriteOptions(compression="zstd")
    with ipc.new_file(path, batch.schema, options=options) as file:
        for _ in range(2):
            file.write_batch(batch)
    assert len(read_frame(path)) == 100_000
    with ipc.new_file(path, batch.schema, options=options) as file:
        for _ in range(100):
            file.write_batch(batch)
    _refused(path, r"would hold .* MB")


@pytest.mark.parametrize(
    "column",
    [
        pytest.param(lambda: arrow.nulls(ROWS), id="nulls, which have no buffers"),
        pytest.param(lambda: _views(1000, 3000), id="views of one text"),
        pytest.param(lambda: arrow.array(np.zeros(ROWS, int)).dictionary_encode(), id="categories"),
        pytest.param(
            lambda: arrow.StructArray.from_arrays([arrow.nulls(20_000)] * 2, ["a", "b"]),
            id="objects of Python",
        ),
    ],
)
def test_columns_that_stand_for_far_more_than_they_take_are_refused(
    tmp_path: Path, column: Any
) -> None:
    table = arrow.table({"x": column()})
    _refused(_write(tmp_path / "bomb.arrow", table, compression="zstd"), "would hold")


def test_a_header_that_claims_petabytes_is_refused(tmp_path: Path) -> None:
    table = arrow.table({"x": np.zeros(1000)})
    path = _write(tmp_path / "claims.arrow", table, compression="zstd")
    content = path.read_bytes()
    place = content.index(struct.pack("<q", 8000))
    path.write_bytes(content[:place] + struct.pack("<q", 10**15) + content[place + 8 :])
    _refused(path, "would hold 1 PB")


def test_a_number_of_rows_beyond_the_buffers_is_refused(tmp_path: Path) -> None:
    """The library would read outside of its memory."""
    path = _write(tmp_path / "short.arrow", arrow.table({"x": np.zeros(1001)}))
    content = path.read_bytes()
    assert content.count(struct.pack("<q", 1001)) == 2  # Those of the rows and of the column.
    path.write_bytes(content.replace(struct.pack("<q", 1001), struct.pack("<q", 9001)))
    _refused(path, "damaged")


@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.9, 0.999])
def test_a_cut_arrow_file_is_damaged(tmp_path: Path, share: float) -> None:
    path = _write(tmp_path / "cut.arrow", arrow.table({"x": np.zeros(1000)}))
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    _refused(path, "it is damaged, incomplete, or not .arrow data")


@pytest.mark.parametrize("packing", ["uncompressed", "lz4", "zstd"])
def test_what_fits_is_read_as_it_is(tmp_path: Path, packing: str) -> None:
    values = np.random.default_rng(0).normal(size=2000)
    names = arrow.array(["a", "b"] * 1000)
    table = arrow.table(
        {
            "object": names.dictionary_encode(),
            "x": values,
            "note": names,
            "none": arrow.nulls(2000),
            "list": [[1, 2]] * 2000,
        }
    )
    feather.write_feather(table, tmp_path / "good.feather", compression=packing, chunksize=700)
    frame = read_frame(tmp_path / "good.feather")
    assert frame["x"].tolist() == values.tolist()
    assert frame["object"].tolist() == frame["note"].tolist() == ["a", "b"] * 1000
    _write(tmp_path / "views.arrow", arrow.table({"x": _views(3, 20)}))
    assert read_frame(tmp_path / "views.arrow")["x"].tolist() == ["x" * 20] * 3


def test_an_arrow_table_beyond_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _write(tmp_path / "x.arrow", arrow.table({"x": np.zeros(50_000)}), compression="lz4")
    monkeypatch.setenv("PGODE_MEMORY", "700KB")
    _refused(path, "the table .* needs about 800 kB of memory, but 700 kB are free")


def test_pages_count_and_not_what_the_end_of_a_parquet_file_says_of_them(tmp_path: Path) -> None:
    path = tmp_path / "lie.parquet"
    table = arrow.table({"x": np.zeros(ROWS)})
    options = {"use_dictionary": False, "write_statistics": False, "store_schema": False}
    parquet.write_table(table, path, compression="zstd", data_page_size=2**30, **options)
    content = path.read_bytes()
    found = parquet.ParquetFile(path).metadata
    group = found.row_group(0)
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    end = content[start:]
    for size in {ROWS, group.total_byte_size, group.column(0).total_uncompressed_size}:
        code = _varint(2 * size)
        end = end.replace(code, _varint(2 * 100, len(code)))
    path.write_bytes(content[:start] + end)
    assert parquet.ParquetFile(path).metadata.num_rows == 100
    _refused(path, r"would hold 1\.6 MB")


def test_texts_that_share_prefixes_are_counted_in_full(tmp_path: Path) -> None:
    path, start = tmp_path / "prefixes.parquet", "x" * 10_000
    encoding = {"use_dictionary": False, "column_encoding": {"x": "DELTA_BYTE_ARRAY"}}
    parquet.write_table(arrow.table({"x": [f"{start}{k}" for k in range(500)]}), path, **encoding)
    _refused(path, "would hold")
    texts = [f"run {k}" for k in range(2000)]
    parquet.write_table(arrow.table({"x": texts}), path, **encoding)
    assert read_frame(path)["x"].tolist() == texts


def test_texts_in_lists_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "lists.parquet"
    parquet.write_table(arrow.table({"x": [["x" * 3000]] * 5000}), path)
    _refused(path, "would hold 15")


NUMBERED = [f"text {k}" for k in range(20_000)]
ENCODED = {"use_dictionary": False, "column_encoding": {"x": "DELTA_LENGTH_BYTE_ARRAY"}}


@pytest.mark.parametrize(
    "values, options",
    [
        (NUMBERED, {"use_dictionary": False}),
        (NUMBERED, ENCODED),
        (NUMBERED, {"row_group_size": 3000, "data_page_version": "2.0"}),
        (NUMBERED, {"dictionary_pagesize_limit": 10_000}),
        ([[text, "end"] for text in NUMBERED], {"row_group_size": 3000}),
        ([[text, "end"] for text in NUMBERED], {"dictionary_pagesize_limit": 10_000}),
        ([{"a": text, "b": 1} for text in NUMBERED], {"row_group_size": 3000}),
    ],
)
def test_texts_are_accepted_however_they_are_stored(
    tmp_path: Path, values: list[Any], options: dict[str, Any]
) -> None:
    path = tmp_path / "texts.parquet"
    parquet.write_table(arrow.table({"x": values}), path, **options)
    check_parquet(path)


def test_parts_without_rows_are_passed_over(tmp_path: Path) -> None:
    table = arrow.table({"x": np.arange(10), "name": ["a"] * 10})
    path = tmp_path / "parts.parquet"
    with parquet.ParquetWriter(path, table.schema) as writer:
        for part in (table, table.slice(0, 0), table):
            writer.write_table(part)
    assert len(read_frame(path)) == 20


def test_padding_in_the_end_of_an_arrow_file_says_nothing(tmp_path: Path) -> None:
    path = _write(tmp_path / "padded.arrow", arrow.table({"x": np.arange(5.0)}))
    content = path.read_bytes()
    length = int.from_bytes(content[-10:-6], "little")
    footer = bytearray(content[-10 - length : -10])
    # A block: where it starts (8 bytes), its description (4 and 4 of padding), its body (8).
    place = footer.find(struct.pack("<qi", *_first_block(path)))
    footer[place + 12 : place + 16] = b"\xff" * 4
    path.write_bytes(content[: -10 - length] + footer + content[-10:])
    assert read_frame(path)["x"].tolist() == [0, 1, 2, 3, 4]


def _first_block(path: Path) -> tuple[int, int]:
    """Where the first rows start, and the length of their description with its prefix."""
    with path.open("rb") as file:
        file.seek(8)
        schema = struct.unpack("<ii", file.read(8))[1]
        start = 16 + schema
        file.seek(start + 4)
        return start, 8 + struct.unpack("<i", file.read(4))[0]
