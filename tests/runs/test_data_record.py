"""A run finds its data from any folder, after a move of both, and as it was stored before."""

import json
import shutil
from pathlib import Path

import pytest
from tests.small_systems import uneven
from tests.trained_runs import data_file, trained

from pgode.runs.data_record import DataRecord
from pgode.runs.folder import source_of, summary
from pgode.runtime.errors import InputError


@pytest.fixture
def placed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with data/springs.nc and runs/springs, trained with a path relative to it."""
    home = tmp_path / "home"
    (home / "data").mkdir(parents=True)
    shutil.copy(data_file(), home / "data/springs.nc")
    shutil.copytree(trained().folder, home / "runs/springs")
    (home / "runs/springs/manifest.json").unlink()
    monkeypatch.chdir(home)
    stored = json.loads(Path("runs/springs/data.json").read_text())
    record = DataRecord.of(uneven(), "data/springs.nc", Path("runs/springs"))
    Path("runs/springs/data.json").write_text(json.dumps({**stored, **record.to_json()}))
    return home


def test_here_the_path_is_as_it_was_given(placed: Path) -> None:
    assert source_of("runs/springs") == Path("data/springs.nc")


def test_from_another_folder_it_is_found_beside_the_run(
    placed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert source_of(placed / "runs/springs").samefile(placed / "data/springs.nc")


def test_both_may_be_moved_together(
    placed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    moved = placed.rename(tmp_path / "elsewhere")
    assert source_of(moved / "runs/springs").samefile(moved / "data/springs.nc")


def test_a_run_of_earlier_versions_is_found_from_where_it_was_trained(
    placed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = placed / "runs/springs/data.json"
    content = json.loads(file.read_text())
    del content["relative"], content["fewest_objects"]
    file.write_text(json.dumps(content))
    assert source_of("runs/springs") == Path("data/springs.nc")
    assert summary("runs/springs")["objects"] == "4 objects per system"
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"on data/springs\.nc, which no longer exists"):
        source_of(placed / "runs/springs")


def test_data_that_are_gone_are_an_error(placed: Path) -> None:
    Path("data/springs.nc").unlink()
    with pytest.raises(InputError, match="no longer exists"):
        source_of("runs/springs")


def test_the_record_knows_the_smallest_and_the_largest_system(placed: Path) -> None:
    assert summary("runs/springs")["objects"] == "1 to 4 objects per system"
