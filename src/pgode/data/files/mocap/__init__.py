"""Motion capture: BVH files as systems of joints."""

from pgode.data.files.mocap.systems import jumps, read
from pgode.data.files.mocap.trials import Cut

__all__ = ["Cut", "jumps", "read"]
