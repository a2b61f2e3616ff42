"""What cannot be exported, and why: said before anything is recorded."""

from dataclasses import replace

from pgode.models.forecaster import Forecaster
from pgode.models.pgode.config import PGODEConfig
from pgode.models.pgode.laws.config import LawsConfig
from pgode.ode import SolverConfig
from pgode.ode.methods import Adaptive, find_method
from pgode.runs.export.program import record
from pgode.runs.export.signature import Signature
from pgode.runs.lasting.together import COPIES, LONG, row_bytes
from pgode.runtime.errors import InputError
from pgode.runtime.memory import refuse_beyond_memory

PER_OPERATION = {".onnx": 70e3, ".pt2": 40e3}
"""Bytes at the peak of each operation of a program, by the ending of its file."""


def check_exportable(model: Forecaster, name: str) -> None:
    """Refuse models whose forecast is not a fixed sequence of operations."""
    config = model.config
    if isinstance(config, PGODEConfig) and isinstance(config.dynamics, LawsConfig):
        raise InputError(
            f"the model {name} has force laws, which cannot be exported: which laws act on an "
            f"object is inferred from its observations by a search in compiled code, and the steps "
            f"of the motion follow close encounters, so the forecast is no fixed sequence of "
            f"operations. Expected a model without laws. Use pgode forecast or run.forecast, or "
            f"train one with --preset messages."
        )
    if isinstance(config, PGODEConfig) and config.rebuild_graph:
        raise InputError(
            f"the model {name} rebuilds its graph from the forecast (model.rebuild_graph=true), "
            f"which cannot be exported: it searches for neighbours in compiled code after each "
            f"interval. Expected a graph that stays. Train with --set model.rebuild_graph=false."
        )
    solver = getattr(config, "solver", None)
    if isinstance(solver, SolverConfig) and isinstance(find_method(solver.method), Adaptive):
        raise InputError(
            f"the model {name} is solved by {solver.method}, which chooses its steps while it "
            f"runs, so that they cannot be exported. Expected a method of fixed steps: euler, "
            f"midpoint or rk4. Train with --set model.solver.method=rk4."
        )


def check_memory(model: Forecaster, signature: Signature, objects: int, suffix: str) -> None:
    """Refuse forecasts too long for memory: their states, and programs that grow with frames.

    `objects` is the number of those that the program is compared on. Models that step from frame
    to frame are unrolled. Whether one is shows in programs of one and two frames, which are
    recorded only where the whole would take minutes.
    """
    frames, advice = signature.until, "Export fewer frames (--until)."
    refuse_beyond_memory(
        COPIES * row_bytes(model) * frames * objects,
        f"comparing a forecast of {objects} objects over {frames} frames",
        advice,
    )
    if frames <= LONG:
        return
    one, two = (len(record(model, replace(signature, until=k)).graph.nodes) for k in (1, 2))
    refuse_beyond_memory(
        PER_OPERATION[suffix] * (two - one) * frames,
        f"a program of {frames} frames with {two - one} operations each",
        advice,
    )


def unexportable(name: str, error: Exception) -> InputError:
    """The error for a model that torch.export could not record, or ONNX not hold."""
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    reason = next((line.strip() for line in str(cause).splitlines() if line.strip()), "")
    return InputError(
        f"the model {name} cannot be exported: {type(cause).__name__}: {reason[:300].rstrip('.')}. "
        f"Expected a forecast whose operations depend on no number. Use pgode forecast or "
        f"run.forecast instead, or train another model."
    )


def missing(module: str, suffix: str) -> InputError:
    """The error for a library of the extra that is not installed."""
    return InputError(
        f"a file that ends in {suffix} needs the library {module}, which is not installed. "
        f'Expected the extra "export". Install it with pip install "pgode[export]".'
    )
