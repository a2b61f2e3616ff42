"""Every option that names an output, with a command line of it; and what commands read."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Output:
    """A command line whose `{out}` is written, and the files of the workspace that it reads."""

    command: str
    option: str
    line: str
    ending: str
    inputs: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.command} {self.option} {self.ending}"


TABLE = ("table.csv", "edges.csv")
RUN = ("springs.nc", "run/config.json", "run/normaliser.json", "run/checkpoints/best.safetensors")
SIMULATE = "simulate springs -o {out} --objects 3 --frames 18 --train 2 --val 1 --test 1 --ood 1"
HUB = "forecast run springs.nc -o {out} --format hubverse"
MD = "import md --trajectory run.xtc --topology top.pdb -o {out}"

FILES = (
    Output("simulate", "output", SIMULATE, ".nc"),
    Output("simulate", "output", SIMULATE, ".zarr"),
    Output(
        "simulate protein",
        "output",
        "simulate protein --structure top.pdb -o {out} --implicit",
        ".nc",
        ("top.pdb",),
    ),
    Output(
        "import table", "output", "import table table.csv --edges edges.csv -o {out}", ".nc", TABLE
    ),
    Output(
        "import wide",
        "output",
        "import wide table.csv --adjacency edges.csv -o {out}",
        ".zarr",
        TABLE,
    ),
    Output("import md", "output", MD, ".nc", ("run.xtc", "top.pdb")),
    Output("import mocap", "output", "import mocap walk.bvh -o {out}", ".nc", ("walk.bvh",)),
    Output("data covid", "output", "data covid --source table.csv -o {out}", ".nc", ("table.csv",)),
    Output("evaluate", "json", "evaluate run --json {out}", ".json", RUN),
    Output("evaluate", "json", "evaluate run --data springs.nc --json {out}", ".nc", RUN),
    Output("compare", "output", "compare run run -o {out}", ".html", RUN),
    Output("compare", "json", "compare run run --json {out}", ".json", RUN),
    Output("forecast", "output", "forecast run springs.nc -o {out}", ".nc", RUN),
    Output("forecast", "output", "forecast run springs.nc -o {out}", ".csv", RUN),
    Output("forecast", "output", HUB, ".csv", RUN),
    Output("export", "output", "export run -o {out}", ".pt2", RUN),
    Output("report", "output", "report run -o {out}", ".html", RUN),
    Output("laws", "csv", "laws run --csv {out}", ".csv", RUN),
    Output("laws", "svg", "laws run --svg {out}", ".svg", RUN),
    Output("robustness", "output", "robustness run -o {out}", ".html", RUN),
    Output("robustness", "json", "robustness run --json {out}", ".json", RUN),
    Output("reproduce", "export", "reproduce --export {out}", ".csv"),
    Output(
        "export-md", "output", "export-md springs.nc -o {out} --topology top.pdb", ".nc", RUN[:1]
    ),
)
"""Options that name a file: replaced with --overwrite alone."""

FOLDERS = (
    Output("train", "output", "train springs.nc -o {out} --model last-value", ""),
    Output("tune", "output", "tune springs.nc -o {out} --trials 1", ""),
    Output("convert", "output", "convert run -o {out}", ""),
    Output("reproduce", "folder", "reproduce table1 --budget smoke --show -o {out}", ""),
    Output(
        "simulate protein",
        "samples",
        "simulate protein --sequence GAY --implicit -o new.nc --samples {out}",
        "",
    ),
)
"""Options that name a folder to work in: new, empty, or begun by the same command."""

CONTINUED = {("train", "resume")}
"""Options that name a run to go on with."""

READ = {
    ("check", "file"),
    ("compare", "data"),
    ("convert", "old"),
    ("data covid", "source"),
    ("evaluate", "data"),
    ("evaluate", "replicas"),
    ("export", "data"),
    ("export-md", "data"),
    ("export-md", "topology"),
    ("forecast", "data"),
    ("import md", "topology"),
    ("import md", "trajectory"),
    ("import mocap", "bvh"),
    ("import table", "files"),
    ("import wide", "adjacency"),
    ("import wide", "files"),
    ("laws", "data"),
    ("report", "data"),
    ("robustness", "data"),
    ("simulate protein", "structure"),
    ("train", "config"),
    ("train", "data"),
    ("tune", "config"),
    ("tune", "data"),
    ("tune", "space"),
}
"""Options with a path that is only read."""
