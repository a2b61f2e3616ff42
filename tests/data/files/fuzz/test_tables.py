"""Any bytes as a table, and any change of a real one: a table or a sentence."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data.files.fuzz.mutation import attempt, changes

from pgode.data.files.table import from_table, read_frame

TEXT = "object,time,x,y\n" + "".join(f"{k % 3},{k // 3},{k * 0.5},{-k}\n" for k in range(30))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".feather", ".csv.gz"])
@given(content=st.binary(max_size=200))
def test_any_bytes_are_a_table_or_refused(folder: Path, ending: str, content: bytes) -> None:
    path = folder / f"bytes{ending}"
    path.write_bytes(content)
    attempt(lambda: read_frame(path))


@given(text=st.text(max_size=200))
def test_any_text_is_a_table_or_refused(folder: Path, text: str) -> None:
    path = folder / "text.csv"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    attempt(lambda: from_table(path))


@pytest.mark.parametrize("packed", [False, True])
@given(change=changes())
def test_changed_text_becomes_trajectories_or_is_refused(
    folder: Path, packed: bool, change: Callable[[bytes], bytes]
) -> None:
    path = folder / ("changed.csv.gz" if packed else "changed.csv")
    content = TEXT.encode()
    path.write_bytes(change(gzip.compress(content, mtime=0) if packed else content))
    attempt(lambda: from_table(path))


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
@given(change=changes())
def test_a_changed_arrow_file_is_a_table_or_refused(
    folder: Path, ending: str, change: Callable[[bytes], bytes]
) -> None:
    pytest.importorskip("pyarrow")
    good = folder / f"good{ending}"
    if not good.exists():
        (folder / "good.csv").write_text(TEXT)
        frame = read_frame(folder / "good.csv").reset_index(drop=True)
        frame.attrs = {}
        frame.to_parquet(good) if ending == ".parquet" else frame.to_feather(good)
    path = folder / f"changed{ending}"
    path.write_bytes(change(good.read_bytes()))
    attempt(lambda: from_table(path))
