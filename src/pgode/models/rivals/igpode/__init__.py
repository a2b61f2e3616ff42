"""I-GPODE: accelerations as Gaussian-process functions."""

from pgode.models.rivals.igpode.model import IGPODE, IGPODEConfig

__all__ = ["IGPODE", "IGPODEConfig"]
