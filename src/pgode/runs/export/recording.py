"""Recording a forecast with torch.export: shapes stay free, numbers are never looked at."""

import torch
from torch.export import Dim, ExportedProgram

from pgode.models.forecaster import Forecaster
from pgode.runs.export.program import ForecastProgram
from pgode.runs.export.signature import Signature


def record(model: Forecaster, signature: Signature) -> ExportedProgram:
    """The forecast of a model as a program; the numbers of systems, objects and edges are free."""
    program = ForecastProgram(model, signature).eval()
    example = tuple(torch.from_numpy(each) for each in signature.example().values())
    free = {name: Dim(name, min=1) for name in ("systems", "objects", "edges")}
    shapes = tuple(
        {k: free[size] for k, size in enumerate(each.shape) if isinstance(size, str)}
        for each in signature.arrays
    )
    with torch.no_grad():
        return torch.export.export(
            program, example, dynamic_shapes={"arrays": shapes}, strict=False
        )
