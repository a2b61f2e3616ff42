"""The memory that an export needs, before anything is recorded."""

from dataclasses import replace

from pgode.models.forecaster import Forecaster
from pgode.runs.export import onnx_file
from pgode.runs.export.program import record
from pgode.runs.export.signature import Signature
from pgode.runs.lasting.together import COPIES, LONG, row_bytes
from pgode.runtime.memory import refuse_beyond_memory

PER_OPERATION = {onnx_file.SUFFIX: 70e3}
"""Bytes at the peak of each operation of a program, by the ending of its file."""
OTHERWISE = 40e3


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
        PER_OPERATION.get(suffix, OTHERWISE) * (two - one) * frames,
        f"a program of {frames} frames with {two - one} operations each",
        advice,
    )
