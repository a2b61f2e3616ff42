"""Downloading reports, from a server on this machine."""

import threading
from datetime import date, timedelta
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.covid_reports import write_reports

from pgode.cli.app import run_command
from pgode.data import files
from pgode.data.files.covid import download
from pgode.data.files.covid.reports import FIRST
from pgode.runtime.errors import InputError


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format, *args):
        self.server.asked.append(self.path)


@pytest.fixture
def server(tmp_path):
    """(address, folder behind it, paths asked for)."""
    folder = write_reports(tmp_path / "public", 70)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as served:
        served.asked = []
        thread = threading.Thread(target=served.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{served.server_port}", folder, served.asked
        served.shutdown()
        thread.join()


def test_a_download_continues_and_fetches_nothing_twice(server, tmp_path):
    address, public, asked = server
    until = FIRST + timedelta(days=9)
    missing = public / "04-17-2020.csv"
    content = missing.read_bytes()
    missing.unlink()
    with pytest.raises(InputError, match=r"04-17-2020.csv: 404 File not found.*--source"):
        download(tmp_path / "kept", until, address)
    assert len(list((tmp_path / "kept").iterdir())) == 5
    missing.write_bytes(content)
    asked.clear()
    download(tmp_path / "kept", until, address)
    assert len(asked) == 5
    assert (tmp_path / "kept" / missing.name).read_bytes() == content


def test_the_command_downloads_and_writes(server, tmp_path, capsys):
    address, _, asked = server
    out = tmp_path / "covid.nc"
    command = ["data", "covid", "-o", str(out), "--until", "2020-06-20", "--validation", "0"]
    assert run_command([*command, "--address", address]) == 0
    assert len(asked) == 70
    assert "50 states, 2020-04-12 to 2020-06-20" in " ".join(capsys.readouterr().out.split())
    assert files.read(out).frames == 70
    assert len(list((tmp_path / "covid.reports").iterdir())) == 70


def test_no_server_is_one_paragraph_that_suggests_a_folder(tmp_path):
    with pytest.raises(InputError, match=r"cannot fetch .*--source"):
        download(tmp_path / "kept", date(2020, 4, 13), "http://127.0.0.1:9")
    with pytest.raises(InputError, match="begins with https"):
        download(tmp_path / "kept", date(2020, 4, 13), "file:///etc")
