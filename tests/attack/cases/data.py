"""Data files that are damaged, foreign, or no trajectories."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tests.attack.cases.case import Case, Make, case, cut, renamed, write

READERS = (
    "info {}",
    "check {}",
    "train {} -o new --epochs 1",
    "forecast run {} -o new.nc",
    "evaluate run --data {}",
)


def archive(**changes: Any) -> Make:
    """Springs as a numpy archive with some arrays replaced, left out (None) or added."""

    def make() -> None:
        with np.load("springs.npz") as good:
            arrays = {**good, **{k: v(good) if callable(v) else v for k, v in changes.items()}}
        np.savez("bad.npz", **{name: each for name, each in arrays.items() if each is not None})

    return make


def with_value(name: str, value: float) -> Callable[[Any], Any]:
    def change(good: Any) -> Any:
        array = good[name].astype(float)
        array.flat[array.size // 3] = value
        return array

    return change


ARCHIVES: dict[str, Make] = {
    "no states": archive(states=None),
    "no edges": archive(edges=None),
    "misspelt": archive(feature_names=None, feature_name=np.array(list("abcd"))),
    "flat": archive(states=lambda good: good["states"][0]),
    "no systems": archive(states=lambda good: good["states"][:0]),
    "no objects": archive(states=lambda good: good["states"][:, :0]),
    "no frames": archive(states=lambda good: good["states"][:, :, :0]),
    "a number": archive(states=np.float64(3)),
    "words": archive(states=lambda good: good["states"].astype(str)),
    "complex": archive(states=lambda good: good["states"] * 1j),
    "objects": archive(split=lambda good: good["split"].astype(object)),
    "NaN": archive(states=with_value("states", np.nan)),
    "infinite": archive(states=with_value("states", np.inf)),
    "times NaN": archive(times=with_value("times", np.nan)),
    "times back": archive(times=with_value("times", -5.0)),
    "dates": archive(times=lambda good: np.arange(18).astype("datetime64[s]")),
    "edges NaN": archive(edges=with_value("edges", np.nan)),
    "edges square": archive(edges=np.ones((19, 3, 4))),
    "split": archive(split=np.full(19, "testing")),
    "split numbers": archive(split=np.zeros(19)),
    "names twice": archive(feature_names=np.array(["x", "x", "y", "y"])),
    "names few": archive(feature_names=np.array(["x"])),
    "masks": archive(observed=np.ones((2, 2))),
    "half masks": archive(present=lambda good: np.full((19, 3), 0.5)),
    "records": archive(states=np.zeros(3, dtype=[("a", "f8"), ("b", "i4")])),
    "cut": cut("springs.npz", "bad.npz"),
    "empty": write("bad.npz", b""),
    "text": write("bad.npz", b"states times edges\n"),
    "one array": lambda: Path("bad.npz").write_bytes(_npy()),
    "NetCDF": renamed("springs.nc", "bad.npz"),
    "empty zip": write("bad.npz", b"PK\x05\x06" + bytes(18)),
}


def _npy() -> bytes:
    np.save("one.npy", np.zeros(3))
    data = Path("one.npy").read_bytes()
    Path("one.npy").unlink()
    return data


def dataset(change: Callable[[Any], Any]) -> Make:
    """Springs as NetCDF, changed below the level at which pgode checks what it writes.

    Without the stored hash, so that the schema alone has to find the fault.
    """

    def make() -> None:
        import xarray as xr

        with xr.open_dataset("springs.nc", engine="h5netcdf", decode_times=False) as good:
            changed = change(good.load())
        changed.attrs.pop("content_hash", None)
        changed.to_netcdf("bad.nc", engine="h5netcdf")

    return make


def assigned(name: str, value: Any) -> Make:
    def change(good: Any) -> Any:
        good[name].values.flat[0] = value
        return good

    return dataset(change)


def foreign(good: Any) -> Any:
    import xarray as xr

    return xr.Dataset({"a": ("x", [1.0])})


def rewritten(name: str, value: Any) -> Make:
    """A changed value, with the checksums of HDF5 right and the stored content hash wrong."""

    def make() -> None:
        import h5py

        Path("bad.nc").write_bytes(Path("springs.nc").read_bytes())
        with h5py.File("bad.nc", "r+") as file:
            variable = file[name]
            variable[(0,) * variable.ndim] = value

    return make


DATASETS: dict[str, Make] = {
    "cut": cut("springs.nc", "bad.nc"),
    "cut a little": cut("springs.nc", "bad.nc", 0.99),
    "empty": write("bad.nc", b""),
    "text": write("bad.nc", b"qx qy vx vy\n1 2 3 4\n"),
    "signature": write("bad.nc", b"\x89HDF\r\n\x1a\n" + bytes(2000)),
    "classic": write("bad.nc", b"CDF\x01" + bytes(28)),
    "foreign": dataset(foreign),
    "no states": dataset(lambda good: good.drop_vars("states")),
    "no times": dataset(lambda good: good.drop_vars("times")),
    "no edges": dataset(lambda good: good.drop_vars("edge_sender")),
    "no features": dataset(lambda good: good.drop_vars("feature")),
    "words": dataset(lambda good: good.assign(states=good.states.astype(str))),
    "fewer dimensions": dataset(lambda good: good.isel(time=0)),
    "edge beyond": assigned("edge_sender", 99),
    "edge before": assigned("edge_sender", -3),
    "NaN": assigned("states", np.nan),
    "infinite": assigned("states", np.inf),
    "other number": rewritten("states", 0.123),
    "other time": rewritten("times", -0.001),
    "other edge": rewritten("edge_attributes", 2.5),
    "a picture": write("bad.nc", b"\x89PNG\r\n\x1a\n" + bytes(500)),
    "a folder": lambda: Path("bad.nc").mkdir(),
    "a zarr": renamed("springs.zarr", "bad.nc"),
}


def stored(change: Callable[[Path], Any]) -> Make:
    """A copy of the zarr folder, changed."""

    def make() -> None:
        renamed("springs.zarr", "bad.zarr")()
        change(Path("bad.zarr"))

    return make


def meta(**changes: Any) -> Callable[[Path], Any]:
    """The description of the states with some entries replaced, there and in the summary of all."""

    def change(folder: Path) -> None:
        file = folder / "states/.zarray"
        described = {**json.loads(file.read_text()), **changes}
        file.write_text(json.dumps(described))
        summary = folder / ".zmetadata"
        if summary.exists():
            content = json.loads(summary.read_text())
            content["metadata"]["states/.zarray"] = described
            summary.write_text(json.dumps(content))

    return change


CHUNK = "states/0.0.0.0"


STORES: dict[str, Make] = {
    "empty": lambda: Path("bad.zarr").mkdir(),
    "a file": write("bad.zarr", b"text"),
    "cut metadata": stored(lambda folder: (folder / "states/.zarray").write_text('{"zarr_for')),
    "null metadata": stored(lambda folder: (folder / "states/.zarray").write_text("null")),
    "list metadata": stored(lambda folder: (folder / "states/.zarray").write_text("[1, 2]")),
    "deep metadata": stored(lambda folder: (folder / "states/.zarray").write_text("[" * 100_000)),
    "other shape": stored(meta(shape=[19, 3, 18, 5])),
    "petabytes": stored(meta(shape=[10**6, 10**6, 10**6, 4])),
    "petabyte chunk": stored(meta(shape=[10**5] * 3 + [4], chunks=[10**5] * 3 + [4])),
    "negative": stored(meta(shape=[-1, 3, 18, 4])),
    "unknown codec": stored(meta(compressor={"id": "rot13"})),
    "pickle": stored(meta(filters=[{"id": "pickle"}])),
    "unknown type": stored(meta(dtype="<f3")),
    "objects": stored(meta(dtype="|O")),
    "chunk cut": stored(lambda folder: (folder / CHUNK).write_bytes(b"abc")),
    "chunk gone": stored(lambda folder: (folder / CHUNK).unlink()),
    "chunk folder": stored(lambda folder: ((folder / CHUNK).unlink(), (folder / CHUNK).mkdir())),
}


def _read_by(name: str, path: str, make: Make, number: int) -> Iterator[Case]:
    """Described by `info`, and read by one other command in turn."""
    for reader in (READERS[0], READERS[1 + number % (len(READERS) - 1)]):
        command = reader.format(path)
        yield case(command, make, name=f"{command} ({name})")


CASES: list[Case] = [
    each
    for path, kinds in (("bad.npz", ARCHIVES), ("bad.nc", DATASETS), ("bad.zarr", STORES))
    for number, (name, make) in enumerate(kinds.items())
    for each in _read_by(name, path, make, number)
]
