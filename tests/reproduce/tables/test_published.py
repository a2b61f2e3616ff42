"""The paper's numbers: all of them, each once, and as printed."""

import dataclasses

import pytest

from pgode.data.schema import SPLITS
from pgode.models.registry import MODELS
from pgode.reproduce.tables.published import ROWS, Cell, published_tables

# Rows times columns, counted on the page. Table 4 holds no results.
SIZES = {
    "table1": 16 * 12,
    "table2": 16 * 12,
    "table3": 5 * 14,
    "table5": 8 * 12,
    "table6": 16 * 12,
    "table7": 16 * 12,
    "table8": 3 * 8,
    "table9": 3 * 12,
    "table10": 3 * 6,
    "table11": 5 * 6,
    "table12": 3 * 10,
    "table13": 4 * 12,
    "table14": 3 * 12,
    "table15": 2 * 9,
}
CELLS = [cell for table in published_tables().values() for cell in table.cells]


def test_tables_are_those_of_the_paper_in_its_order():
    assert list(published_tables()) == list(SIZES)
    for name, table in published_tables().items():
        assert name == table.name == f"table{table.number}"
        assert table.title


@pytest.mark.parametrize("name, size", SIZES.items())
def test_table_has_every_cell_once(name, size):
    cells = published_tables()[name].cells
    assert len(cells) == len({cell.key for cell in cells}) == size


@pytest.mark.parametrize(
    "name, key, value",
    [
        # The first and the last number of each table, and some between.
        ("table1", ("springs", "lstm", "", "test", 12, "q"), 0.287),
        ("table1", ("springs", "pgode", "", "test", 12, "q"), 0.035),
        ("table1", ("charged", "hope", "", "ood", 36, "q"), 10.953),
        ("table1", ("charged", "pgode", "", "ood", 36, "v"), 3.703),
        ("table2", ("5awl", "lstm", "", "test", 12, "qx"), 4.178),
        ("table2", ("5awl", "social-ode", "", "test", 24, "qy"), 3.951),
        ("table2", ("2n5c", "mpnode", "", "ood", 12, "qz"), 2.373),
        ("table2", ("2n5c", "pgode", "", "ood", 24, "qz"), 2.727),
        ("table3", ("springs", "pgode", "w/o O", "test", 24, "q"), 0.106),
        ("table3", ("springs", "pgode", "w/o system", "test", 24, "v"), 0.397),
        ("table3", ("charged", "pgode", "w/o F", "ood", 24, "q"), 2.882),
        ("table3", ("5awl", "pgode", "w/o D", "ood", 24, "qy"), 4.399),
        ("table3", ("5awl", "pgode", "", "ood", 24, "qz"), 3.615),
        ("table5", ("springs", "nri", "", "test", 12, "q"), 0.103),
        ("table5", ("springs", "agentformer", "", "ood", 36, "q"), 1.875),
        ("table5", ("charged", "i-gpode", "", "test", 24, "v"), 3.751),
        ("table5", ("charged", "pgode", "", "ood", 36, "v"), 3.703),
        ("table6", ("springs", "lstm", "", "test", 12, "qx"), 0.324),
        ("table6", ("springs", "gru", "", "ood", 24, "vx"), 1.795),
        ("table6", ("springs", "pgode", "", "ood", 36, "vy"), 1.313),
        ("table7", ("charged", "lstm", "", "test", 12, "qx"), 0.743),
        ("table7", ("charged", "node", "", "test", 36, "vy"), 4.089),
        ("table7", ("charged", "pgode", "", "ood", 36, "vy"), 3.389),
        ("table8", ("springs", "egnn", "", "test", 12, "qx"), 0.140),
        ("table8", ("charged", "eqmotion", "", "ood", 12, "qx"), 0.867),
        ("table8", ("charged", "pgode", "", "ood", 12, "qy"), 0.865),
        ("table9", ("springs-30", "social-ode", "", "test", 12, "q"), 0.152),
        ("table9", ("springs-30", "hope", "", "ood", 24, "v"), 1.840),
        ("table9", ("springs-30", "pgode", "", "ood", 36, "v"), 2.145),
        ("table10", ("covid", "mpnode", "", "test", 7, "mae"), 152.7),
        ("table10", ("covid", "hope", "", "test", 14, "rmse"), 275.2),
        ("table10", ("covid", "pgode", "", "test", 21, "rmse"), 325.4),
        ("table11", ("2n5c", "pgode", "w/o O", "test", 24, "qx"), 2.076),
        ("table11", ("2n5c", "pgode", "w/o system", "ood", 24, "qy"), 2.791),
        ("table11", ("2n5c", "pgode", "", "ood", 24, "qz"), 2.727),
        ("table12", ("springs", "pgode", "w. Single", "test", 24, "q"), 0.208),
        ("table12", ("5awl", "pgode", "w. MLP", "test", 24, "qx"), 2.997),
        ("table12", ("5awl", "pgode", "", "ood", 24, "qz"), 3.615),
        ("table13", ("springs", "social-ode", "", "test", 12, "q"), 0.069),
        ("table13", ("springs", "pgode", "", "ood", 36, "v"), 1.337),
        ("table13", ("springs", "pgode", "PGODE-S", "ood", 36, "v"), 1.411),
        ("table14", ("5awl", "pgode", "w. GIN", "test", 12, "qx"), 2.126),
        ("table14", ("5awl", "pgode", "w. GraphSAGE", "ood", 12, "qz"), 2.591),
        ("table14", ("5awl", "pgode", "w. GCN", "ood", 24, "qz"), 3.615),
        ("table15", ("springs", "lstm", "", None, None, "seconds"), 1.53),
        ("table15", ("springs", "i-gpode", "", None, None, "seconds"), 267.08),
        ("table15", ("charged", "hope", "", None, None, "seconds"), 20.43),
        ("table15", ("charged", "pgode", "", None, None, "seconds"), 33.88),
    ],
)
def test_value_is_the_one_on_the_page(name, key, value):
    assert published_tables()[name].value(*key) == value


