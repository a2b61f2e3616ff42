"""A recorded forecast as an ONNX model, and its run in onnxruntime."""

import json
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.export import ExportedProgram

from pgode.runs.export.program import quiet
from pgode.runs.export.refusals import missing
from pgode.runs.export.signature import OUTPUT, Signature

SUFFIX = ".onnx"
MODULES = ("onnx", "onnxscript", "onnxruntime")


def check_installed() -> None:
    """Refuse before any work where a library is missing."""
    for module in MODULES:
        if find_spec(module) is None:
            raise missing(module, SUFFIX)


def write_onnx(
    program: ExportedProgram, signature: Signature, content: Mapping[str, Any], path: Path
) -> None:
    """Translate the program, name its arrays and sizes, and write it with its metadata."""
    with torch.no_grad(), quiet():
        translated = torch.onnx.export(
            program,
            dynamo=True,
            verbose=False,
            input_names=[each.name for each in signature.arrays],
            output_names=[OUTPUT],
        )
    assert translated is not None
    model = translated.model
    for value, each in zip(model.graph.inputs, signature.arrays, strict=True):
        value.shape = _shape(each.shape)
        value.doc_string = each.words
    model.graph.outputs[0].shape = _shape(("objects", signature.until, signature.features))
    for key, value in content.items():
        model.metadata_props[key] = value if isinstance(value, str) else json.dumps(value)
    model.producer_name, model.producer_version = "pgode", str(content["pgode_version"])
    translated.save(str(path), external_data=False)


def onnx_function(path: Path) -> Callable[[Mapping[str, np.ndarray]], np.ndarray]:
    """The model in onnxruntime, on one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        path.read_bytes(), options, providers=["CPUExecutionProvider"]
    )
    return lambda arrays: np.asarray(session.run([OUTPUT], dict(arrays))[0])


def _shape(sizes: tuple[str | int, ...]) -> Any:
    import onnx_ir

    return onnx_ir.Shape(sizes)
