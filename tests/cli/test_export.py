"""`pgode export` with what cannot be exported: one paragraph, exit code 2, no file."""

from pathlib import Path

import pytest
from tests.trained_runs import data_file, trained

from pgode.cli.app import BAD_INPUT, run_command


@pytest.mark.parametrize(
    "run, name, options, message",
    [
        ("springs-10", "model.onnx", (), "has force laws, which cannot be exported"),
        ("springs-10", "model.txt", (), "its ending names no format"),
        ("nowhere", "model.pt2", (), "nowhere does not exist"),
        ("", "model.pt2", ("--until", "0"), "cannot export with --until 0"),
        ("", "model.pt2", ("--condition", "500"), "no system of the data has 500 frames"),
        ("", "model.pt2", ("--data", "nowhere.nc"), "nowhere.nc"),
        ("", "folder/", (), "its ending names no format"),
    ],
)
def test_bad_input_is_one_paragraph_and_leaves_no_file(
    run: str,
    name: str,
    options: tuple[str, ...],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert data_file().exists()
    folder = run or str(trained().folder)
    code = run_command(["export", folder, "-o", str(tmp_path / name), *options])
    said = capsys.readouterr().err.strip()
    assert code == BAD_INPUT
    assert message in said
    assert len(said.splitlines()) == 1
    assert not list(tmp_path.iterdir())
