"""Arguments and options that several commands share, with their help."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

RunName = Annotated[str, Parameter(help="Run folder, or a shipped model by name (springs-10).")]
RunData = Annotated[
    Path | None, Parameter(help="Data file; the one the run was trained on if not given.")
]
SampleSeed = Annotated[int, Parameter(help="Seed of the samples.")]
Device = Annotated[
    str,
    Parameter(help="auto (CUDA, else Apple's MPS, else the CPU), cpu, cuda, cuda:N or mps."),
]
Force = Annotated[
    bool,
    Parameter(
        negative=(),
        help="Read data that differ from the hash that was stored with them, with a warning.",
    ),
]
Output = Annotated[Path, Parameter(name=["--output", "-o"])]
"""A file or folder to write. Commands describe it in their docstrings."""
OptionalOutput = Annotated[Path | None, Parameter(name=["--output", "-o"])]
Overwrite = Annotated[
    bool,
    Parameter(
        negative=(),
        help="Replace an existing output; never an input, or a part of a run.",
    ),
]
"""Of every command that writes a file: see `pgode.runtime.outputs`."""
ResultFile = Annotated[Path | None, Parameter(help="File for the full result.")]
