"""The force laws of a run."""

from dataclasses import replace
from pathlib import Path

from pgode.data import files
from pgode.data.trajectories import Trajectories
from pgode.evaluation.laws.encounters import kind_agreement, seen_ranges
from pgode.evaluation.laws.reading import LawsReading, read_laws
from pgode.models.forecaster import Forecaster
from pgode.models.pgode.laws.model import ForceLaws
from pgode.models.pgode.slow.model import LawsWithMessages
from pgode.runs.run import Run
from pgode.runtime.errors import InputError


def laws_of(run: Run, data: Trajectories | None = None) -> LawsReading:
    """Read the laws of a run. Data add the distances seen of each two prototypes.

    They also add the agreement of the gate with the true kinds of the test split, if stored.
    """
    model = force_laws(run.model)
    if model is None:
        what = "message prototypes" if run.config.name == "pgode" else "no prototypes"
        raise InputError(
            f"the run {run.folder} has no force laws: its model {run.config.name} (preset "
            f"{run.config.preset}) has {what}. Expected a run with model.dynamics.kind=laws, the "
            f"default for positions with velocities. Train one: pgode train DATA -o RUN."
        )
    findings = run.model.findings()
    if data is None:
        return replace(read_laws(model), findings=findings)
    data, condition = run.conform(data), run.config.window.condition
    present = set(data.split.tolist())
    ranges = seen_ranges(model, data.split_of("train"), condition) if "train" in present else None
    agreement = None
    if "test" in present:
        agreement = kind_agreement(model, data.split_of("test"), condition)
    return replace(read_laws(model, ranges, agreement), findings=findings)


def force_laws(model: Forecaster) -> ForceLaws | None:
    """The force laws of a model, alone or with message prototypes; None for other models."""
    if isinstance(model, LawsWithMessages):
        return model.laws
    return model if isinstance(model, ForceLaws) else None


def data_at_hand(run: Run) -> Path | None:
    """The data file that a run was trained on, if it is still there."""
    source = run.data.source
    return (
        Path(source) if source and files.is_data(Path(source)) and Path(source).exists() else None
    )
