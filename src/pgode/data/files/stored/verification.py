"""The check of a data file, or a forecast: its form, and its content against its stored hash."""

from pathlib import Path
from typing import Any

import xarray as xr

from pgode.data import files
from pgode.data.files.stored import forecast_file
from pgode.runtime.errors import InputError
from pgode.runtime.stored.manifest import fingerprint
from pgode.runtime.stored.verification import FileCheck, State, Verification

NO_HASH = (
    "the file has no hash of its content, as files that pgode did not write: only its form was "
    "checked. Write it anew to get one: pgode.write(pgode.read(FILE), NEW) in Python."
)
NO_FORECAST_HASH = (
    "the forecast has no hash of its content, as those of earlier versions: only its form was "
    "checked. Forecast again to get one: pgode forecast."
)


def verify_data(path: Path | str) -> Verification:
    """Read a data file, validate it, and compare its content with its hash. Nothing is written."""
    place = Path(path)
    try:
        with forecast_file.opened(place) as forecast:
            if forecast is not None:
                return _verified_forecast(forecast, place, str(path))
    except InputError as error:  # Whatever it was meant to be.
        found = FileCheck(place.name, None, None, "wrong", str(error))
        return Verification(str(path), "data", (found,))
    notes: tuple[str, ...] = ()
    state: State = "as written"
    problem, size, digest = "", None, None
    try:
        data = files.read(place)
        digest = data.hash
        record = fingerprint(place) if place.is_file() else None
        size = record.size if record is not None else _folder_size(place)
        expected = stored_hash(place)
        if expected is None:
            state, notes = "form only", (NO_HASH,)
        elif expected != digest:
            raise InputError(
                f"the content of {path} is not what was written: its hash is {digest[:12]}..., the "
                f"one stored with it {expected[:12]}.... Expected the same. Copy the file again, "
                f"or make it anew."
            )
    except InputError as error:
        state, problem = "wrong", str(error)
    found = FileCheck(place.name, size, digest, state, problem)
    return Verification(str(path), "data", (found,), notes)


def _verified_forecast(forecast: xr.Dataset, place: Path, path: str) -> Verification:
    state: State = "as written"
    notes: tuple[str, ...] = ()
    digest, problem = None, ""
    try:
        digest = forecast_file.check(forecast, place)
        if digest is None:
            forecast_file.content_hash(forecast)  # Reads every value, which finds damaged ones.
            state, notes = "form only", (NO_FORECAST_HASH,)
    except InputError as error:
        state, problem = "wrong", str(error)
    found = FileCheck(place.name, place.stat().st_size, digest, state, problem)
    return Verification(path, "forecast", (found,), notes)


def stored_hash(path: Path) -> str | None:
    """The hash of the content that a file was written with; None if it has none."""
    if path.suffix.lower() == ".npz":
        return None
    options: dict[str, Any] = (
        {"engine": "zarr", "consolidated": False, "chunks": None}
        if path.is_dir()
        else {"engine": "h5netcdf"}
    )
    with xr.open_dataset(path, decode_times=False, cache=False, **options) as dataset:
        found = dataset.attrs.get("content_hash")
    return None if found is None else str(found)


def _folder_size(path: Path) -> int:
    return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
