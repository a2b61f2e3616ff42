"""The log of a run says the same in all its files."""

import csv
import json
import math
from pathlib import Path
from typing import Any

import pytest
from tests.trained_runs import trained

from pgode.runtime.errors import DamagedLogWarning, InputError
from pgode.training.metrics import MetricsLog, checked_metrics, read_metrics

ROW = {"epoch": 1, "train": {"mse": 0.25, "kl": 1e-9}, "val_mse": 0.5, "lr": 0.1, "seconds": 2.0}


def flat(row: dict[str, Any]) -> dict[str, float]:
    groups = {key: value for key, value in row.items() if isinstance(value, dict)}
    inner = {f"{group}_{k}": v for group, values in groups.items() for k, v in flat(values).items()}
    return {**{k: v for k, v in row.items() if k not in groups}, **inner}


def test_csv_and_json_lines_hold_the_same_numbers() -> None:
    run = trained()
    lines = (run.folder / "metrics.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    with (run.folder / "metrics.csv").open() as file:
        table = list(csv.DictReader(file))
    assert [row["epoch"] for row in rows] == [1, 2, 3]
    assert [{k: float(v) for k, v in row.items()} for row in table] == [flat(row) for row in rows]
    assert rows == run.epochs
    assert {"total", "mse", "reconstruction", "kl", "parameter_info", "context_info"} <= rows[0][
        "train"
    ].keys()


def test_tensorboard_holds_the_same_numbers() -> None:
    import tensorboard  # noqa: F401 - `make test` installs it; without it this test must fail
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    run = trained()
    events = EventAccumulator(str(run.folder / "tensorboard")).Reload()
    rows = [flat(row) for row in run.epochs]
    assert set(events.Tags()["scalars"]) == rows[0].keys() - {"epoch"}
    for name in rows[0].keys() - {"epoch"}:
        found = events.Scalars(name)
        assert [event.step for event in found] == [1, 2, 3]
        assert [event.value for event in found] == pytest.approx([row[name] for row in rows], 1e-6)


def test_a_log_works_without_tensorboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgode.training.metrics.find_spec", lambda name: None)
    log = MetricsLog(tmp_path)
    log.add(ROW)
    log.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["metrics.csv", "metrics.jsonl"]


def test_a_resumed_log_drops_the_rows_it_will_make_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgode.training.metrics.find_spec", lambda name: None)
    log = MetricsLog(tmp_path)
    for epoch in (1, 2, 3):
        log.add({**ROW, "epoch": epoch})
    again = MetricsLog(tmp_path)
    assert again.rows == log.rows
    again.rewind(1)
    again.add({**ROW, "epoch": 2, "lr": 0.7})
    assert [(row["epoch"], row["lr"]) for row in read_metrics(tmp_path)] == [(1, 0.1), (2, 0.7)]


def test_a_term_that_appears_later_gets_a_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgode.training.metrics.find_spec", lambda name: None)
    log = MetricsLog(tmp_path)
    log.add({**ROW, "train": {}})
    log.add({**ROW, "epoch": 2})
    with (tmp_path / "metrics.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["train_mse"] for row in rows] == ["", "0.25"]


def test_an_error_that_is_not_finite_is_null_in_the_file_and_infinite_when_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgode.training.metrics.find_spec", lambda name: None)
    MetricsLog(tmp_path).add({**ROW, "val_mse": math.inf})
    assert '"val_mse": null' in (tmp_path / "metrics.jsonl").read_text()
    assert read_metrics(tmp_path) == [{**ROW, "val_mse": math.inf}]


@pytest.mark.parametrize(
    "line, reason",
    [
        ('{"epoch": 2, "tra', "Unterminated string"),
        ("", "Expecting value"),
        ("[2, 0.5]", "it holds a list (2)"),
        ("null", "it holds null"),
        (json.dumps({**ROW, "lr": "fast"}), "the entry \"lr\" is 'fast'"),
        (json.dumps({"epoch": 2}), 'lacks the entry "train"'),
        (json.dumps({**ROW, "epoch": 2, "more": 1}), 'the unknown entry "more"'),
        (json.dumps({**ROW, "epoch": 2, "seconds": -1}), 'the entry "seconds" is -1'),
        (json.dumps(ROW), "is of epoch 1, after epoch 1"),
        ("\udcff", "UTF-8"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, line: str, reason: str) -> None:
    text = f"{json.dumps(ROW)}\n{line}\n{json.dumps({**ROW, 'epoch': 3})}\n"
    (tmp_path / "metrics.jsonl").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(InputError, match=r"line 2 of .*metrics\.jsonl") as raised:
        checked_metrics(tmp_path)
    assert reason in str(raised.value)
    with pytest.warns(DamagedLogWarning, match=r"the log .* is not used.*metrics\.jsonl"):
        assert read_metrics(tmp_path) == []


def test_a_log_that_cannot_be_read_is_put_aside_and_begun_anew(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text("{")
    with pytest.warns(DamagedLogWarning):
        log = MetricsLog(tmp_path)
    log.rewind(4)
    log.add({**ROW, "epoch": 5})
    log.add({**ROW, "epoch": 6})
    log.close()
    assert [row["epoch"] for row in read_metrics(tmp_path)] == [5, 6]
    assert (tmp_path / "metrics.damaged.jsonl").read_text() == "{"


def test_a_folder_without_a_log_has_no_rows(tmp_path: Path) -> None:
    assert read_metrics(tmp_path) == []
