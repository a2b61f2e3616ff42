"""`pgode data covid` as a user runs it, with good and with bad input."""

import pytest
from tests.covid_reports import write_reports

from pgode.cli.app import run_command
from pgode.data import files


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    return write_reports(tmp_path_factory.mktemp("covid") / "reports", 110)


def command(reports, out, *more: str) -> list[str]:
    given = ["data", "covid", "-o", str(out), "--source", str(reports), "--until", "2020-07-30"]
    return [*given, *more]


def test_a_folder_becomes_a_data_set(reports, tmp_path, capsys):
    options = ("--average", "7", "--transform", "sqrt", "--features", "confirmed,deaths")
    out = tmp_path / "covid.nc"
    assert run_command(command(reports, out, *options, "--graph", "gravity")) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "50 states, 2020-04-12 to 2020-07-30, stretches of days: 1 train, 5 val, 0 test" in said
    data = files.read(out)
    assert data.features == ("confirmed", "deaths")
    assert data.dataset["feature_transform"].values.tolist() == ["sqrt", "sqrt"]
    assert run_command(["info", str(out)]) == 0


@pytest.mark.parametrize(
    "options, says",
    [
        (("--until", "2020-08-10"), "has no report 07-31-2020.csv (nor 10 others)"),
        (("--until", "soon"), '--until is "soon"'),
        (("--until", "2020-04-12"), "Expected a day after 2020-04-12"),
        (("--graph", "roads"), 'there is no graph "roads"'),
        (("--transform", "root"), 'there is no transform "root"'),
        (("--features", "confirmed"), "do not contain deaths"),
        (("--validation", "-1"), "--validation is -1"),
        (("--validation", "40"), "are left for training"),
        (("--address", "https://example.org"), "--source and --address were both given"),
    ],
)
def test_bad_options_are_one_paragraph_and_exit_code_2(reports, tmp_path, capsys, options, says):
    out = tmp_path / "covid.nc"
    given = command(reports, out)
    if options[0] == "--until":
        given = given[: given.index("--until")]
    assert run_command([*given, *options]) == 2
    assert says in " ".join(capsys.readouterr().err.split())
    assert not out.exists()


def test_an_output_that_cannot_be_written_is_refused_first(reports, tmp_path, capsys):
    assert run_command(command(reports, tmp_path / "covid.txt")) == 2
    assert "the ending .txt is not known" in " ".join(capsys.readouterr().err.split())
