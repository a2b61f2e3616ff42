"""Tables that become more than memory can hold are refused before it is used."""

import numpy as np
import pandas as pd
import pytest

from pgode.data.files.table import from_table
from pgode.data.files.table.recipe import TableRecipe
from pgode.data.files.table.series.segments import segments
from pgode.runtime.errors import InputError


def _long(objects: int, frames: int, system: str = "a") -> pd.DataFrame:
    return pd.DataFrame(
        {
            "system": system,
            "object": np.repeat(np.arange(objects), frames),
            "time": np.tile(np.arange(float(frames)), objects),
            "x": 1.0,
        }
    )


def test_few_rows_that_span_a_large_grid_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """200 objects in one system and 5000 frames in the other are 2 x 200 x 5000 values."""
    table = pd.concat([_long(200, 2), _long(1, 5000, "b")])
    options = {"system": "system", "split_by": "none", "edges": "none"}
    monkeypatch.setenv("PGODE_MEMORY", "35MB")
    with pytest.raises(InputError) as caught:
        from_table(table, **options)
    assert (
        "the table, which becomes 2 systems of up to 200 objects and 5000 frames, needs about "
        "36 MB of memory, but 35 MB are free"
    ) in str(caught.value)
    assert "--window" in str(caught.value)
    monkeypatch.setenv("PGODE_MEMORY", "40MB")
    assert from_table(table, **options).states.shape == (2, 200, 5000, 1)


def test_windows_that_overlap_too_often_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """1001 windows of 1000 frames, of 2 objects."""
    monkeypatch.setenv("PGODE_MEMORY", "100MB")
    with pytest.raises(InputError, match=r"in 1001 windows needs about 106 MB of memory"):
        from_table(_long(2, 2000), window=1000, stride=1, split_by="none", edges="none")


def test_a_table_of_too_many_rows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGODE_MEMORY", "1MB")
    with pytest.raises(InputError, match=r"the table with 20000 rows, .* needs about 2\.16 MB"):
        from_table(_long(2, 10_000), edges="none")


def test_a_wide_table_of_too_many_cells_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pd.DataFrame(np.zeros((100, 300)), columns=[f"o{k}" for k in range(300)])
    table.insert(0, "time", np.arange(100.0))
    monkeypatch.setenv("PGODE_MEMORY", "1MB")
    with pytest.raises(InputError, match=r"with 30000 rows, .* needs about 4\.32 MB of memory"):
        from_table(table, wide=True, edges="none")


@pytest.mark.parametrize(
    "window, stride", [(0, 0), (7, 7), (7, 1), (7, 3), (10, 25), (50, 1), (2, 1)]
)
def test_rows_in_windows_are_counted_as_they_are_placed(window: int, stride: int) -> None:
    frames = np.array([50, 63, 5])
    recipe = TableRecipe(window=window, stride=stride, split_by="none")
    cut = segments(recipe, frames, ["a", "b", "c"], lambda _: [], "it", lambda _: None)
    random = np.random.default_rng(0)
    system = np.sort(random.integers(3, size=200))
    frame = (random.random(200) * frames[system]).astype(int)
    assert cut.count(system, frame) == len(cut.members(system, frame)[0])
