"""Files that never end, that reach for other files, or that unfold to more than memory holds."""

import gzip
import io
import os
import socket
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tests.attack.cases.case import Case, Make, case, renamed, without_manifest, write

SECRET = "/etc/passwd"


def fifo(path: str) -> Make:
    """A pipe that nobody writes into: whoever opens it waits forever."""

    def make() -> None:
        Path(path).unlink(missing_ok=True)
        os.mkfifo(path)
        without_manifest(Path(path).parts[0])

    return make


def socket_at(path: str) -> Make:
    """What is no file. A device would do as well, but who replaces one harms the whole machine."""

    def make() -> None:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(path)

    return make


def link(path: str, target: str) -> Make:
    """A symbolic link."""

    def make() -> None:
        Path(path).unlink(missing_ok=True)
        Path(path).symlink_to(target)
        without_manifest(Path(path).parts[0])

    return make


def states_from(build: Callable[[Any, Any], None]) -> Make:
    """Springs whose states are taken from elsewhere: `build(file, old states)` adds them."""

    def make() -> None:
        import h5py

        Path("bad.nc").write_bytes(Path("springs.nc").read_bytes())
        with h5py.File("bad.nc", "r+") as file:
            old = file["states"]
            shape = old.shape
            del file["states"]
            build(file, shape)

    return make


def _external_link(file: Any, shape: Any) -> None:
    import h5py

    file["states"] = h5py.ExternalLink("five.nc", "/states")


def _external_storage(file: Any, shape: Any) -> None:
    size = int(np.prod(shape)) * 8
    file.create_dataset("states", shape, "f8", external=[(SECRET, 0, size)])


def _virtual(file: Any, shape: Any) -> None:
    import h5py

    layout = h5py.VirtualLayout(shape, "f8")
    source = h5py.VirtualSource("five.nc", "states", shape=(18, 5, 24, 4))
    layout[:1, :1, :1, :1] = source[:1, :1, :1, :1]
    file.create_virtual_dataset("states", layout)


def _soft_loop(file: Any, shape: Any) -> None:
    import h5py

    file["states"] = h5py.SoftLink("/states")


def _petabytes(file: Any, shape: Any) -> None:
    file.create_dataset("states", (10**6, 10**5, 10**4, 4), "f8", chunks=(1, 1, 100, 4))


def _bomb(file: Any, shape: Any) -> None:
    """Twelve gigabytes of zeros in some megabytes."""
    file.create_dataset(
        "states", (400_000, 100, 36, 4), "f8", chunks=(1000, 100, 36, 4), compression="gzip"
    )


