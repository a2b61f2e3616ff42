"""Bounds of the numbers that a user can give.

They are far beyond any use. What lies outside is a slip, such as a number with too many digits, and
would otherwise end as an overflow, a kernel that runs out of indices, or a machine without memory.
What lies inside may still need too much memory: `pgode.runtime.memory` refuses that.
"""

COUNT = 10**9
"""Most of anything that is counted without being held at once: epochs, systems, evaluations."""
FRAMES = 10**7
"""Most frames of a window, a season or a forecast. Times of so many still differ in single
precision."""
WIDTH = 2**16
"""Widest layer. Its square, the weights between two layers, takes 17 GB."""
LAYERS = 1000
"""Most layers, attention heads, prototypes or kinds: each is a part of its own."""
ENSEMBLE = 10_000
"""Most runs whose mean is a forecast."""
SUBSTEPS = 2**20
"""Most steps within one frame."""
SAMPLES = 10**6
"""Most sampled forecasts or directions."""
WORKERS = 1024
"""Most threads or processes on one machine; more make the thread libraries crash."""
SEED = 2**63 - 1
"""Largest seed of the random generators."""
SMALL, LARGE = 1e-15, 1e15
"""Ends of positive settings, such that squares and their quotients stay in single precision."""
LOGARITHM = 80.0
"""Largest logarithm, up or down, whose exponential is a number in single precision."""