def test_no_value_where_the_paper_has_none():
    table = published_tables()["table1"]
    assert table.value("springs", "pgode", "w/o O", "test", 12, "q") is None
    assert table.value("springs", "pgode", "", "test", 48, "q") is None


def test_cell_says_all_about_its_number():
    cell = published_tables()["table3"].cells[2 * 14 + 8]
    assert cell == Cell(
        dataset="5awl",
        row="PGODE w/o F",
        model="pgode",
        variant="w/o F",
        split="test",
        horizon=24,
        variable="qx",
        value=3.157,
        printed="3.157",
        scale=0.001,
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        cell.value = 0.0


def test_digits_are_those_of_the_page():
    table = published_tables()["table1"]
    assert [cell.printed for cell in table.cells[:3]] == ["0.287", "0.920", "0.659"]
    assert {cell.printed for cell in published_tables()["table10"].cells} >= {"272.0", "85.64"}
    assert all(float(cell.printed) == cell.value > 0 for cell in CELLS)


def test_scale_is_the_one_of_the_caption():
    scales = {"springs": 0.01, "charged": 0.01, "springs-30": 0.01, "5awl": 0.001, "2n5c": 0.001}
    for cell in CELLS:
        plain = cell.dataset == "covid" or cell.variable == "seconds"
        assert cell.scale == (1 if plain else scales[cell.dataset])


def test_every_row_is_a_registered_model_and_every_name_is_used():
    assert {cell.model for cell in CELLS} == {model for model, _ in ROWS.values()}
    assert {cell.model for cell in CELLS} <= set(MODELS)
    assert {cell.row for cell in CELLS} == set(ROWS)
    assert len(set(ROWS.values())) == len(ROWS)


def test_splits_are_those_of_our_data():
    assert {cell.split for cell in CELLS} == {"test", "ood", None}
    assert {"test", "ood"} <= set(SPLITS)


def test_number_that_stands_in_two_tables_is_the_same_in_both():
    seen: dict[tuple, float] = {}
    for cell in CELLS:
        assert seen.setdefault(cell.key, cell.value) == cell.value, cell


@pytest.mark.parametrize("dataset, coordinates", [("springs", "table6"), ("charged", "table7")])
def test_error_of_a_variable_is_the_mean_over_its_coordinates(dataset, coordinates):
    # Three numbers, each rounded to three digits.
    by_coordinate = published_tables()[coordinates]
    for cell in published_tables()["table1"].cells:
        if cell.dataset == dataset:
            x, y = (by_coordinate.value(*cell.key[:5], cell.variable + axis) for axis in "xy")
            assert (x + y) / 2 == pytest.approx(cell.value, abs=0.00101), cell


def test_gcn_is_the_model_of_the_main_table():
    main, kinds = published_tables()["table2"], published_tables()["table14"]
    for cell in kinds.cells:
        if cell.variant == "w. GCN":
            assert main.value("5awl", "pgode", "", *cell.key[3:]) == cell.value


PGODE_ROWS = {
    ("springs", "test"): (0.035, 0.124, 0.070, 0.262, 0.296, 1.326),
    ("springs", "ood"): (0.047, 0.138, 0.088, 0.291, 0.309, 1.337),
    ("charged", "test"): (0.578, 2.196, 2.037, 2.648, 4.804, 3.551),
    ("charged", "ood"): (0.802, 2.135, 2.584, 2.663, 5.703, 3.703),
}
"""PGODE's row of Table 1, typed a second time: q and v at 12, 24 and 36 frames."""


def test_pgodes_row_of_the_main_table_agrees_with_a_second_transcription():
    table = published_tables()["table1"]
    for (dataset, split), numbers in PGODE_ROWS.items():
        keys = [(h, v) for h in (12, 24, 36) for v in ("q", "v")]
        for (horizon, variable), number in zip(keys, numbers, strict=True):
            assert table.value(dataset, "pgode", "", split, horizon, variable) == number
