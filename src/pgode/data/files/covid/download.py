"""Fetching the daily reports over HTTPS into a folder; a later call resumes."""

import urllib.error
import urllib.request
from collections.abc import Callable
from datetime import date
from http.client import HTTPException
from pathlib import Path

from pgode.data.files.covid.reports import days_until, report_name
from pgode.runtime.errors import InputError
from pgode.runtime.files import write_bytes

ADDRESS = (
    "https://raw.githubusercontent.com/CSSEGISandData/COVID-19/master/"
    "csse_covid_19_data/csse_covid_19_daily_reports_us"
)
"""The public folder of daily reports of US states."""
TIMEOUT = 30.0
"""Seconds without an answer after which a download fails."""


def download(
    folder: Path, until: date, address: str = ADDRESS, on_file: Callable[[str], None] | None = None
) -> Path:
    """Fetch the reports that the folder lacks; returns the folder.

    A file is complete or absent, so an interrupted download continues where it stopped.
    """
    if not address.startswith(("https://", "http://")):
        raise InputError(
            f'cannot fetch reports from "{address}". Expected an address that begins with '
            f"https://. Correct --address, or give a folder with --source."
        )
    for day in days_until(until):
        target = folder / report_name(day)
        if not target.exists():
            write_bytes(target, _fetched(f"{address.rstrip('/')}/{target.name}", folder))
        if on_file is not None:
            on_file(target.name)
    return folder


def _fetched(address: str, folder: Path) -> bytes:
    try:
        with urllib.request.urlopen(address, timeout=TIMEOUT) as answer:
            content: bytes = answer.read()
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        code = f"{error.code} " if isinstance(error, urllib.error.HTTPError) else ""
        raise InputError(
            f"cannot fetch {address}: {code}{reason}. Expected one report per day there. Files "
            f"that were fetched are in {folder}, and the same command continues from them; or "
            f"copy the reports from another machine and give their folder with --source."
        ) from None
    return content
