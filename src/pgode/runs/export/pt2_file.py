"""A recorded forecast as a file of torch.export, which torch loads without pgode."""

import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.export import ExportedProgram

SUFFIX = ".pt2"
CONTENT = "pgode.json"
"""Name of the metadata within the file."""


def write_pt2(program: ExportedProgram, content: Mapping[str, Any], path: Path) -> None:
    """Write the program with its metadata.

    Graph and metadata are JSON and weights are plain bytes. Example inputs are left out: they are
    the one part that torch would pickle.
    """
    program._example_inputs = None
    buffer = io.BytesIO()
    torch.export.save(program, buffer, extra_files={CONTENT: json.dumps(content, indent=2)})
    path.write_bytes(buffer.getvalue())


def pt2_function(path: Path) -> Callable[[Mapping[str, np.ndarray]], np.ndarray]:
    """The file in torch. Only for a file that `write_pt2` has just written: nothing is pickled."""
    module = torch.export.load(io.BytesIO(path.read_bytes())).module()

    def run(arrays: Mapping[str, np.ndarray]) -> np.ndarray:
        with torch.no_grad():
            return np.asarray(module(*(torch.from_numpy(each) for each in arrays.values())).numpy())

    return run
