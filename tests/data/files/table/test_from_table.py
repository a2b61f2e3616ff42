"""Names, times, gaps, constants, inputs and transforms of a table arrive in the data."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import pgode
from pgode.data.files.table import TableRecipe, from_frame, read_frame, recipe_of
from pgode.data.trajectories import Trajectories


def cases(days: int = 20) -> pd.DataFrame:
    """Two states, one row a day."""
    rows = [
        (state, f"2020-04-{12 + day:02d}" if day < 19 else f"2020-05-{day - 18:02d}", day * scale)
        for day in range(days)
        for state, scale in (("Ohio", 1.0), ("Utah", 10.0))
    ]
    table = pd.DataFrame(rows, columns=["state", "date", "cases"])
    table["population"] = np.where(table["state"] == "Ohio", 11.7, 3.3)
    table["party"] = np.where(table["state"] == "Ohio", "red", "blue")
    return table


def recipe(data: Trajectories) -> TableRecipe:
    attrs = data.dataset.attrs
    found = recipe_of(attrs["generator"], attrs["generator_settings"])
    assert found is not None
    return found


def test_names_values_and_dates_are_those_of_the_table() -> None:
    data = pgode.from_table(cases(), object="state", features=["cases"], split_by="none")
    assert data.systems == 1 and data.time_units == "days"
    assert [data.object_label(0, k) for k in range(2)] == ["Ohio", "Utah"]
    assert [data.when(t) for t in data.times[0, [0, 19]]] == ["2020-04-12", "2020-05-01"]
    np.testing.assert_array_equal(data.states[0, 1, :, 0], 10.0 * np.arange(20))


def test_order_of_rows_does_not_matter() -> None:
    table = cases()
    straight = pgode.from_table(table, object="state", features=["cases"])
    mixed = table.iloc[[0, 1, *np.random.default_rng(0).permutation(np.arange(2, len(table)))]]
    assert pgode.from_table(mixed, object="state", features=["cases"]).hash == straight.hash


def test_absent_rows_empty_cells_and_missing_days_are_unobserved_frames() -> None:
    table = cases()
    table.loc[4, "cases"] = np.nan  # Ohio on day 2
    table = table.drop(index=[7, 10, 11])  # Utah on day 3, both on day 5
    data = pgode.from_table(table, object="state", features=["cases"], split_by="none")
    assert data.frames == 20
    np.testing.assert_array_equal(data.times[0], np.arange(20.0))
    missing = np.argwhere(~data.observed[0, :, :, 0]).tolist()
    assert missing == [[0, 2], [0, 5], [1, 3], [1, 5]]


def test_irregular_times_get_no_frames_in_between() -> None:
    times = [0.0, 0.13, 0.2, 0.91, 1.0]
    rows = [(name, t, t) for name in "ab" for t in times]
    data = pgode.from_table(
        pd.DataFrame(rows, columns=["id", "time", "x"]), split_by="none", time_units="s"
    )
    np.testing.assert_array_equal(data.times[0], times)
    assert data.observed.all() and recipe(data).step == 0


def test_rounded_times_are_regular_and_stay_as_they_are() -> None:
    times = [0.033, 0.067, 0.1, 0.167, 0.2]  # 30 frames a second, one of them lost
    rows = [(name, t, t) for name in "ab" for t in times]
    data = pgode.from_table(pd.DataFrame(rows, columns=["id", "time", "x"]), split_by="none")
    assert data.frames == 6
    np.testing.assert_allclose(data.times[0], [0.033, 0.067, 0.1, 0.1335, 0.167, 0.2])


def test_objects_enter_and_leave_within_a_system() -> None:
    rows = [("long", t, 1.0 * t) for t in range(10)] + [("late", t, 5.0) for t in range(4, 7)]
    data = pgode.from_table(pd.DataFrame(rows, columns=["id", "t", "x"]), split_by="none")
    assert data.present.all()
    assert np.flatnonzero(data.observed[0, 1, :, 0]).tolist() == [4, 5, 6]


@pytest.mark.parametrize(
    "spacing, unit, step",
    [("D", "days", 1), ("7D", "days", 7), ("6h", "hours", 6), ("5min", "minutes", 5)],
)
def test_unit_of_dates_follows_from_their_spacing(spacing: str, unit: str, step: int) -> None:
    days = pd.date_range("2021-02-27", periods=12, freq=spacing)
    rows = [(name, day, 1.0) for name in "ab" for day in days]
    data = pgode.from_table(pd.DataFrame(rows, columns=["id", "date", "x"]), split_by="none")
    assert data.time_units == unit and recipe(data).step == step
    assert data.when(data.times[0, 5]) == str(days[5].to_datetime64().astype("M8[s]")).removesuffix(
        "T00:00:00"
    )


@pytest.mark.parametrize(
    "texts, expected",
    [
        (["13/04/2020", "14/04/2020"], "2020-04-13"),
        (["04/13/2020", "04/14/2020"], "2020-04-13"),
        (["13.04.2020", "14.04.2020"], "2020-04-13"),
        ([20200413, 20200414], "2020-04-13"),
        (["2020-04-13T06:00Z", "2020-04-13T07:00Z"], "2020-04-13T06:00:00"),
        (["13 Apr 2020", "14 Apr 2020"], "2020-04-13"),
        (["01/02/2020", "02/03/2020", "13/03/2020"], "2020-02-01"),
    ],
)
def test_dates_that_can_be_read_in_one_way_are_read(texts: list[object], expected: str) -> None:
    rows = [(name, text, 1.0) for name in "ab" for text in texts]
    data = pgode.from_table(pd.DataFrame(rows, columns=["id", "date", "x"]), split_by="none")
    assert data.when(0.0) == expected


def test_constants_are_numbers_or_one_column_for_each_category() -> None:
    data = pgode.from_table(
        cases(), object="state", features=["cases"], static=["population", "party"]
    )
    assert data.constant_names == ("population", "party=blue", "party=red")
    np.testing.assert_array_equal(data.constants[0], [[11.7, 0, 1], [3.3, 1, 0]])
    assert recipe(data).categories == {"population": (), "party": ("blue", "red")}


def test_weekday_follows_from_dates_also_where_nothing_was_observed() -> None:
    table = cases().drop(index=[10, 11])
    data = pgode.from_table(
        table, object="state", features=["cases"], known=["weekday"], split_by="none"
    )
    assert data.input_names[0] == "weekday=Mon" and len(data.input_names) == 7
    sunday = data.inputs[0, :, :, 6]  # 2020-04-12 was one
    np.testing.assert_array_equal(np.flatnonzero(sunday[1]), [0, 7, 14])
    assert np.isfinite(data.inputs).all()


def test_known_column_of_all_objects_holds_where_a_row_is_absent() -> None:
    table = cases()
    table["closed"] = (table["date"] > "2020-04-20").astype(int)
    table["tests"] = np.arange(len(table))
    data = pgode.from_table(
        table.drop(index=[7]), object="state", features=["cases"], known=["closed", "tests"],
        split_by="none",
    )  # fmt: skip
    assert np.isfinite(data.inputs[..., 0]).all()
    assert np.argwhere(np.isnan(data.inputs[0, :, :, 1])).tolist() == [[1, 3]]


def test_transform_of_all_values_or_of_one() -> None:
    table = cases().assign(deaths=1.0)
    both = pgode.from_table(table, object="state", features=["cases", "deaths"], transform="log1p")
    assert both.transforms == ("log1p", "log1p")
    one = pgode.from_table(
        table, object="state", features=["cases", "deaths"], transform={"deaths": "sqrt"}
    )
    assert one.transforms == ("", "sqrt")


def test_every_kind_of_table_gives_the_same_data(tmp_path: Path) -> None:
    table = cases()
    options = {"object": "state", "features": ["cases"], "static": ["party"]}
    expected = pgode.from_table(table, **options).dataset  # type: ignore[arg-type]
    table.to_csv(tmp_path / "the table.csv", index=False)
    table.to_csv(tmp_path / "the table.csv.gz", index=False)
    parquet.write_table(pa.Table.from_pandas(table), tmp_path / "the table.parquet")
    feather.write_feather(table, str(tmp_path / "the table.feather"))
    frames = [pl.from_pandas(table), pl.from_pandas(table).lazy(), pa.Table.from_pandas(table)]
    for given in [*frames, *sorted(tmp_path.iterdir()), str(tmp_path / "the table.csv")]:
        found = pgode.from_table(given, **options).dataset  # type: ignore[arg-type]
        assert found.drop_vars("system_name").equals(expected.drop_vars("system_name"))


def test_without_pyarrow_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cases.parquet"
    path.write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(pgode.InputError, match=r"cases.parquet.*pip install .pgode\[tables\]"):
        read_frame(path)


def test_several_files_are_several_systems(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        cases(8).to_csv(tmp_path / f"{name}.csv", index=False)
    data = pgode.from_table(sorted(tmp_path.iterdir()), object="state", features=["cases"])
    assert [data.system_label(k) for k in range(3)] == ["one", "three", "two"]
    assert sorted(data.split.tolist()) == ["test", "train", "val"]


def test_several_files_without_a_header_are_systems_and_one_of_them_is_read_again(
    tmp_path: Path,
) -> None:
    lines = "".join(f"{f} {i} {f + i} {-i}\n" for f in range(9) for i in (1, 2))
    for name in ("zara", "eth", "hotel"):
        (tmp_path / f"{name}.txt").write_text(lines)
    paths = sorted(tmp_path.iterdir())
    data = pgode.from_table(paths, header=False, columns=["frame", "id", "x", "y"])
    assert [data.system_label(k) for k in range(3)] == ["eth", "hotel", "zara"]
    again = from_frame(
        read_frame(paths[0], header=False), recipe(data), "now.txt", forecasting=True
    )
    assert again.system_label(0) == "now" and again.features == ("x", "y")


def test_error_in_one_of_several_files_names_it(tmp_path: Path) -> None:
    cases(8).to_csv(tmp_path / "one.csv", index=False)
    wrong = cases(8).astype({"cases": str})
    wrong.loc[3, "cases"] = "many"
    wrong.to_csv(tmp_path / "two.csv", index=False)
    with pytest.raises(pgode.InputError, match=r'line 5 of .*two.csv has "many"'):
        pgode.from_table(sorted(tmp_path.iterdir()), object="state", features=["cases"])


def test_four_columns_without_a_header(tmp_path: Path) -> None:
    path = tmp_path / "walk.txt"
    path.write_text("".join(f"{10 * f}\t{i}\t{f + i}\t{-i}\n" for f in range(9) for i in (1, 2)))
    data = pgode.from_table(
        path, header=False, columns=["frame", "id", "x", "y"], delimiter="tab", velocities=True
    )
    assert data.features == ("x", "y", "vx", "vy")
    np.testing.assert_allclose(data.states[0, :, 1:, 2], 0.1)
    again = read_frame(path, "tab", header=False)
    assert from_frame(again, recipe(data), str(path), forecasting=True).frames == 9


def test_a_later_table_is_read_by_the_recipe_of_the_first() -> None:
    table = cases().assign(open=1.0)
    first = pgode.from_table(
        table, object="state", features=["cases"], static=["party"], known=["open"], window=3
    )
    later = cases(9).assign(open=0.0).astype({"cases": float})
    later.loc[14:, "cases"] = np.nan  # The inputs of the last two days are known, cases are not.
    later = later[later["state"] == "Utah"]
    data = from_frame(later, recipe(first), "now.csv", forecasting=True)
    assert data.systems == 1 and data.frames == 9 and data.system_label(0) == "now"
    assert np.flatnonzero(data.observed[0, 0, :, 0]).tolist() == list(range(7))
    np.testing.assert_array_equal(data.inputs[0, 0, :, 0], 0.0)
    assert data.constant_names == first.constant_names
    np.testing.assert_array_equal(data.constants[0], [[1, 0]])
    with pytest.raises(pgode.InputError, match=r'row 1 .*"green".*blue, red'):
        from_frame(later.assign(party="green"), recipe(first), "now.csv", forecasting=True)


def test_future_rows_are_left_out_of_training_data() -> None:
    table = cases().assign(open=1.0)
    table.loc[30:, "cases"] = np.nan
    data = pgode.from_table(
        table, object="state", features=["cases"], known=["open"], split_by="none"
    )
    assert data.frames == 15


def test_recipe_is_json_and_comes_back() -> None:
    chosen = TableRecipe(
        features=("x",), units={"x": "m"}, categories={"team": ("a", "b")}, shares=(1.0, 0.0, 0.0)
    )
    assert TableRecipe.from_json(chosen.to_json()) == chosen
    assert TableRecipe().to_json() == {}
    assert recipe_of("pgode simulate", "{}") is None
    with pytest.raises(pgode.InputError, match="windows"):
        TableRecipe.from_json({"windows": 3})
