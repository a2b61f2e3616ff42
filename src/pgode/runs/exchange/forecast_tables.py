"""A forecast as a table: one row per system, object and time, with the names of the data."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float, Shaped

from pgode.data.labels.calendar import dates
from pgode.runtime.errors import InputError
from pgode.runtime.files import replacing
from pgode.runtime.outputs import claim_output

if TYPE_CHECKING:
    import pandas as pd

ENDINGS = (".csv", ".parquet")
"""Endings of the tables that are written."""
KEYS = ("system", "object", "time")
QUANTITIES = ("mean", "lower", "upper")
"""Columns of each feature, as far as the forecast has them."""


def is_table(path: Path) -> bool:
    """Whether a path has the ending of a table that can be written."""
    return path.suffix.lower() in ENDINGS


def check_table_output(path: Path) -> None:
    """Refuse a path that no table can be written to, before any forecast is made."""
    if not is_table(path):
        raise InputError(
            f"cannot write a table to {path}. Expected the name of a file that ends in "
            f"{' or '.join(ENDINGS)}. Change the output path."
        )
    if path.suffix.lower() == ".parquet" and find_spec("pyarrow") is None:
        raise InputError(
            f"cannot write {path}: Parquet needs the package pyarrow. Expected it to be installed. "
            f"Install it with pip install 'pgode[tables]', or write a table that ends in .csv."
        )


def check_samples(path: Path, samples: int | None) -> None:
    """Refuse samples for a table, which has none."""
    if samples and is_table(path):
        raise InputError(
            f"--samples {samples} was given, but the table {path} holds no samples. Expected 0 or "
            f"nothing. Leave --samples out, or write NetCDF: -o {path.with_suffix('.nc')}."
        )


def write_table(dataset: xr.Dataset, path: Path, *, overwrite: bool = False) -> None:
    """Write the table of a forecast as CSV or Parquet, in one step."""
    check_table_output(path)
    claim_output(path, overwrite=overwrite)
    write_frame(forecast_frame(dataset), path)


def write_frame(table: "pd.DataFrame", path: Path) -> None:
    """Write a frame as CSV or Parquet, as the ending of the path says, in one step."""
    with replacing(path) as temporary:
        if path.suffix.lower() == ".csv":
            table.to_csv(temporary, index=False)
        else:
            table.to_parquet(temporary, index=False, engine="pyarrow")


def forecast_frame(dataset: xr.Dataset) -> "pd.DataFrame":
    """The dataset of a forecast as a pandas frame.

    Systems, objects and times are called as in the table that the data came from, else "system",
    "object" and "time"; data of one system that came without a system column get none. Then
    follow mean, lower and upper end of each feature. Objects that are absent, or were not seen
    during the condition, have no rows.
    """
    import pandas as pd

    mean = dataset["mean"]
    systems, objects, times = (mean.sizes[dim] for dim in KEYS)
    rows = np.nonzero(np.broadcast_to(_listed(dataset)[:, :, None], (systems, objects, times)))
    system, item, time = rows
    titles = [str(dataset.attrs.get(f"{key}_column", key)) for key in KEYS]
    columns: dict[str, Any] = {}
    keys = (
        _identities(dataset, "system_name", systems)[system],
        _identities(dataset, "object_name", objects)[(system, item) if _named(dataset) else item],
        _clock(dataset)[system, time],
    )
    for key, title, values in zip(KEYS, titles, keys, strict=True):
        if title or key != "system" or systems > 1:
            columns[title or key] = values
    for k, feature in enumerate(dataset["feature"].values):
        for quantity in QUANTITIES:
            if quantity in dataset:
                _add(columns, f"{feature}_{quantity}", dataset[quantity].values[..., k][rows])
    return pd.DataFrame(columns)


def _add(columns: dict[str, Any], title: str, values: Shaped[np.ndarray, " row"]) -> None:
    if title in columns:
        raise InputError(
            f'two columns of the table of the forecast would be called "{title}". Expected '
            f"different names. Rename that column of the data and train again, or write NetCDF."
        )
    columns[title] = values


def _listed(dataset: xr.Dataset) -> Bool[np.ndarray, "system object"]:
    """Objects that are there and were seen: a forecast of one that has left means nothing."""
    return np.asarray(dataset["present"].values & dataset["seen"].values, dtype=bool)


def _named(dataset: xr.Dataset) -> bool:
    return "object_name" in dataset


def _identities(dataset: xr.Dataset, name: str, count: int) -> Shaped[np.ndarray, "..."]:
    """Names, or numbers from 0 on. Names that all are whole numbers become numbers.

    So a table with numbers as identities gives a table with numbers, whatever the format.
    """
    if name not in dataset:
        return np.arange(count)
    names = dataset[name].values
    given = names[names != ""] if name == "object_name" else names
    if all(_is_number(text) for text in np.unique(given)):
        return np.where(names == "", "-1", names).astype(np.int64)
    return np.asarray(names, dtype=object)


def _is_number(text: str) -> bool:
    """Whether a name is a whole number as a computer writes it: 7, but not 07 or +7."""
    return text.isdecimal() and len(text) < 19 and str(int(text)) == text


def _clock(dataset: xr.Dataset) -> Shaped[np.ndarray, "system time"]:
    """Dates where times have dates, else numbers without the noise of their last digits.

    Numbers of frames are whole, as in most tables that have them.
    """
    times = dataset["times"].values
    origin = str(dataset.attrs.get("time_origin", ""))
    if origin:
        return dates(times, origin, str(dataset["times"].attrs["units"]))
    rounded = without_noise(times)
    whole = (rounded % 1 == 0).all() and np.abs(rounded).max() < 2**53
    return rounded.astype(np.int64) if whole else rounded


def without_noise(
    times: Float[np.ndarray, "system time"],
) -> Float[np.ndarray, "system time"]:
    """Times rounded to a billionth of a step, as far as doubles are that exact.

    A last frame at 0.3 and steps of 0.1 give 0.4, and not 0.4000000000000001, so that a table of
    forecasts can be joined with another one by time.
    """
    step = np.diff(times, axis=1).min() if times.shape[1] > 1 else 0.0
    finest = max(float(step) * 1e-9, float(np.abs(times).max()) * 2.0**-46, 1e-300)
    return np.asarray(np.round(times, int(np.clip(np.floor(-np.log10(finest)), -300, 300))))
