"""What data must have for force laws to be found in them."""

from pgode.batches.normaliser import Normaliser
from pgode.models.pgode.laws.config import LawsConfig
from pgode.runtime.errors import InputError


def check_named(normaliser: Normaliser, settings: LawsConfig) -> None:
    """Refuse data without positions and velocities, and a box that does not suit them."""
    if not normaliser.positions or not normaliser.velocities:
        missing = "velocities" if normaliser.positions else "positions"
        raise InputError(
            f"model.dynamics=laws needs positions and velocities, but the features of the data "
            f"({', '.join(normaliser.features)}) name no {missing}. Expected features with the "
            f'roles "position" and "velocity". Give them these roles when building the data, or '
            f"train message prototypes: --preset messages."
        )
    axes = len(normaliser.positions)
    if settings.box is not None and len(settings.box) != axes:
        raise InputError(
            f"model.dynamics.box has {len(settings.box)} lengths, but the data have {axes} axes. "
            f"Expected one length for each axis. Correct it: --set model.dynamics.box=[...]."
        )
    rule = normaliser.graph_rule
    if settings.box is not None and rule is not None and min(settings.box) < rule[0]:
        raise InputError(
            f"model.dynamics.box has a side of {min(settings.box):g}, but edges of the data join "
            f"objects nearer than {rule[0]:g}. Expected a box of at least this cut-off: an object "
            f"would be joined to images of another one that the laws do not count. Correct the "
            f"box, or build the data with a smaller graph_cutoff."
        )
