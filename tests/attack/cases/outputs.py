"""Outputs that are inputs, parts of a run, or somebody else's files; and places that cannot be."""

import os
import shutil
from pathlib import Path

from tests.attack.cases.case import Case, Make, case, in_order, without_manifest, write

RUN_FILES = (
    *("config.json", "normaliser.json", "data.json", "calibration.json", "metrics.jsonl"),
    *("metrics.csv", "checkpoints/best.safetensors", "checkpoints/last.safetensors"),
)


def linked(source: str, path: str, hard: bool = False) -> Make:
    """Another name of a file."""

    def make() -> None:
        if hard:
            os.link(source, path)
        else:
            Path(path).symlink_to(source)

    return make


# Every one destroys an input of its own command or a part of a run, so --overwrite changes nothing.
NEVER = (
    "forecast run springs.nc -o springs.nc",
    "forecast run springs.nc -o ./springs.nc",
    "forecast run springs.nc -o run/../springs.nc",
    "forecast tracked tracks.csv -o tracks.csv",
    "report run -o springs.nc",
    "report run --data springs.nc -o springs.nc",
    "evaluate run --json springs.nc",
    "evaluate run --data springs.npz --json springs.npz",
    "compare run other --json springs.nc",
    "compare run other -o other/config.json",
    "robustness run -o springs.nc",
    "robustness run --json run/config.json -o new.html",
    "laws lawful --csv lawful/config.json",
    "laws lawful --svg lawful/normaliser.json",
    "export run -o run/checkpoints/best.onnx/../best.safetensors",
    "import table tracks.csv -o run/config.json",
    "import mocap trial_0.bvh trial_1.bvh trial_2.bvh -o run",
    "import md --trajectory dynamics.dcd --topology top.pdb -o top.pdb",
    "export-md atoms.nc -o atoms.nc",
    "export-md atoms.nc -o top.pdb --topology top.pdb",
    "convert old -o old",
    "convert old -o run",
    "convert old -o precious",
    "train springs.nc -o run",
    "train springs.nc -o precious",
    "train springs.nc -o springs.zarr",
    "simulate springs -o precious.zarr",
    "simulate springs -o precious",
    "simulate springs -o run/springs.zarr/../config.json",
    "evaluate run --json precious",
    "tune springs.nc -o precious --trials 1",
    "tune springs.nc -o springs.nc --trials 1",
    "reproduce table1 --show -o springs.nc",
)

# These replace what is there, which needs --overwrite.
EXISTING = (
    "simulate springs -o five.nc",
    "simulate springs -o springs.zarr",
    "forecast run springs.nc -o ahead.nc",
    "forecast run springs.nc -o result.csv",
    "evaluate run --json result.json",
    "compare run other --json result.json",
    "compare run other -o page.html",
    "report run -o page.html",
    "laws lawful --csv result.csv",
    "laws lawful --svg page.html",
    "robustness run -o page.html --json new.json",
    "robustness run -o new.html --json result.json",
    "export run -o model.onnx",
    "import table tracks.csv -o five.nc",
    "import wide wide.csv -o five.nc",
    "import mocap trial_0.bvh trial_1.bvh trial_2.bvh -o five.nc",
    "import md --trajectory dynamics.dcd --topology top.pdb -o five.nc --frame-time 0.2",
    "data covid -o five.nc --source reports",
    "export-md atoms.nc -o moved.dcd",
)

MINE = in_order(
    write("result.csv", "mine\n"),
    write("page.html", "mine\n"),
    write("model.onnx", "mine\n"),
    write("moved.dcd", "mine\n"),
)

WORKS = (
    ("simulate springs -o ahead.nc --train 1 --val 1 --test 1 --ood 0 --frames 4", "ahead.nc"),
    ("forecast run springs.nc -o ahead.nc --until 2 --samples 0", "ahead.nc"),
    ("evaluate run --samples 0 --json result.json", "result.json"),
    ("report run --examples 1 --samples 2 -o page.html", "page.html"),
    ("import wide wide.csv -o five.nc", "five.nc"),
    (
        "simulate springs -o springs.zarr --train 1 --val 1 --test 1 --ood 0 --frames 4",
        "springs.zarr",
    ),
)
"""With --overwrite these succeed, and replace that file alone."""

PLACES = (
    "train springs.nc -o notes.txt/run",
    "train springs.nc -o notes.txt",
    "forecast run springs.nc -o notes.txt/new.nc",
    "simulate springs -o notes.txt/deep/new.nc",
    "evaluate run --json notes.txt/new.json",
    "report run -o precious",
    "evaluate run --json precious",
    "forecast run springs.nc -o /proc/new.nc",
    "simulate springs -o /proc/self/new.nc",
    "train springs.nc -o /proc/new",
    "evaluate run --json /proc/new.json",
    "simulate springs -o ''",
    "evaluate run --json ''",
    "train springs.nc -o ''",
    "report run -o .",
    "train springs.nc -o .",
    "laws lawful --csv /proc/new.csv",
    "export run -o /proc/new.onnx",
    "import table tracks.csv -o /proc/new.nc",
    "tune springs.nc -o /proc/new --trials 1",
    "convert old -o /proc/new",
)


def _gone() -> None:
    shutil.rmtree("run/checkpoints")
    without_manifest()


CASES: list[Case] = [
    *(case(each) for each in NEVER),
    *(case(f"{each} --overwrite") for each in NEVER),
    *(case(each, MINE, name=f"{each} (there already)") for each in EXISTING),
    *(
        case(
            f"{command} --overwrite",
            in_order(MINE),
            name=f"{command} --overwrite (works)",
            code=0,
            writes=path,
            replaces=path,
        )
        for command, path in WORKS
    ),
    *(case(f"evaluate run --json run/{file}") for file in RUN_FILES),
    *(case(f"report run -o run/{file} --overwrite") for file in RUN_FILES),
    *(
        case(command, linked(source, path, hard), name=f"{command} ({kind} link to {source})")
        for kind, hard in (("symbolic", False), ("hard", True))
        for command, source, path in (
            ("forecast run springs.nc -o alias.nc --overwrite", "springs.nc", "alias.nc"),
            ("evaluate run --json alias.json --overwrite", "run/config.json", "alias.json"),
            ("report run -o alias.html --overwrite", "springs.nc", "alias.html"),
            ("forecast tracked tracks.csv -o alias.csv --overwrite", "tracks.csv", "alias.csv"),
        )
    ),
    *(case(each, name=f"{each} (cannot be)") for each in PLACES),
    case("evaluate run", _gone, name="a run without checkpoints"),
    case(
        "evaluate run --json same.json --json same.json",
        name="an option twice",
        code=(0, 2),
        writes="same.json",
    ),
    case("compare run other -o same.html --json same.html", name="two outputs of one name"),
    case("robustness run -o same.html --json ./same.html", name="two spellings of one output"),
]
