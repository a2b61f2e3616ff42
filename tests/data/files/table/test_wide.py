"""Tables in wide form: rows are times, columns are objects."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pgode
from pgode.data.files.table import from_frame, recipe_of


def speeds(rows: int = 20) -> pd.DataFrame:
    values = np.arange(rows * 3, dtype=float).reshape(rows, 3)
    index = pd.date_range("2012-03-01", periods=rows, freq="5min", name="time")
    return pd.DataFrame(values, columns=["north", "east", "west"], index=index)


def test_columns_are_objects_and_rows_frames(tmp_path: Path) -> None:
    speeds().to_csv(tmp_path / "speed.csv")
    data = pgode.from_table(
        tmp_path / "speed.csv", wide=True, features=["speed"], split_by="none", known=["hour"]
    )
    assert data.features == ("speed",) and data.time_units == "minutes"
    assert [data.object_label(0, k) for k in range(3)] == ["north", "east", "west"]
    np.testing.assert_array_equal(data.states[0, :, :, 0], speeds().to_numpy().T)
    assert data.when(data.times[0, 1]) == "2012-03-01T00:05:00"
    frame = pgode.from_table(speeds(), wide=True, features=["speed"], split_by="none")
    np.testing.assert_array_equal(frame.states, data.states)


def test_several_files_are_several_features(tmp_path: Path) -> None:
    speeds().to_csv(tmp_path / "speed.csv")
    (speeds() * 2).to_csv(tmp_path / "flow.csv")
    paths = [tmp_path / "speed.csv", tmp_path / "flow.csv"]
    data = pgode.from_table(paths, wide=True, split_by="none")
    assert data.features == ("speed", "flow")
    np.testing.assert_array_equal(data.states[..., 1], 2 * data.states[..., 0])
    speeds(19).to_csv(tmp_path / "flow.csv")
    with pytest.raises(pgode.InputError, match="other times"):
        pgode.from_table(paths, wide=True)


def test_rows_are_counted_where_there_is_no_time(tmp_path: Path) -> None:
    speeds().to_csv(tmp_path / "speed.csv", index=False)
    data = pgode.from_table(tmp_path / "speed.csv", wide=True, split_by="none")
    assert data.objects == 3 and data.times[0].tolist() == list(range(20))


def test_empty_cells_are_missing(tmp_path: Path) -> None:
    table = speeds()
    table.iloc[4, 1] = np.nan
    table.drop(table.index[9]).to_csv(tmp_path / "speed.csv")
    data = pgode.from_table(tmp_path / "speed.csv", wide=True, split_by="none")
    missing = np.argwhere(~data.observed[0, :, :, 0]).tolist()
    assert missing == [[0, 9], [1, 4], [1, 9], [2, 9]]


def test_later_table_is_wide_or_long() -> None:
    first = pgode.from_table(speeds(), wide=True, features=["speed"])
    attrs = first.dataset.attrs
    recipe = recipe_of(attrs["generator"], attrs["generator_settings"])
    assert recipe is not None
    now = speeds(7).reset_index()
    wide = from_frame(now, recipe, "now", forecasting=True)
    long = now.melt(id_vars="time", var_name="object", value_name="speed")
    assert from_frame(long, recipe, "now", forecasting=True).hash == wide.hash