def zip_bomb(members: dict[str, tuple[tuple[int, ...], str]]) -> Make:
    """An archive whose headers promise these shapes, with as many zeros as fit a small file."""

    def make() -> None:
        with zipfile.ZipFile("bad.npz", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, (shape, kind) in members.items():
                head = io.BytesIO()
                header = {"descr": kind, "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_2_0(head, header)
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    member.write(head.getvalue())
                    block = bytes(2**24)
                    for _ in range(20):
                        member.write(block)

    return make


def npy_bomb(shape: tuple[int, ...]) -> dict[str, tuple[tuple[int, ...], str]]:
    return {"states": (shape, "<f8"), "times": ((18,), "<f8"), "edges": ((19, 3, 3), "<f8")}


def gzip_bomb() -> None:
    with gzip.open("bad.csv.gz", "wb", compresslevel=9) as file:
        file.write(b"object,time,x\n")
        for _ in range(150):
            file.write(b"a,1,0\n" * (2**20))


def long_line() -> None:
    Path("bad.csv").write_bytes(b"object,time,x\na,0," + b"9" * 50_000_000 + b"\n")


def wide_table() -> None:
    names = ",".join(f"c{k}" for k in range(200_000))
    Path("bad.csv").write_text(f"object,time,{names}\n")


def laughs(levels: int = 40) -> str:
    """YAML that doubles with every line."""
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{k}: &a{k} [*a{k - 1}, *a{k - 1}]" for k in range(1, levels)]
    return "\n".join([*lines, f"model: *a{levels - 1}", ""])


YAML = {
    "bomb": laughs(),
    "bomb of merges": "a: &a {x: 1}\n"
    + "".join(f"b{k}: &b{k} {{<<: [{', '.join(['*a'] * 400)}]}}\n" for k in range(400)),
    "deep list": "model: " + "[" * 5000 + "]" * 5000,
    "deep mapping": "{a: " * 3000 + "1" + "}" * 3000,
    "deeper": "[" * 500_000,
    "recursion": "model: &a [*a]\n",
    "recursive mapping": "&a {model: *a}\n",
    "code": "model: !!python/object/apply:os.system [touch owned]\n",
    "code, newer": "model: !!python/name:os.system\n",
    "long key": "? " + "k" * 2_000_000 + "\n: 1\n",
    "many keys": "".join(f"k{n}: 1\n" for n in range(200_000)),
}

CASES: list[Case] = [
    *(
        case(command, fifo(path), name=f"{command} ({path} a fifo)")
        for command, path in (
            ("info bad.nc", "bad.nc"),
            ("train bad.nc -o new", "bad.nc"),
            ("check bad.npz", "bad.npz"),
            ("forecast run bad.npz -o new.nc", "bad.npz"),
            ("import table bad.csv -o new.nc", "bad.csv"),
            ("info bad.csv", "bad.csv"),
            ("check bad.parquet", "bad.parquet"),
            ("import wide wide.csv -o new.nc --adjacency bad.csv", "bad.csv"),
            ("import mocap bad.bvh -o new.nc", "bad.bvh"),
            ("import md --trajectory bad.dcd --topology top.pdb -o new.nc", "bad.dcd"),
            ("import md --trajectory dynamics.dcd --topology bad.pdb -o new.nc", "bad.pdb"),
            ("train springs.nc -o new --config bad.yaml", "bad.yaml"),
            ("tune springs.nc -o new --space bad.yaml", "bad.yaml"),
            ("data covid -o new.nc --source bad.csv", "bad.csv"),
            ("export-md bad.nc -o new.dcd", "bad.nc"),
            ("evaluate run --replicas bad.nc", "bad.nc"),
            ("evaluate run", "run/config.json"),
            ("evaluate run", "run/normaliser.json"),
            ("evaluate run", "run/data.json"),
            ("evaluate run", "run/calibration.json"),
            ("evaluate run", "run/checkpoints/best.safetensors"),
            ("train --resume run", "run/checkpoints/last.safetensors"),
        )
    ),
    case("info run", fifo("run/metrics.jsonl"), name="info run (fifo as the log)", code=(0, 2)),
    case("simulate springs -o bad.nc", fifo("bad.nc"), name="simulate onto a fifo"),
    case("evaluate run --json bad.json", fifo("bad.json"), name="JSON onto a fifo"),
    case("report run -o bad.html --overwrite", fifo("bad.html"), name="report onto a fifo"),
    case("evaluate run --json bad.json", socket_at("bad.json"), name="JSON onto a socket"),
    *(
        case(command, link(path, "/dev/zero"), name=f"{command} ({path} /dev/zero)")
        for command, path in (
            ("info bad.nc", "bad.nc"),
            ("train bad.npz -o new", "bad.npz"),
            ("check bad.csv", "bad.csv"),
            ("import table bad.csv -o new.nc", "bad.csv"),
            ("import mocap bad.bvh -o new.nc", "bad.bvh"),
            ("train springs.nc -o new --config bad.yaml", "bad.yaml"),
            ("tune springs.nc -o new --space bad.yaml", "bad.yaml"),
            ("evaluate run", "run/config.json"),
            ("evaluate run", "run/checkpoints/best.safetensors"),
        )
    ),
    case("info loop.nc", link("loop.nc", "loop.nc"), name="a link to itself"),
    case("evaluate loop", link("loop", "loop"), name="a run that is a link to itself"),
    case("train springs.nc -o new --config /dev/stdin", name="settings from standard input"),
    *(
        case(command.format("bad.nc"), states_from(build), name=f"{command} ({build.__name__})")
        for build in (_external_link, _external_storage, _virtual, _soft_loop, _petabytes, _bomb)
        for command in ("info {}", "train {} -o new --epochs 1")
    ),
    *(
        case("info bad.npz", zip_bomb(npy_bomb(shape)), name=f"an archive of shape {shape}")
        for shape in ((10**6, 10**6, 10**3, 4), (2**62, 4, 1, 1), (19, 3, 10**6, 4), (-1, 3, 18, 4))
    ),
    case("check bad.csv.gz", gzip_bomb, name="check a gzip bomb", code=(1, 2)),
    case("import table bad.csv.gz -o new.nc", gzip_bomb, name="import a gzip bomb"),
    case("import table bad.csv -o new.nc", long_line, name="a line of 50 MB"),
    case("info bad.csv", wide_table, name="info of 200,000 columns", code=(0, 2)),
    case("import table bad.csv -o new.nc", wide_table, name="import 200,000 columns"),
    *(
        case(command, write("bad.yaml", text), name=f"{command} (YAML {name})")
        for name, text in YAML.items()
        for command in (
            "train springs.nc -o new --config bad.yaml",
            "tune springs.nc -o new --trials 1 --epochs 1 --space bad.yaml",
        )
    ),
    case(
        "train springs.nc -o new",
        name="YAML bomb in --set",
        more=("--set", "model=" + "[" * 3000 + "]" * 3000),
    ),
    case("info bad.zarr", renamed("springs.nc", "bad.zarr"), name="NetCDF called zarr"),
]
