"""Observed systems for a forecast: tables, arrays and files say the same as trajectories do."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest
import torch
from tests.runs.exchange import clinics
from tests.trained_runs import CONDITION, springs, trained

from pgode.data import files
from pgode.data.trajectories import Trajectories
from pgode.runs.data_record import DataRecord
from pgode.runs.exchange.observed import of_splits
from pgode.runtime.errors import InputError


def matrices(data: Trajectories) -> np.ndarray:
    found = np.zeros((data.systems, data.objects, data.objects))
    e = data.edges
    found[e.graph_system[e.edge_graph], e.edge_receiver, e.edge_sender] = e.edge_attributes[:, 0]
    return found


@pytest.fixture(scope="module")
def expected() -> np.ndarray:
    return trained().forecast(springs(), samples=0).mean


def test_pandas_polars_and_arrow_tables_give_one_forecast() -> None:
    table = clinics.now()
    mean = clinics.run().forecast(table, samples=0).mean
    assert np.isfinite(mean).all() and mean.shape == (2, 3, clinics.HORIZON, 1)
    lazy = polars.from_pandas(table).lazy()
    for same in (lazy.collect(), lazy, pyarrow.Table.from_pandas(table)):
        np.testing.assert_array_equal(clinics.run().forecast(same, samples=0).mean, mean)
    shuffled = table.sample(frac=1, random_state=0).set_index("clinic")
    found = clinics.run().forecast(shuffled, samples=0).to_dataframe()
    key = ["Region", "clinic", "date"]
    first = clinics.run().forecast(table, samples=0).to_dataframe()
    merged = first.merge(found, on=key)
    assert len(merged) == len(first)
    np.testing.assert_allclose(merged["new cases_mean_x"], merged["new cases_mean_y"], rtol=1e-5)


def test_a_table_is_read_as_the_one_of_the_training() -> None:
    data = clinics.run().observed(clinics.now())
    assert data.features == ("new cases",) and data.transforms == ("log1p",)
    assert data.input_names == ("holiday",) and data.constant_names == ("beds",)
    assert data.constants[0, :, 0].tolist() == [100, 200, 300]
    assert data.frames == 10 and not data.observed[:, :, clinics.CONDITION :].any()
    assert np.isfinite(data.inputs).all()
    assert data.when(data.times[0, 0]) == "2020-03-01"


def test_rows_with_inputs_and_without_states_are_the_days_to_forecast() -> None:
    assert clinics.run().forecast(clinics.now(ahead=2), samples=0).mean.shape[2] == 2
    assert clinics.run().forecast(clinics.now(ahead=7), samples=0).mean.shape[2] == 7
    assert clinics.run().forecast(clinics.now(ahead=7), samples=0, until=3).mean.shape[2] == 3
    with pytest.raises(InputError, match='the input "holiday" of Bad Ölz of Süd Tirol is not'):
        clinics.run().forecast(clinics.now(ahead=2), until=3)
    with pytest.raises(InputError, match="not known at 2020-03-07, which is to be forecast"):
        clinics.run().forecast(clinics.now(ahead=0))


def test_objects_that_the_run_has_not_seen_are_forecast() -> None:
    table = clinics.now()
    more = table[table["clinic"] == clinics.CLINICS[0]].assign(clinic="Neu-Ulm")
    found = clinics.run().forecast(pd.concat([table, more]), samples=0).to_dataframe()
    assert found["clinic"].nunique() == 4 and np.isfinite(found["new cases_mean"]).all()


def test_objects_that_have_left_are_not_forecast_and_earlier_rows_do_not_matter() -> None:
    table, gone = clinics.now(days=12), clinics.CLINICS[1]
    left = (table["clinic"] == gone) & (table["date"] > "2020-03-04")  # The condition's first is 5.
    notes: list[str] = []
    data = clinics.run().observed(table[~left], "now.csv", notes.append)
    assert data.n_objects.tolist() == [2, 2] and data.frames == clinics.CONDITION + 4
    expected = f"last 6 frames of now.csv: 1 object ({gone})"
    assert len(notes) == 1 and notes[0].endswith(expected)
    late = table[~left & (table["clinic"] != gone) & (table["date"] > "2020-03-04")]
    mean = clinics.run().forecast(late, samples=0).mean
    np.testing.assert_allclose(clinics.run().forecast(data, samples=0).mean, mean, rtol=1e-5)
    left &= table["date"] > "2020-03-05"  # It was seen in the first frame of the condition.
    assert clinics.run().observed(table[~left], "now.csv", notes.append).objects == 3
    assert len(notes) == 1


def test_a_gap_does_not_shorten_the_condition() -> None:
    table = clinics.now(days=12)
    gap = table["date"].isin(["2020-03-05", "2020-03-04"])  # The first frame, and the one before.
    data = clinics.run().observed(table[~gap])
    assert data.when(data.times[0, 0]) == "2020-03-03"
    assert np.diff(data.times[0]).tolist() == [1] * (data.frames - 1)
    assert not data.observed[:, :, 1:3].any() and data.observed[:, :, [0, 3]].all()
    assert np.isfinite(clinics.run().forecast(data, samples=0).mean).all()


def test_a_system_whose_objects_are_all_new_keeps_its_earlier_frames() -> None:
    table = clinics.now(days=12)
    old, new = table[table["date"] < "2020-03-05"], table[table["date"] >= "2020-03-07"]
    both = pd.concat([old, new.assign(clinic=new["clinic"] + " II")])
    data = clinics.run().observed(both)
    assert data.n_objects.tolist() == [3, 3] and data.frames == 1 + clinics.CONDITION + 4
    assert data.observed.any((0, 1, 3)).tolist() == [False] * 3 + [True] * 4 + [False] * 4
    names = clinics.run().forecast(both, samples=0).to_dataframe()["clinic"]
    assert sorted(set(names)) == sorted(f"{clinic} II" for clinic in clinics.CLINICS)


def test_a_constant_may_stand_in_the_first_row_of_an_object_alone() -> None:
    table = clinics.now(days=12)
    first = table["date"] == "2020-02-28"
    data = clinics.run().observed(table.assign(beds=table["beds"].where(first)))
    assert data.constants[1, :, 0].tolist() == [100, 200, 300]


def test_a_system_without_any_state_is_refused() -> None:
    table = clinics.now()
    table.loc[table["Region"] == clinics.REGIONS[1], "new cases"] = np.nan
    with pytest.raises(InputError, match="Øst 2 in the given data has no observed value"):
        clinics.run().forecast(table)
    with pytest.raises(InputError, match="the given data has no rows"):
        clinics.run().forecast(table.iloc[:0])


def test_arrays_give_the_forecast_of_their_trajectories(expected: np.ndarray) -> None:
    data = springs()
    arrays = {"states": data.states, "edges": matrices(data)}
    for given in (
        arrays,
        {**arrays, "times": data.times, "split": data.split},
        {"states": torch.from_numpy(data.states).requires_grad_(), "edges": data.edges},
    ):
        found = trained().forecast(given, samples=0)
        np.testing.assert_allclose(found.mean, expected, atol=2e-5)
    single = trained().forecast({"states": data.states[4], "edges": matrices(data)[4]}, samples=0)
    np.testing.assert_allclose(single.mean, expected[4:5], atol=2e-5)


def test_nan_states_are_missing_values() -> None:
    states = springs().states.copy()
    states[0, 1, -2] = np.nan
    found = trained().observed({"states": states, "edges": matrices(springs())})
    assert not found.observed[0, 1, -2].any() and found.observed.sum() == states.size - 4
    assert trained().normaliser.roles == tuple(found.dataset["feature_role"].values)


def test_states_alone_are_joined_in_all_pairs_where_training_was() -> None:
    run = clinics.run()
    assert run.data.all_pairs and not trained().data.all_pairs
    assert DataRecord.from_json(run.data.to_json()) == run.data
    old = {k: v for k, v in run.data.to_json().items() if k != "all_pairs"}
    assert DataRecord.from_json(old).all_pairs is False
    states = np.random.default_rng(0).uniform(20, 40, (3, 9, 1))
    inputs = np.zeros((3, 9 + 2, 1))
    padded = np.concatenate([states, np.full((3, 2, 1), np.nan)], axis=1)
    found = run.observed({"states": padded, "inputs": inputs})
    assert found.edges.edge_graph.size == 6 and found.systems == 1
    assert run.forecast({"states": padded, "inputs": inputs}, samples=0).mean.shape == (1, 3, 2, 1)


def test_paths_datasets_and_trajectories_are_taken_too(
    expected: np.ndarray, tmp_path: Path
) -> None:
    files.write(springs(), tmp_path / "s.nc")
    for given in (tmp_path / "s.nc", str(tmp_path / "s.nc"), springs().dataset):
        np.testing.assert_array_equal(trained().forecast(given, samples=0).mean, expected)
    clinics.now().to_csv(tmp_path / "now.csv", index=False)
    from_file = clinics.run().forecast(tmp_path / "now.csv", samples=0)
    from_table = clinics.run().forecast(clinics.now(), samples=0)
    np.testing.assert_array_equal(from_file.mean, from_table.mean)


WRONG: list[tuple[Any, str]] = [
    (3.5, "cannot forecast a float. Expected Trajectories, a pandas"),
    (
        {"stats": np.zeros((1, 3, 9, 4))},
        'no array in the given data "stats".*Did you mean "states"',
    ),
    ({"edges": np.zeros((1, 3, 3))}, 'has no array "states"'),
    (np.zeros((9, 4)), r"states in the given data is float64 of shape \(9, 4\)"),
    (np.array([[["a"]]]), "Expected numbers"),
    ([[1.0, 2.0], [3.0]], "states in the given data is no array"),
    (np.zeros((1, 3, 9, 4)), "has no edges, and the run was not trained on graphs that join all"),
    ({"states": np.zeros((1, 3, 9, 2)), "edges": np.ones((1, 3, 3))}, "features"),
    (pd.DataFrame({"x": [1.0]}), "is a table, but the run was not trained on one.*import table"),
]


@pytest.mark.parametrize("given, says", WRONG, ids=lambda value: str(value)[:30])
def test_anything_else_is_refused_with_a_sentence(given: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        trained().forecast(given)


def test_a_system_that_is_too_short_is_named() -> None:
    says = "Süd Tirol in the given data has 3 frames, fewer than the condition of 6, up to its last"
    with pytest.raises(InputError, match=f"{says} observation at 2020-03-01.*rows at 6 times"):
        clinics.run().forecast(clinics.now(days=3))
    with pytest.raises(InputError, match="system 0 in the given data has 5 frames, fewer than the"):
        trained().forecast(springs().frames_between(0, CONDITION - 1))


def test_dates_do_not_turn_into_numbers() -> None:
    table = clinics.now()
    days = pd.to_datetime(table["date"])
    mean = clinics.run().forecast(table, samples=0).mean
    same = clinics.run().forecast(table.assign(date=days), samples=0).mean
    np.testing.assert_array_equal(same, mean)
    with pytest.raises(InputError, match='"date"'):
        clinics.run().forecast(table.assign(date=(days - days.min()).dt.days))


def test_splits_are_chosen_and_unknown_ones_refused() -> None:
    assert of_splits(springs(), (), "s.nc") is springs()
    assert set(of_splits(springs(), ("test", "ood"), "s.nc").split) == {"test", "ood"}
    assert of_splits(springs(), ("val",), "s.nc").systems == 4
    with pytest.raises(InputError, match=r'no system of s.nc is in the split "tset".*ood, test'):
        of_splits(springs(), ("tset",), "s.nc")
