"""Replicas: several futures of one condition, and what they say about themselves."""

import json

from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError

SHARED_SETTINGS = (
    *("structure", "structure_hash", "seed", "implicit", "open_ring", "frame_time", "step"),
    "preparation",
)
"""Settings of the generator that replicas and data must have in common."""


def check_same_simulation(replicas: Trajectories, data: Trajectories) -> None:
    """Refuse replicas that were not simulated and prepared like the data."""
    replica_settings, data_settings = (
        json.loads(each.dataset.attrs["generator_settings"]) for each in (replicas, data)
    )
    for name in SHARED_SETTINGS:
        in_both = name in replica_settings and name in data_settings
        if in_both and replica_settings[name] != data_settings[name]:
            raise InputError(
                f"the replicas have the {name} {replica_settings[name]}, the data "
                f"{data_settings[name]}. Expected replicas of the same simulation, prepared in the "
                f"same way. Give the file that was written beside the data."
            )
    if replicas.topology != data.topology:
        raise InputError(
            "the replicas are of another molecule than the data. Expected the same atoms. Give "
            "the file that was written beside the data."
        )


def systems_by_condition(replicas: Trajectories, condition: int) -> list[list[int]]:
    """The systems of each shared condition."""
    settings = json.loads(replicas.dataset.attrs["generator_settings"])
    shared = settings.get("condition", condition) if isinstance(settings, dict) else condition
    if shared != condition:
        raise InputError(
            f"the replicas separate after {shared} frames, but the model sees {condition}. "
            f"Expected the same number. Simulate replicas with --condition {condition}, or train "
            f"with window.condition={shared}."
        )
    names = settings.get("replica_of") if isinstance(settings, dict) else None
    if not isinstance(names, list) or len(names) != replicas.systems:
        raise InputError(
            "the replicas do not state which systems share a condition. Expected a file of "
            "replicas. Make one with pgode simulate protein --replicas 4."
        )
    systems: dict[str, list[int]] = {}
    for system, name in enumerate(names):
        systems.setdefault(str(name), []).append(system)
    if min(len(rows) for rows in systems.values()) < 2:
        raise InputError(
            "some conditions of the replicas have a single future. Expected at least two of each. "
            "Simulate more with --replicas."
        )
    return list(systems.values())
