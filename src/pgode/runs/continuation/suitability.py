"""Whether data suit a trained model that is to go on with them, and the scales it then has."""

from dataclasses import replace

import numpy as np

from pgode.batches.normaliser import Normaliser
from pgode.batches.reference import Reference
from pgode.data.trajectories import Trajectories
from pgode.runs.continuation.origin import Origin
from pgode.runs.data_record import joins_all_pairs
from pgode.runtime.errors import InputError

FAR = 1.5
"""Values this far out, in units of the training range of the first run, are worth a note."""
SAME_FRAME = 0.01
"""Relative difference up to which two durations of a frame are the same."""


def check_suits(origin: Origin, data: Trajectories, source: str) -> None:
    """Refuse data of another kind than those of the run: features, units, constants, graphs."""
    trained = origin.normaliser
    trained.check(data, source)
    dataset = data.dataset
    units = tuple(str(each) for each in dataset["feature_units"].values)
    transforms = data.transforms if any(data.transforms) else ()
    variables = tuple(str(each) for each in dataset["feature_variable"].values)
    for what, actual, expected in (
        ("units", *_stated(units, trained.units)),
        ("time unit", *_stated((data.time_units,), (trained.time_units,))),
        ("variables", variables, trained.variables),
        ("transforms", tuple(transforms), trained.transforms),
        ("constants", data.constant_names, trained.constants),
    ):
        if actual != expected:
            raise InputError(
                f"{source} has the {what} {_listed(actual)}, but {origin.name}, the run to go on "
                f"from, was trained on {_listed(expected)}. Expected the same. Change the data, or "
                f"start a new run without --from."
            )
    if (data.graph_rule is None) != (trained.graph_rule is None):
        kinds = ("given edges", "edges between objects nearer than a cutoff")
        own, other = (kinds[rule is not None] for rule in (data.graph_rule, trained.graph_rule))
        raise InputError(
            f"{source} has {own}, but {origin.name}, the run to go on from, was trained on "
            f"{other}. Expected the same kind of graph. Build the graphs of the data in the same "
            f"way, or start a new run without --from."
        )
    if origin.data.all_pairs and not joins_all_pairs(data):
        raise InputError(
            f"{source} has graphs that do not join all pairs of objects, or with weights other "
            f"than 1, but {origin.name}, the run to go on from, was trained on graphs that join "
            f"all pairs. Expected the same kind of graph. Join all pairs in the data, or start a "
            f"new run without --from."
        )


def kept_scales(origin: Origin, training: Trajectories) -> tuple[Normaliser, list[str]]:
    """The scales of the run, and what a user should know about the data in these."""
    old = origin.normaliser
    reference = old.reference
    if reference is not None and reference.of(training) is None:
        reference = Reference.fit(training)  # Another molecule has another mean structure.
    reach = np.abs(old.states(training.states))
    notes = []
    for name, index in old.variable_features.items():
        farthest = float(np.nanmax(reach[..., index], initial=0.0))
        if farthest > FAR:
            notes.append(
                f"note: {name} lies up to {farthest:.2g} times as far from the middle of its range "
                f"as in the first run"
            )
    if joins_all_pairs(training) and not origin.data.all_pairs:
        notes.append(
            "note: the graphs of the new data join all pairs of objects, those of the run did not "
            "or are not known to"
        )
    return replace(old, reference=reference), notes + _other_frame(old, training)


def new_scales(origin: Origin, training: Trajectories) -> tuple[Normaliser, list[str]]:
    """Scales of the data themselves; refused for laws, which have units."""
    if origin.has_laws:
        raise InputError(
            f"{origin.name} has force laws, which are in units of its scales, so that new "
            f"scales would make them wrong and could make nothing better. Expected the scales "
            f"of the run. Leave out --refit-scales."
        )
    return Normaliser.fit(training), _other_frame(origin.normaliser, training)


def _other_frame(old: Normaliser, training: Trajectories) -> list[str]:
    frame = float(np.nanmedian(np.diff(training.times, axis=1))) if training.frames > 1 else np.nan
    if not np.isfinite(frame) or np.isclose(frame, old.frame_duration, rtol=SAME_FRAME):
        return []
    return [
        f"note: a frame of the new data lasts {frame:g} {training.time_units}".rstrip()
        + f", one of the first run {old.frame_duration:g}"
    ]


def _stated(
    actual: tuple[str, ...], expected: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Units of both sides, without those that one side does not state."""
    both = [(a, e) for a, e in zip(actual, expected, strict=True) if a and e]
    return tuple(a for a, _ in both), tuple(e for _, e in both)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(name or "(none)" for name in names) or "(none)"
