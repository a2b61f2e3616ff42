"""The rule for outputs: what may be replaced, and what never is."""

from pathlib import Path

import pytest
from tests.trained_runs import springs

from pgode.data import files
from pgode.runtime.errors import InputError
from pgode.runtime.outputs import claim_folder, claim_output, claim_outputs, run_around

KEPT = b"somebody's work"


def refusal(path: Path, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        claim_output(path, **options)  # type: ignore[arg-type]
    return str(caught.value)


def test_a_free_path_is_granted_and_nothing_is_created(tmp_path: Path) -> None:
    claim_output(tmp_path / "new" / "folder" / "out.nc", inputs=[tmp_path, "gone.nc", None])
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_needs_the_word(tmp_path: Path) -> None:
    out = tmp_path / "out.nc"
    out.write_bytes(KEPT)
    assert "it exists and is kept" in refusal(out)
    claim_output(out, overwrite=True)
    assert out.read_bytes() == KEPT


def test_a_hard_link_into_a_folder_that_is_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "reports" / "deep").mkdir(parents=True)
    (tmp_path / "reports" / "deep" / "day.csv").write_bytes(KEPT)
    out = tmp_path / "out.csv"
    out.hardlink_to(tmp_path / "reports" / "deep" / "day.csv")
    text = refusal(out, inputs=[tmp_path / "reports"], overwrite=True)
    assert "a hard link of day.csv" in text
    claim_output(out, inputs=[tmp_path / "gone"], overwrite=True)


def test_a_folder_that_holds_an_input_is_refused(tmp_path: Path) -> None:
    files.write(springs(), tmp_path / "data.zarr")
    (tmp_path / "data.zarr" / "table.csv").write_bytes(KEPT)
    given = tmp_path / "data.zarr" / "table.csv"
    text = refusal(tmp_path / "data.zarr", inputs=[given], overwrite=True, folder=True)
    assert "it holds" in text


@pytest.mark.parametrize("spoil", ["notes.txt", "states/notes.txt", "more/notes.txt"])
def test_a_store_is_replaced_only_with_nothing_else_in_it(tmp_path: Path, spoil: str) -> None:
    store = tmp_path / "data.zarr"
    files.write(springs(), store)
    claim_output(store, overwrite=True, folder=True)
    assert "it exists" in refusal(store, folder=True)
    (store / spoil).parent.mkdir(exist_ok=True)
    (store / spoil).write_bytes(KEPT)
    assert "is not of its data set" in refusal(store, overwrite=True, folder=True)


def test_nothing_is_written_into_a_store(tmp_path: Path) -> None:
    files.write(springs(), tmp_path / "data.zarr")
    for out in ("data.zarr/new.nc", "data.zarr/states/0.0.0.0", "data.zarr/states/new.json"):
        assert "a data set in the format zarr" in refusal(tmp_path / out, overwrite=True)
    with pytest.raises(InputError, match="zarr"):
        claim_folder(tmp_path / "data.zarr" / "run")


@pytest.mark.parametrize("held", ["config.json", "normaliser.json", "checkpoints/last.safetensors"])
def test_a_run_is_recognised_even_if_it_has_lost_a_file(tmp_path: Path, held: str) -> None:
    run = tmp_path / "run"
    for name in ("config.json", "normaliser.json", "checkpoints/last.safetensors", "mine.nc"):
        (run / name).parent.mkdir(parents=True, exist_ok=True)
        (run / name).write_bytes(KEPT)
    (run / held).unlink()
    assert run_around(run / "deep" / "er.nc") == run.resolve()
    assert run_around(run / "deep" / "er" / "still.nc") is None
    assert "a part of the run" in refusal(run / "mine.nc", overwrite=True)
    assert "a part of the run" in refusal(run / held, overwrite=True)
    claim_output(run / "new.nc")


def test_a_search_and_a_simulation_are_kept(tmp_path: Path) -> None:
    for name in ("tuning.json", "best.yaml"):
        (tmp_path / "search").mkdir(exist_ok=True)
        (tmp_path / "search" / name).write_bytes(KEPT)
        assert "a part of the search" in refusal(
            tmp_path / "search" / "tuning.json", overwrite=True
        )
    (tmp_path / "x.samples").mkdir()
    for name in ("settings.json", "structure.pdb", "train-0000.npz"):
        (tmp_path / "x.samples" / name).write_bytes(KEPT)
    text = refusal(tmp_path / "x.samples" / "train-0000.npz", overwrite=True)
    assert "a part of the simulation" in text


def test_two_outputs_of_one_command_are_two_files(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    one, other = tmp_path / "out.html", tmp_path / "sub" / ".." / "out.html"
    with pytest.raises(InputError, match="two outputs cannot both be written to"):
        claim_outputs([one, None, other])
    claim_outputs([one, None, tmp_path / "out.json"])


def test_a_folder_to_work_in_may_have_been_begun(tmp_path: Path) -> None:
    claim_folder(tmp_path / "new" / "run")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".lock").touch()
    claim_folder(tmp_path / "run")
    (tmp_path / "run" / "a.txt").write_bytes(KEPT)
    with pytest.raises(InputError, match=r"the folder holds a\.txt, which is kept"):
        claim_folder(tmp_path / "run")
    claim_folder(tmp_path / "run", begun=lambda folder: (folder / "a.txt").exists())


@pytest.mark.parametrize("name", ["a\0b.nc", "\ud800.nc", "x" * 400 + ".nc", "x" * 253 + ".nc"])
def test_a_name_that_no_file_can_have_is_refused_before_the_work(tmp_path: Path, name: str) -> None:
    assert "Expected a path where a file can be made" in refusal(tmp_path / name)


def test_python_functions_keep_existing_files_too(tmp_path: Path) -> None:
    for name in ("data.nc", "data.zarr"):
        files.write(springs(), tmp_path / name)
        with pytest.raises(InputError, match="overwrite=True"):
            files.write(springs(), tmp_path / name)
        files.write(springs().split_of("test"), tmp_path / name, overwrite=True)
        assert files.read(tmp_path / name).systems == 4
