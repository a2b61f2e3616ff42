"""Files of a run that are damaged or of another: refused by schema or manifest, never used."""

import json
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tests.attack.cases.case import Case, Make, case, edited, set_to, without_manifest

WHOLE = {
    "empty": b"",
    "null": b"null",
    "a list": b"[1, 2]",
    "a number": b"3",
    "a word": b'"run"',
    "cut": None,
    "no UTF-8": b'{"name": "\xff\xfe"}',
    "NUL": b"\0" * 200,
    "deep": b"[" * 100_000,
    "deep mapping": b'{"a":' * 100_000,
    "long number": b'{"format": ' + b"9" * 10_000 + b"}",
    "foreign": b'{"layers": 3}',
}
"""What any JSON file may be instead."""

READ = {
    "config.json": "evaluate run",
    "normaliser.json": "forecast run springs.nc -o new.nc",
    "data.json": "info run",
    "calibration.json": "forecast run springs.nc -o new.nc --samples 3",
}


def content(path: str, data: bytes | None) -> Make:
    """A file of a run with other content, and no manifest; None is the first half of its own."""

    def make() -> None:
        file = Path(path)
        held = file.read_bytes()
        file.write_bytes(held[: len(held) // 2] if data is None else data)
        without_manifest(file.parts[0])

    return make


def gone(path: str) -> Make:
    def make() -> None:
        Path(path).unlink()
        without_manifest(Path(path).parts[0])

    return make


NORMALISER: dict[str, tuple[str | int, ...]] = {
    "scale 0": ("scale", 0),
    "parameter scale": ("parameter_scale", 1),
}
NUMBERS: dict[str, Any] = {
    "zero": 0.0,
    "negative": -1.5,
    "text": "wide",
    "null": None,
    "list": [1.0],
    "true": True,
    "NaN": float("nan"),
    "infinite": float("inf"),
}


def _json_of_runs() -> Iterator[Case]:
    for file, command in READ.items():
        for name, data in WHOLE.items():
            yield case(command, content(f"run/{file}", data), name=f"{file}: {name}")
    for name, value in NUMBERS.items():
        for label, where in NORMALISER.items():
            yield case(
                READ["normaliser.json"],
                set_to("run/normaliser.json", *where, value=value),
                name=f"normaliser.json: {label} is {name}",
            )
        if name not in ("zero", "negative"):
            yield case(
                READ["normaliser.json"],
                set_to("run/normaliser.json", "centre", 0, value=value),
                name=f"normaliser.json: centre is {name}",
            )
            yield case(
                READ["calibration.json"],
                set_to("run/calibration.json", "quantiles", 0, 0, 3, value=value),
                name=f"calibration.json: quantile is {name}",
            )
        yield case(
            READ["calibration.json"],
            set_to("run/calibration.json", "spread", 0, 0, value=value),
            name=f"calibration.json: spread is {name}",
        )


def shuffled(calibration: Any) -> None:
    calibration["quantiles"][0][0].reverse()


def fewer(calibration: Any) -> None:
    calibration["quantiles"].pop()


def frames_back(calibration: Any) -> None:
    calibration["frames"].reverse()


def elsewhere(place: str, record: Any) -> None:
    record.update(source=place, relative=place)


SINGLE: dict[str, tuple[str, Make]] = {
    "quantiles unsorted": (
        READ["calibration.json"],
        edited("run/calibration.json", shuffled),
    ),
    "quantiles fewer": (READ["calibration.json"], edited("run/calibration.json", fewer)),
    "frames back": (READ["calibration.json"], edited("run/calibration.json", frames_back)),
    "levels": (READ["calibration.json"], set_to("run/calibration.json", "levels", value=[0.5])),
    "features twice": (
        READ["normaliser.json"],
        set_to("run/normaliser.json", "features", value=["qx", "qx", "vx", "vy"]),
    ),
    "features fewer": (
        READ["normaliser.json"],
        set_to("run/normaliser.json", "features", value=["qx"]),
    ),
    "roles": (READ["normaliser.json"], set_to("run/normaliser.json", "roles", 0, value="king")),
    "frame duration": (
        READ["normaliser.json"],
        set_to("run/normaliser.json", "frame_duration", value=-0.1),
    ),
    "frame duration 0": (
        READ["normaliser.json"],
        set_to("run/normaliser.json", "frame_duration", value=0),
    ),
    "wider": ("evaluate run", set_to("run/config.json", "model", "width", value=9)),
    "huge width": ("evaluate run", set_to("run/config.json", "model", "width", value=10**9)),
    "width true": ("evaluate run", set_to("run/config.json", "model", "width", value=True)),
    "other model": ("evaluate run", set_to("run/config.json", "name", value="gru")),
    "unknown model": ("evaluate run", set_to("run/config.json", "name", value="../../x")),
    "newer format": ("evaluate run", set_to("run/config.json", "format", value=99)),
    "format text": ("evaluate run", set_to("run/config.json", "format", value={"a": 1})),
    "window": ("evaluate run", set_to("run/config.json", "window", "condition", value=0)),
    "no source": ("evaluate run", edited("run/data.json", partial(elsewhere, "gone.nc"))),
    "source endless": ("evaluate run", edited("run/data.json", partial(elsewhere, "/dev/zero"))),
    "source a number": ("evaluate run", set_to("run/data.json", "source", value=3)),
    "hash a number": ("info run", set_to("run/data.json", "hash", value=3)),
    "systems a list": ("info run", set_to("run/data.json", "systems", value=[1])),
    "objects text": ("info run", set_to("run/data.json", "objects", value="many")),
    "parent a number": ("info run", set_to("run/data.json", "parent", value=3)),
}


def tensors(change: Any) -> Make:
    """Weights that are well-formed, but of another shape, type or name, or not finite."""

    def make() -> None:
        from safetensors import safe_open
        from safetensors.numpy import load_file, save_file

        path = "run/checkpoints/best.safetensors"
        with safe_open(path, "numpy") as file:
            header = file.metadata()
        held = load_file(path)
        held, header = change(held, header) or (held, header)
        save_file(held, path, header)
        without_manifest()

    return make


def _poisoned(held: dict[str, Any], header: Any) -> None:
    name = next(name for name in held if name.startswith("model.") and held[name].ndim == 2)
    held[name] = np.full_like(held[name], np.nan)


def _larger(held: dict[str, Any], header: Any) -> None:
    name = next(name for name in held if name.startswith("model."))
    held[name] = np.zeros((*held[name].shape, 2), held[name].dtype)


def _fewer(held: dict[str, Any], header: Any) -> None:
    del held[next(name for name in held if name.startswith("model."))]


def _whole_numbers(held: dict[str, Any], header: Any) -> Any:
    return {name: array.astype(np.int8) for name, array in held.items()}, header


def _no_header(held: dict[str, Any], header: Any) -> Any:
    return held, {}


def _bad_progress(held: dict[str, Any], header: Any) -> Any:
    return held, {**header, "progress": "[]"}


WEIGHTS: dict[str, Make] = {
    "NaN": tensors(_poisoned),
    "larger": tensors(_larger),
    "fewer": tensors(_fewer),
    "whole numbers": tensors(_whole_numbers),
    "no header": tensors(_no_header),
    "empty": content("run/checkpoints/best.safetensors", b""),
    "cut": content("run/checkpoints/best.safetensors", None),
    "huge header": content("run/checkpoints/best.safetensors", b"\xff" * 8 + b"{}"),
    "header of nothing": content("run/checkpoints/best.safetensors", bytes(8)),
    "no JSON": content("run/checkpoints/best.safetensors", b"\x02" + bytes(7) + b"xx"),
    "deep": content(
        "run/checkpoints/best.safetensors", (10**5).to_bytes(8, "little") + b"[" * 10**5
    ),
    "pickle": content("run/checkpoints/best.safetensors", b"\x80\x04cos\nsystem\n(Vid\ntR."),
    "text": content("run/checkpoints/best.safetensors", b"weights"),
}


def _progress(text: str) -> Make:
    def make() -> None:
        from safetensors import safe_open
        from safetensors.numpy import load_file, save_file

        path = "run/checkpoints/last.safetensors"
        with safe_open(path, "numpy") as file:
            header = file.metadata()
        save_file(load_file(path), path, {**header, "progress": text})
        without_manifest()

    return make


LOG = "run/metrics.jsonl"
LOGS = {
    "empty": b"",
    "cut": None,
    "null": b"null\n",
    "list": b"[1]\n",
    "no numbers": b'{"epoch": "one", "val_mse": "low", "seconds": []}\n',
    "no UTF-8": b"\xff\xfe\n",
    "deep": b"[" * 100_000,
    "NaN": b'{"epoch": 1, "val_mse": NaN, "seconds": 1}\n',
}


def _mixed() -> None:
    """Weights of one run with the settings and scales of another; each file is right by itself."""
    shutil.copy("other/checkpoints/best.safetensors", "run/checkpoints/best.safetensors")


def _touched(path: str) -> Make:
    """A change that no schema can see, so that only the manifest can."""

    def make() -> None:
        file = Path(path)
        held = json.loads(file.read_text())
        if "scale" in held:
            held["scale"][0] *= 1.0001
        else:
            held["spread"][0][0] *= 1.0001
        file.write_text(json.dumps(held, indent=2) + "\n")

    return make


CASES: list[Case] = [
    *_json_of_runs(),
    *(case(command, make, name=f"run: {name}") for name, (command, make) in SINGLE.items()),
    *(
        case("forecast run springs.nc -o new.nc", m, name=f"weights: {n}")
        for n, m in WEIGHTS.items()
    ),
    *(
        case("train --resume run", _progress(text), name=f"progress: {text[:40]}")
        for text in (
            "",
            "[]",
            "null",
            '{"epoch": -3}',
            '{"epoch": "x"}',
            '{"who": 1}',
            "[" * 50_000,
        )
    ),
    *(
        # The log is no part of a forecast, so a damaged one costs the log and not the run.
        case("info run", content(LOG, data), name=f"log: {name}", code=(0, 2))
        for name, data in LOGS.items()
    ),
    *(
        case(
            "forecast run springs.nc -o new.nc --samples 0",
            content(LOG, data),
            name=f"forecast with a log: {name}",
            code=0,
            writes="new.nc",
        )
        for name, data in LOGS.items()
    ),
    *(
        case("evaluate run", gone(f"run/{file}"), name=f"no {file}")
        for file in ("config.json", "normaliser.json", "data.json")
    ),
    case("forecast run springs.nc -o new.nc", _mixed, name="manifest: weights of another run"),
    case("verify run", _mixed, name="verify: weights of another run"),
    case(
        "forecast run springs.nc -o new.nc",
        _touched("run/normaliser.json"),
        name="manifest: a scale",
    ),
    case("verify run", _touched("run/normaliser.json"), name="verify: a scale"),
    case(
        "evaluate run",
        _touched("run/calibration.json"),
        name="manifest: a spread of the calibration",
    ),
    case("verify run", _touched("run/calibration.json"), name="verify: a spread"),
    case("verify run", name="verify a good run", code=0),
    case("verify springs.nc", name="verify good data", code=0),
    case("verify springs.zarr", name="verify a good zarr", code=0),
    case("verify lawful", name="verify a run with laws", code=0),
    case("convert old -o new", content("old/config.json", b"[" * 50_000), name="convert: deep"),
    case("convert old -o new", content("old/config.json", b"null"), name="convert: null"),
    case("convert old -o new", content("old/normaliser.json", b"{}"), name="convert: normaliser"),
]
